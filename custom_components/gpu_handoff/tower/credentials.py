"""Who we are to the host, and who the host must be."""

from dataclasses import dataclass, field

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """All that is needed to log in. `host_key` is the pinned key, one OpenSSH line.

    `forced_command`: the account runs our forced command, which takes a verb and its
    arguments instead of a shell line.
    """

    host: str
    port: int = 22
    username: str
    host_key: str
    private_key: str | None = field(default=None, repr=False)
    passphrase: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    forced_command: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HostKey:
    """A host's public key as it showed it: one OpenSSH line, and its SHA256 fingerprint."""

    line: str
    fingerprint: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyPair:
    """A key pair of our own, in OpenSSH's formats."""

    private: str = field(repr=False)
    public: str


def generate_key_pair(comment: str = "gpu-handoff") -> KeyPair:
    """Make a new ed25519 key pair."""
    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
    return KeyPair(private=private.decode(), public=f"{public.decode()} {comment}")
