"""The user of a kubeconfig: a token or a client certificate, nothing that runs programs."""

from collections.abc import Mapping
from dataclasses import dataclass, field
import re
from typing import Any

from ..handoff.reason import HandoffError
from .kubeconfig_text import pem

NOT_FOR_US = {
    "exec": "kubeconfig_exec_plugin",
    "auth-provider": "kubeconfig_auth_provider",
    "username": "kubeconfig_basic_auth",
    "password": "kubeconfig_basic_auth",
    "as": "kubeconfig_impersonation",
}
"""Ways to log in that need a program, or that no API server takes any more."""

_TOKEN = re.compile(r"[\x21-\x7e]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Login:
    """Who we are; one of the two is there, or both."""

    token: str | None = field(default=None, repr=False)
    client_cert_pem: str | None = field(default=None, repr=False)
    client_key_pem: str | None = field(default=None, repr=False)


def read_login(name: str, user: Mapping[str, Any]) -> Login:
    """Read one user of a kubeconfig; raises HandoffError, which never shows a secret."""
    for key, trouble in NOT_FOR_US.items():
        if user.get(key):
            raise HandoffError(trouble, user=name)
    token = _token(name, user)
    certificate = pem(user, "client-certificate")
    key_pem = pem(user, "client-key")
    if certificate and not key_pem:
        raise HandoffError("kubeconfig_client_key_missing", user=name)
    if key_pem and not certificate:
        raise HandoffError("kubeconfig_client_certificate_missing", user=name)
    if not token and not certificate:
        raise HandoffError("kubeconfig_no_credentials", user=name)
    return Login(token=token, client_cert_pem=certificate, client_key_pem=key_pem)


def _token(name: str, user: Mapping[str, Any]) -> str | None:
    token = str(user.get("token") or "").strip()
    if not token:
        if path := user.get("tokenFile"):
            raise HandoffError("kubeconfig_missing_file", path=path, field="token")
        return None
    if not _TOKEN.fullmatch(token):
        raise HandoffError("kubeconfig_token_malformed", user=name)
    return token
