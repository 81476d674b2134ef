"""How much of its thread's CPU a single callback on the loop has used."""

from asyncio import events
import time
from typing import Self


class LoopBlocks:
    """Within the block, every callback of the loop is timed by its thread's own clock."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self.what = ""
        self._original = events.Handle._run

    def __enter__(self) -> Self:
        original = self._original

        def timed(handle: events.Handle) -> object:
            began = time.thread_time()
            try:
                return original(handle)
            finally:
                took_ms = (time.thread_time() - began) * 1000
                if took_ms > self.longest_ms:
                    self.longest_ms, self.what = took_ms, repr(handle)

        events.Handle._run = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        events.Handle._run = self._original  # type: ignore[method-assign]
