"""libvirt's events, in the words and order of `virsh event --all --loop --timestamp`."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from ..clock import now


class Events:
    """Hands every line to everyone who listens now; nothing is kept for later."""

    def __init__(self) -> None:
        self._listeners: set[asyncio.Queue[str | None]] = set()
        self.record: list[str] = []

    def say(self, event: str, domain: str, detail: str = "") -> None:
        moment = now()
        stamp = f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03d}+0000"
        line = f"{stamp}: event '{event}' for domain '{domain}'"
        line = f"{line}: {detail}\n" if detail else f"{line}\n"
        self.record.append(line)
        for listener in self._listeners:
            listener.put_nowait(line)

    def lifecycle(self, domain: str, detail: str) -> None:
        self.say("lifecycle", domain, detail)

    def agent(self, domain: str, state: str, reason: str) -> None:
        self.say("agent-lifecycle", domain, f"state: '{state}' reason: '{reason}'")

    def hang_up(self) -> None:
        """End every stream, as a daemon that goes away does."""
        for listener in self._listeners:
            listener.put_nowait(None)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[str | None]]:
        queue: asyncio.Queue[str | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)
