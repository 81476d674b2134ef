"""A local port whose connections come out at the host's side."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from .errors import HandoffError

_CHUNK = 65536


class Reader(Protocol):
    """The reading end of a connection."""

    async def read(self, n: int = -1, /) -> bytes:
        """Give some bytes, none at the end."""


class Writer(Protocol):
    """The writing end of a connection."""

    def write(self, data: bytes, /) -> None:
        """Take some bytes."""

    async def drain(self) -> None:
        """Wait until there is room for more."""

    def write_eof(self) -> None:
        """Say that there is no more."""

    def close(self) -> None:
        """End it."""


type Pair = tuple[Reader, Writer]


class Tunnel:
    """Listens on a free port of this machine's loopback."""

    def __init__(self, dial: Callable[[], Awaitable[Pair]]) -> None:
        """`dial` opens the far side, anew for each connection."""
        self._dial = dial
        self._server: asyncio.Server | None = None
        self._running: set[asyncio.Task[None]] = set()

    async def open(self) -> int:
        """Start to listen and tell the port."""
        self._server = await asyncio.start_server(self._came, "127.0.0.1", 0)
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """End it with every connection in it."""
        if self._server:
            self._server.close()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _came(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio calls this in a task
        self._running.add(task)
        try:
            await self._join(reader, writer)
        except* HandoffError, OSError:
            pass
        finally:
            self._running.discard(task)
            writer.close()

    async def _join(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Carry bytes both ways; what breaks one way ends both."""
        far_reader, far_writer = await self._dial()
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(_pump(reader, far_writer))
                ways.create_task(_pump(far_reader, writer))
        finally:
            far_writer.close()


async def _pump(reader: Reader, writer: Writer) -> None:
    """Carry bytes one way until they end."""
    while data := await reader.read(_CHUNK):
        writer.write(data)
        await writer.drain()
    writer.write_eof()
