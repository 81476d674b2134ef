"""A controller's loop: it works again a moment after something has changed."""

import asyncio
from collections.abc import Callable, Collection

from ..clock import Clock
from ..tasks import Tasks
from .store import Change


class Loop:
    """Calls `work` once for any number of changes of the kinds that it minds."""

    def __init__(
        self,
        work: Callable[[], None],
        *,
        minds: Collection[str],
        clock: Clock,
        delay_s: Callable[[], float],
    ) -> None:
        self._work = work
        self._minds = minds
        self._clock = clock
        self._delay_s = delay_s
        self._woken = asyncio.Event()

    def start(self, tasks: Tasks) -> None:
        self._woken.set()
        tasks.start(self._run())

    def changed(self, change: Change) -> None:
        if change.plural in self._minds:
            self._woken.set()

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            await self._clock.sleep(self._delay_s())
            self._woken.clear()
            self._work()
