"""What goes over an open SSH connection, with the library's errors made our own."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager

import asyncssh

from .answer import Answer, never_began
from .errors import Unreachable
from .scripts import BEGIN
from .tunnel import Pair


class Link:
    """One open connection."""

    def __init__(self, connection: asyncssh.SSHClientConnection, user: str) -> None:
        """Take over the connection."""
        self._connection = connection
        self._user = user

    @property
    def closed(self) -> bool:
        """Whether it is gone, by whomever."""
        return self._connection.is_closed()

    async def run(self, line: str, stdin: str | None) -> Answer:
        """Run a command to its end."""
        with self._sentences():
            process = await self._connection.create_process(
                line, encoding="utf-8", errors="replace"
            )
            try:
                stdout, stderr = await process.communicate(stdin or "")
            finally:
                process.close()
        return Answer(
            stdout=str(stdout or ""),
            stderr=str(stderr or ""),
            exit_status=process.returncode,
        )

    async def open_stream(self, line: str) -> Stream:
        """Start a command that goes on printing."""
        with self._sentences():
            process = await self._connection.create_process(
                line, encoding="utf-8", errors="replace"
            )
        return Stream(process, self._user)

    async def open_tcp(self, host: str, port: int) -> Pair:
        """Reach an address as the host sees it."""
        try:
            reader, writer = await self._connection.open_connection(host, port)
            return FarReader(reader), writer
        except (asyncssh.Error, OSError) as err:
            raise Unreachable(
                "tunnel_refused", address=f"{host}:{port}", cause=err
            ) from err

    async def close(self) -> None:
        """Say goodbye, and wait until it is heard."""
        self._connection.close()
        await self._connection.wait_closed()

    def abort(self) -> None:
        """Drop it at once."""
        self._connection.abort()

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except asyncssh.ChannelOpenError as err:
            if self.closed:
                raise Unreachable("connection_lost") from err
            raise Unreachable("too_many_sessions", cause=err.reason) from err
        except (asyncssh.Error, OSError) as err:
            raise Unreachable("connection_lost") from err


class Stream:
    """The lines of a command that goes on printing.

    Its standard input stays open: the script on the host ends when that is closed.
    """

    def __init__(self, process: asyncssh.SSHClientProcess[str], user: str) -> None:
        """Take over the process."""
        self._process = process
        self._user = user

    async def begin(self) -> None:
        """Skip what the login printed; raise if our script never ran."""
        banner = ""
        while line := await self._line():
            if line.rstrip("\r\n").endswith(BEGIN):
                return
            banner += line
        raise never_began(banner, await self._ended(banner), self._user)

    async def lines(self) -> AsyncGenerator[str]:
        """Every line as it comes, without its end."""
        while line := await self._line():
            yield line.rstrip("\r\n")

    async def ended(self) -> Answer:
        """Tell how it ended."""
        return await self._ended("")

    async def _line(self) -> str:
        """The next line, empty at the end; a lost connection is Unreachable."""
        try:
            return await self._process.stdout.readline()
        except (asyncssh.Error, OSError) as err:
            raise Unreachable("connection_lost") from err

    async def _ended(self, stdout: str) -> Answer:
        try:
            stderr = await self._process.stderr.read()
            await self._process.wait_closed()
        except (asyncssh.Error, OSError) as err:
            raise Unreachable("connection_lost") from err
        return Answer(
            stdout=stdout, stderr=stderr, exit_status=self._process.returncode
        )

    def close(self) -> None:
        """Let the host end it."""
        self._process.close()


class FarReader:
    """Reads what comes from the far side; a lost connection is an OSError there too."""

    def __init__(self, reader: asyncssh.SSHReader[bytes]) -> None:
        """Take over the reader."""
        self._reader = reader

    async def read(self, n: int = -1, /) -> bytes:
        """Give some bytes, none at the end."""
        try:
            return await self._reader.read(n)
        except asyncssh.Error as err:
            raise ConnectionResetError from err
