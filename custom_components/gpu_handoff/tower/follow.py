"""Hearing a host's events without a gap: the next stream opens before the old one ends."""

import asyncio
from collections.abc import Awaitable, Callable

from .complaints import TIMED_OUT, error_of, unreachable
from .errors import Unreachable
from .ssh import Connection

ROTATE_S = 3500.0
"""Shorter than the host's own limit for the stream (3600 s)."""

_CONNECT_S = 30.0


async def follow(
    connection: Connection,
    begun: Callable[[], Awaitable[None]],
    heard: Callable[[str], None],
    rotate_s: float = ROTATE_S,
) -> None:
    """Call `heard` with each line and `begun` each time a stream has begun.

    Returns when the host's own limit ended the stream; else raises Unreachable.
    """
    reader: asyncio.Task[None] | None = None
    try:
        while True:
            following = await _begin(connection, heard)
            await _end(reader)
            reader = following
            await begun()
            ended, _ = await asyncio.wait({reader}, timeout=rotate_s)
            if ended:
                return await reader
    finally:
        await _end(reader)


async def _end(reader: asyncio.Task[None] | None) -> None:
    if reader is not None:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)


async def _begin(
    connection: Connection, heard: Callable[[str], None]
) -> asyncio.Task[None]:
    """Open a stream and wait until virsh has connected to its daemon."""
    connected = asyncio.get_running_loop().create_future()
    reader = asyncio.create_task(_read(connection, heard, connected))
    try:
        await asyncio.wait(
            {reader, connected},
            timeout=_CONNECT_S,
            return_when=asyncio.FIRST_COMPLETED,
        )
    except asyncio.CancelledError:
        await _end(reader)
        raise
    if reader.done():
        await reader
    if not connected.done():
        await _end(reader)
        host = connection.credentials.host
        raise Unreachable("tower_timeout", host=host, request="events")
    return reader


async def _read(
    connection: Connection,
    heard: Callable[[str], None],
    connected: asyncio.Future[None],
) -> None:
    """Read a stream to its end. Its first line is the URI: virsh has connected."""
    async with connection.stream("events") as stream:
        async for line in stream.lines():
            if connected.done():
                heard(line)
            elif line.strip():
                connected.set_result(None)
        answer = await stream.ended()
    if answer.exit_status != TIMED_OUT:
        raise unreachable(error_of(answer, otherwise="events_ended"))
