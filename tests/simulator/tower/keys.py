"""The keys of both sides, made anew for each simulator."""

from functools import cached_property

import asyncssh

PASSPHRASE = "open sesame"
_KIND = "ssh-ed25519"
_ROUNDS = 64


class ClientKeys:
    """What a person may log in with: a plain key, one with a passphrase, a stranger's."""

    def __init__(self) -> None:
        self._plain, self._locked, self._strange = (
            asyncssh.generate_private_key(_KIND) for _ in range(3)
        )

    @property
    def authorized(self) -> frozenset[bytes]:
        return frozenset((self._plain.public_data, self._locked.public_data))

    @property
    def private(self) -> str:
        return self._plain.export_private_key().decode()

    @cached_property
    def encrypted(self) -> str:
        """Opened by PASSPHRASE. Slow to make."""
        return self._locked.export_private_key(
            passphrase=PASSPHRASE, rounds=_ROUNDS
        ).decode()

    @property
    def stranger(self) -> str:
        """A key that the host does not know."""
        return self._strange.export_private_key().decode()


def make_host_key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key(_KIND)


def public_line(key: asyncssh.SSHKey) -> str:
    algorithm, data, *_ = key.export_public_key().decode().split()
    return f"{algorithm} {data}"
