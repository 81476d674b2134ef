"""Background tasks that all end with the thing that started them."""

import asyncio
from collections.abc import Coroutine
import logging
from typing import Any

_LOG = logging.getLogger(__name__)


class Tasks:
    """Keeps tasks alive while they run, and cancels what is left at the end."""

    def __init__(self) -> None:
        self._running: set[asyncio.Task[Any]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Begin something that nobody waits for."""
        self._running.add(self.task(work))

    def task[T](self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Begin something that may be waited for or cancelled."""
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return task

    async def close(self) -> None:
        left = list(self._running)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()):
            _LOG.error("A part of the simulator failed", exc_info=error)
