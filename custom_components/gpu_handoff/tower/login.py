"""Logging in to a host, with everything that can go wrong made a sentence.

Imported off the loop, where it is first needed: the SSH library is large.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
import errno
import socket
from typing import override

import asyncssh

from .credentials import Credentials, HostKey
from .errors import HostKeyChanged, LoginRefused, Unreachable
from .wire import Link

_HOST_KEY_ALGORITHMS = (
    "ssh-ed25519",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
    "rsa-sha2-512",
    "rsa-sha2-256",
)
_NOBODY_ELSE: tuple[list[str], list[str], list[str]] = ([], [], [])
_KEEPALIVE_S = 15
_KEEPALIVE_COUNT = 3
_OUR_EXTRAS = {
    "config": None,
    "agent_path": None,
    "agent_forwarding": False,
    "x509_trusted_certs": None,
    "gss_host": None,
}


class _Pin(asyncssh.SSHClient):
    """Accepts one host key and remembers which one was shown."""

    def __init__(self, pinned: asyncssh.SSHKey) -> None:
        self._pinned = pinned
        self.shown = ""

    @override
    def validate_host_public_key(
        self, host: str, addr: str, port: int, key: asyncssh.SSHKey
    ) -> bool:
        self.shown = key.get_fingerprint()
        return key.public_data == self._pinned.public_data


async def dial(credentials: Credentials, timeout_s: float) -> Link:
    """Log in to the host whose key is pinned."""
    pinned = _read_host_key(credentials.host_key)
    keys = await asyncio.to_thread(_read_keys, credentials)
    pin = _Pin(pinned)
    with _sentences_of_dialling(credentials.host, credentials.port):
        try:
            async with asyncio.timeout(timeout_s):
                connection = await asyncssh.connect(
                    credentials.host,
                    credentials.port,
                    client_factory=lambda: pin,
                    username=credentials.username,
                    password=credentials.password,
                    client_keys=keys or None,
                    preferred_auth=_ways_in(credentials),
                    known_hosts=_NOBODY_ELSE,
                    server_host_key_algs=_algorithms(pinned),
                    keepalive_interval=_KEEPALIVE_S,
                    keepalive_count_max=_KEEPALIVE_COUNT,
                    **_OUR_EXTRAS,
                )
        except asyncssh.HostKeyNotVerifiable as err:
            raise HostKeyChanged(
                "host_key_changed",
                host=credentials.host,
                expected=pinned.get_fingerprint(),
                got=pin.shown or "?",
            ) from err
        except (asyncssh.PermissionDenied, asyncssh.IllegalUserName) as err:
            raise LoginRefused(
                "login_refused", user=credentials.username, host=credentials.host
            ) from err
    return Link(connection, credentials.username)


async def look_at_host_key(host: str, port: int, timeout_s: float) -> HostKey:
    """Ask a host for its key, without logging in."""
    with _sentences_of_dialling(host, port):
        async with asyncio.timeout(timeout_s):
            key = await asyncssh.get_server_host_key(
                host, port, config=None, server_host_key_algs=_HOST_KEY_ALGORITHMS
            )
    if key is None:
        raise Unreachable("tower_not_ssh", host=host, port=port, cause="no host key")
    algorithm, data, *_ = key.export_public_key().decode().split()
    return HostKey(line=f"{algorithm} {data}", fingerprint=key.get_fingerprint())


def _ways_in(credentials: Credentials) -> str:
    if credentials.private_key:
        return "publickey"
    return "password,keyboard-interactive"


def _algorithms(pinned: asyncssh.SSHKey) -> list[str]:
    """The pinned kind first: a host with several keys then shows that one."""
    own = [
        algorithm
        for algorithm in _HOST_KEY_ALGORITHMS
        if algorithm == pinned.get_algorithm()
        or (algorithm.startswith("rsa-") and pinned.get_algorithm() == "ssh-rsa")
    ] or [pinned.get_algorithm()]
    return own + [kind for kind in _HOST_KEY_ALGORITHMS if kind not in own]


def _read_host_key(line: str) -> asyncssh.SSHKey:
    try:
        return asyncssh.import_public_key(line)
    except asyncssh.KeyImportError as err:
        raise Unreachable("host_key_unreadable") from err


def _read_keys(credentials: Credentials) -> list[asyncssh.SSHKey]:
    """Read our private key; slow when it has a passphrase."""
    if not credentials.private_key:
        return []
    text = credentials.private_key.replace("\r\n", "\n").strip() + "\n"
    try:
        return [asyncssh.import_private_key(text, credentials.passphrase or None)]
    except (asyncssh.KeyImportError, asyncssh.KeyEncryptionError) as err:
        said = str(err)
    if said.startswith("Passphrase must"):
        raise LoginRefused("key_needs_passphrase")
    if credentials.passphrase and ("ENCRYPTED" in text or "passphrase" in said):
        raise LoginRefused("passphrase_wrong")
    raise LoginRefused("key_unreadable", cause=said)


@contextmanager
def _sentences_of_dialling(host: str, port: int) -> Iterator[None]:
    try:
        yield
    except TimeoutError as err:
        raise Unreachable("tower_unreachable", host=host, port=port) from err
    except socket.gaierror as err:
        raise Unreachable("tower_name_unknown", host=host) from err
    except ConnectionRefusedError as err:
        raise Unreachable("tower_port_closed", host=host, port=port) from err
    except (asyncssh.Error, ConnectionError) as err:
        raise Unreachable("tower_not_ssh", host=host, port=port, cause=err) from err
    except OSError as err:
        key = "tower_port_closed" if _all_refused(err) else "tower_unreachable"
        raise Unreachable(key, host=host, port=port) from err


def _all_refused(err: OSError) -> bool:
    """Whether a name's every address refused: asyncio then tells them in one text."""
    said = str(err)
    refused = said.count(f"[Errno {errno.ECONNREFUSED}]")
    return refused > 0 and refused == said.count("[Errno ")
