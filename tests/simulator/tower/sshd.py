"""The SSH server: who may come in, how many sessions, which tunnels."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, override

import asyncssh

from .session import Session

if TYPE_CHECKING:
    from .sim_tower import SimTower

MAX_SESSIONS = 10


class Door(asyncssh.SSHServer):
    """One connection's view of the server."""

    def __init__(self, tower: SimTower) -> None:
        self._tower = tower
        self._sessions = 0
        self._connection: asyncssh.SSHServerConnection | None = None

    @override
    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._tower.connections.add(conn)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._connection:
            self._tower.connections.discard(self._connection)

    @override
    def begin_auth(self, username: str) -> bool:
        return True

    @override
    def public_key_auth_supported(self) -> bool:
        return True

    @override
    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return (
            username == self._tower.host.user
            and key.public_data in self._tower.authorized
        )

    @override
    def password_auth_supported(self) -> bool:
        return self._tower.password is not None

    @override
    def validate_password(self, username: str, password: str) -> bool:
        return username == self._tower.host.user and password == self._tower.password

    @override
    def session_requested(self) -> asyncssh.SSHServerSession[bytes]:
        if self._sessions >= MAX_SESSIONS or self._tower.faults.no_sessions:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, "open failed")
        self._sessions += 1
        return _Process(self._tower, self._gone)

    @override
    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool:
        return not self._tower.faults.no_tunnel

    def _gone(self) -> None:
        self._sessions -= 1


class _Process(asyncssh.SSHServerProcess[bytes]):
    """A session that ends with its channel, and tells when it is over."""

    def __init__(self, tower: SimTower, gone: Callable[[], None]) -> None:
        super().__init__(self._begin, None, 3, False)
        self._tower = tower
        self._gone = gone
        self._answering: asyncio.Task[None] | None = None

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self._answering:
            self._answering.cancel()
        self._gone()

    def _begin(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        session = Session(self._tower, process)
        self._answering = self._tower.tasks.task(session.answer())
