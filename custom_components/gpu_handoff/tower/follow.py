"""Hearing a host's events without a gap: the next stream opens before the old one ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

from .errors import HandoffError, Unreachable
from .ssh import Connection
from .virsh import error_of

ROTATE_S = 3500.0
"""Shorter than the host's own limit for the stream (3600 s)."""


async def follow(
    connection: Connection,
    begun: Callable[[], Awaitable[None]],
    heard: Callable[[str], None],
    rotate_s: float = ROTATE_S,
) -> None:
    """Call `heard` with each line and `begun` each time a stream has begun.

    Runs until the events end; raises HandoffError with the reason.
    """
    reader: asyncio.Task[None] | None = None
    try:
        while True:
            new = await _begin(connection, heard)
            if reader is not None:
                await _end(reader)
            reader = new
            await begun()
            done, _ = await asyncio.wait({reader}, timeout=rotate_s)
            if done:
                return await reader
    finally:
        if reader is not None:
            await _end(reader)


async def _end(reader: asyncio.Task[None]) -> None:
    reader.cancel()
    await asyncio.gather(reader, return_exceptions=True)


async def _begin(
    connection: Connection, heard: Callable[[str], None]
) -> asyncio.Task[None]:
    """Open a stream and wait until virsh has connected: it prints its URI first."""
    opened = asyncio.Event()
    reader = asyncio.create_task(_read(connection, heard, opened), name="tower events")
    waiting = asyncio.create_task(opened.wait())
    try:
        async with AsyncExitStack() as stack:
            stack.callback(waiting.cancel)
            await asyncio.wait({reader, waiting}, return_when="FIRST_COMPLETED")
    except asyncio.CancelledError:
        await _end(reader)
        raise
    if reader.done():
        await reader
    return reader


async def _read(
    connection: Connection, heard: Callable[[str], None], opened: asyncio.Event
) -> None:
    async with connection.stream("events") as stream:
        async for line in stream.lines():
            if opened.is_set():
                heard(line)
            elif line.strip():
                opened.set()
        error = error_of(await stream.ended(), otherwise="events_ended")
    raise as_unreachable(error)


def as_unreachable(error: HandoffError) -> Unreachable:
    """Without its events a host is as good as not there."""
    return Unreachable(error.reason.key, **error.reason.placeholders)
