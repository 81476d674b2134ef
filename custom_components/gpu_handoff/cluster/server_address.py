"""The address of an API server, as a kubeconfig writes it."""

from dataclasses import dataclass
from ipaddress import ip_address
import re
from typing import override
from urllib.parse import SplitResult, urlsplit

from ..handoff.reason import HandoffError

HTTPS_PORT = 443
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_PATH = re.compile(r"[A-Za-z0-9._~/:-]*")
_EVERYWHERE = frozenset({"localhost", "0.0.0.0", "::"})  # noqa: S104 - only compared


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Where an API server listens; `base_path` is what stands before /api, often nothing."""

    host: str
    port: int
    base_path: str = ""

    @property
    def is_loopback(self) -> bool:
        """Whether it means the very machine that dials it."""
        if self.host in _EVERYWHERE or self.host.endswith(".localhost"):
            return True
        return _is_ip(self.host) and ip_address(self.host).is_loopback

    @override
    def __str__(self) -> str:
        return host_and_port(self.host, self.port)


def host_and_port(host: str, port: int) -> str:
    """Write both as a URL does: IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def parse(server: object) -> ServerAddress:
    """Read `https://host:port/path`; raises HandoffError, which never shows a password."""
    text = str(server or "").strip()
    shown = text.rsplit("@", 1)[-1]
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise HandoffError("kubeconfig_bad_server", server=shown) from None
    if parts.scheme == "http":
        raise HandoffError("kubeconfig_not_https", server=shown)
    if parts.scheme != "https" or "@" in text or not _is_host(parts):
        raise HandoffError("kubeconfig_bad_server", server=shown)
    return ServerAddress(
        host=parts.hostname or "",
        port=HTTPS_PORT if port is None else port,
        base_path=parts.path.rstrip("/"),
    )


def _is_host(parts: SplitResult) -> bool:
    """Whether the host is a name or an address, and nothing odd follows it."""
    host = parts.hostname or ""
    bracketed = parts.netloc.startswith("[")
    known = (":" in host and _is_ip(host)) if bracketed else bool(_NAME.fullmatch(host))
    odd = parts.query or parts.fragment or not _PATH.fullmatch(parts.path)
    return known and not odd


def _is_ip(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True
