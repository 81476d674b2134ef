"""A small SSH server on loopback that runs what it is told in a real shell."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import os
from typing import override

import asyncssh

from custom_components.gpu_handoff.tower.ssh import Credentials

PASSWORD = "correct horse"


class Sshd:
    """The server, and what it was asked."""

    def __init__(self) -> None:
        self.host_keys = [asyncssh.generate_private_key("ssh-ed25519")]
        self.user_key = asyncssh.generate_private_key("ssh-ed25519")
        self.shell = "/bin/sh"
        self.banner = ""
        self.environment: dict[str, str] = {}
        self.connections: list[asyncssh.SSHServerConnection] = []
        self.commands: list[str] = []
        self.open_now = 0
        self.open_at_most = 0
        self.refuses_sessions = False
        self.listener: asyncssh.SSHAcceptor | None = None
        self.port = 0

    @property
    def host_key(self) -> str:
        return self.host_keys[0].export_public_key().decode().strip()

    @property
    def private_key(self) -> str:
        return self.user_key.export_private_key().decode()

    def credentials(self, **changed: object) -> Credentials:
        fields: dict[str, object] = {
            "host": "127.0.0.1",
            "port": self.port,
            "username": "games",
            "host_key": self.host_key,
            "private_key": self.private_key,
        }
        return Credentials(**fields | changed)  # type: ignore[arg-type]

    async def listen(self) -> None:
        """Start to listen, on the same port each time."""
        public = self.user_key.convert_to_public()
        self.listener = await asyncssh.listen(
            "127.0.0.1",
            self.port,
            server_factory=lambda: _Server(self),
            server_host_keys=self.host_keys,
            authorized_client_keys=asyncssh.import_authorized_keys(
                public.export_public_key().decode()
            ),
            encoding=None,
            config=None,
        )
        self.port = self.listener.get_port()

    async def stop(self) -> None:
        """Stop to listen and drop everybody."""
        if self.listener:
            self.listener.close()
            self.drop_all()  # a listener is closed once its last connection is
            await self.listener.wait_closed()

    def drop_all(self) -> None:
        """Cut every connection without a word."""
        for connection in self.connections:
            connection.abort()
        self.connections.clear()

    async def process(self, process: asyncssh.SSHServerProcess[bytes]) -> None:
        command = process.command or ""
        self.commands.append(command)
        self.open_now += 1
        self.open_at_most = max(self.open_at_most, self.open_now)
        try:
            await self._run(process, command)
        finally:
            self.open_now -= 1

    async def _run(
        self, process: asyncssh.SSHServerProcess[bytes], command: str
    ) -> None:
        process.stdout.write(self.banner.encode())
        ran = await asyncio.create_subprocess_exec(
            self.shell,
            "-c",
            command,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=os.environ | self.environment,
        )
        feeding = asyncio.create_task(_feed(process, ran))
        try:
            await asyncio.gather(
                _pump(ran.stdout, process.stdout), _pump(ran.stderr, process.stderr)
            )
            process.exit(await ran.wait())
        finally:
            feeding.cancel()
            await asyncio.gather(feeding, return_exceptions=True)


async def _feed(
    process: asyncssh.SSHServerProcess[bytes], ran: asyncio.subprocess.Process
) -> None:
    """Carry what the client says, and the end of it, to the program."""
    assert ran.stdin
    try:
        while data := await process.stdin.read(65536):
            ran.stdin.write(data)
    except asyncssh.Error:
        pass
    finally:
        ran.stdin.close()


async def _pump(
    reader: asyncio.StreamReader | None, writer: asyncssh.SSHWriter[bytes]
) -> None:
    assert reader
    while data := await reader.read(65536):
        if not writer.is_closing():
            writer.write(data)


class _Server(asyncssh.SSHServer):
    def __init__(self, sshd: Sshd) -> None:
        self._sshd = sshd

    @override
    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._sshd.connections.append(conn)

    @override
    def begin_auth(self, username: str) -> bool:
        return True

    @override
    def password_auth_supported(self) -> bool:
        return True

    @override
    def validate_password(self, username: str, password: str) -> bool:
        return (username, password) == ("games", PASSWORD)

    @override
    def session_requested(self) -> asyncssh.SSHServerProcess[bytes]:
        if self._sshd.refuses_sessions:
            raise asyncssh.ChannelOpenError(
                asyncssh.OPEN_RESOURCE_SHORTAGE, "open failed"
            )
        return asyncssh.SSHServerProcess(self._sshd.process, None, 3, allow_scp=False)

    @override
    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool:
        return True


@asynccontextmanager
async def serving() -> AsyncIterator[Sshd]:
    """A server for the length of a test."""
    sshd = Sshd()
    await sshd.listen()
    try:
        yield sshd
    finally:
        await sshd.stop()
