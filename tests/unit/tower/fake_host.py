"""A host without SSH: answers requests from what a test put there."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from custom_components.gpu_handoff.tower.answer import Answer
from custom_components.gpu_handoff.tower.commands import HostContext
from custom_components.gpu_handoff.tower.errors import Unreachable
from custom_components.gpu_handoff.tower.ssh import Connection, Credentials

from .cast import CARDS, NAMES, Machine, household, refresh_text

END = object()


class FakeStream:
    """An event stream that a test writes to."""

    def __init__(self) -> None:
        self.queue: asyncio.Queue[Any] = asyncio.Queue()
        self.answer = Answer(exit_status=None)

    def say(self, line: str) -> None:
        self.queue.put_nowait(line)

    def end(self, **how: Any) -> None:
        self.answer = Answer(**how)
        self.queue.put_nowait(END)

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self.queue.get()) is not END:
            yield line

    async def ended(self) -> Answer:
        return self.answer


class FakeHost:
    """Stands where a Connection stands."""

    def __init__(self) -> None:
        self.credentials = Credentials(
            host="tower", username="handoff", host_key="ssh-ed25519 AAAA"
        )
        self.context = HostContext()
        self.machines: list[Machine] = household()
        self.answers: dict[str, Any] = {"cards": CARDS, "names": NAMES}
        self.asked: list[tuple[str, ...]] = []
        self.streams: list[FakeStream] = []
        self.first_line: str | None = "qemu:///system"
        self.down: Unreachable | None = None
        self.gate: asyncio.Event | None = None
        self.open_streams = 0
        self.closed = False

    @property
    def connection(self) -> Connection:
        return cast(Connection, self)

    def count(self, verb: str) -> int:
        return sum(1 for said in self.asked if said[0] == verb)

    async def run(self, verb: str, *args: str, stdin: str | None = None) -> Answer:
        self.asked.append((verb, *args))
        if self.gate is not None and verb == "refresh":
            await self.gate.wait()
        await asyncio.sleep(0)
        if self.down:
            raise self.down
        answer = self.answers.get(verb)
        if callable(answer):
            answer = answer(*args)
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, Answer):
            return answer
        if answer is None and verb == "refresh":
            answer = refresh_text(self.machines, args)
        return Answer(stdout=answer or "")

    @asynccontextmanager
    async def stream(self, verb: str, *args: str) -> AsyncGenerator[FakeStream]:
        self.asked.append((verb, *args))
        await asyncio.sleep(0)
        if self.down:
            raise self.down
        stream = FakeStream()
        self.streams.append(stream)
        self.open_streams += 1
        if self.first_line is not None:
            stream.say(self.first_line)
        try:
            yield stream
        finally:
            self.open_streams -= 1

    async def close(self) -> None:
        self.closed = True
