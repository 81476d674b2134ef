"""A kubeconfig, checked before any library sees it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import yaml

from ..handoff.reason import HandoffError, Reason
from .kubeconfig_login import Login, read_login
from .kubeconfig_text import pem
from .server_address import ServerAddress, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class Kubeconfig:
    """How to reach one API server and who we are there. Its repr shows no secret.

    `server_name`: the name that the server's certificate must hold.
    """

    address: ServerAddress
    server_name: str
    context: str
    contexts: tuple[str, ...]
    ca_pem: str | None = field(default=None, repr=False)
    login: Login = field(repr=False)
    insecure: bool = False

    @property
    def server_host(self) -> str:
        """Host name or address of the server."""
        return self.address.host

    @property
    def server_port(self) -> int:
        """TCP port of the server."""
        return self.address.port

    @property
    def token(self) -> str | None:
        """The bearer token, if that is how we log in."""
        return self.login.token

    @property
    def client_cert_pem(self) -> str | None:
        """Our certificate, if that is how we log in."""
        return self.login.client_cert_pem

    @property
    def client_key_pem(self) -> str | None:
        """The key of our certificate."""
        return self.login.client_key_pem

    def at(self, host: str) -> Kubeconfig:
        """The same server, reached by another name; its certificate's name stays."""
        return replace(self, address=replace(self.address, host=host))

    @property
    def is_loopback(self) -> bool:
        """Whether the address means the machine that the file was made on."""
        return self.address.is_loopback

    @property
    def loopback_warning(self) -> Reason | None:
        """What to tell a person before Home Assistant dials itself."""
        if not self.is_loopback:
            return None
        return Reason.of("kubeconfig_loopback", address=self.address)


def read(text: str, context: str | None = None) -> Kubeconfig:
    """Read one context, by default the current one; raises HandoffError."""
    config = _load(text)
    contexts = _named(config, "contexts", "context")
    name = _choose(config, contexts, context)
    cluster_name = str(contexts[name].get("cluster") or "")
    cluster = _named(config, "clusters", "cluster").get(cluster_name)
    if cluster is None:
        raise HandoffError("kubeconfig_no_cluster", context=name, cluster=cluster_name)
    user_name = str(contexts[name].get("user") or "")
    user = _named(config, "users", "user").get(user_name)
    if user is None:
        raise HandoffError("kubeconfig_no_user", context=name, user=user_name)
    address = parse(cluster.get("server"))
    insecure, ca_pem = _trust(cluster)
    return Kubeconfig(
        address=address,
        server_name=str(cluster.get("tls-server-name") or address.host),
        context=name,
        contexts=tuple(contexts),
        ca_pem=ca_pem,
        login=read_login(user_name, user),
        insecure=insecure,
    )


def _load(text: str) -> Mapping[str, Any]:
    """Parse the YAML. The parser's own words are dropped: they quote the file."""
    try:
        config = yaml.safe_load(text)
    except yaml.YAMLError, ValueError, RecursionError, AttributeError, TypeError:
        config = None
    if not isinstance(config, dict):
        raise HandoffError("kubeconfig_not_yaml")
    if not all(isinstance(config.get(part), list) for part in ("clusters", "users")):
        raise HandoffError("kubeconfig_not_kubeconfig")
    return config


def _named(config: Mapping[str, Any], part: str, key: str) -> dict[str, dict[str, Any]]:
    """Turn kubeconfig's `[{name, <key>}]` into a mapping; what is malformed is left out."""
    items = config.get(part)
    return {
        str(item["name"]): item[key]
        for item in (items if isinstance(items, list) else [])
        if isinstance(item, dict) and "name" in item and isinstance(item.get(key), dict)
    }


def _choose(
    config: Mapping[str, Any], contexts: Mapping[str, Any], wanted: str | None
) -> str:
    name = wanted or str(config.get("current-context") or "")
    if not name and len(contexts) == 1:
        return next(iter(contexts))
    if name not in contexts:
        raise HandoffError(
            "kubeconfig_no_context", context=name or "-", contexts=", ".join(contexts)
        )
    return name


def _trust(cluster: Mapping[str, Any]) -> tuple[bool, str | None]:
    """Tell whether verification is off, and which CA to believe (None: the system's)."""
    if cluster.get("proxy-url"):
        raise HandoffError("kubeconfig_proxy")
    insecure = cluster.get("insecure-skip-tls-verify", False)
    if not isinstance(insecure, bool):
        raise HandoffError("kubeconfig_quoted_false", value=str(insecure)[:20])
    ca_pem = pem(cluster, "certificate-authority")
    if insecure and ca_pem is not None:
        raise HandoffError("kubeconfig_insecure_and_ca")
    return insecure, ca_pem
