"""Pauses between tries: they grow, and no two households try in step."""

import asyncio
from collections.abc import Callable
import contextlib
import random

FIRST_S = 0.2
LONGEST_S = 10.0

_DICE = random.SystemRandom()


class Backoff:
    """The n-th pause is first * 2^n seconds, at most `longest`, less up to a half by chance."""

    def __init__(
        self,
        first_s: float = FIRST_S,
        longest_s: float = LONGEST_S,
        chance: Callable[[], float] = _DICE.random,
    ) -> None:
        """Begin with the shortest pause."""
        self._first_s = first_s
        self._longest_s = longest_s
        self._chance = chance
        self._tries = 0
        self._cut_short = asyncio.Event()

    def reset(self) -> None:
        """It went well: the next pause is a short one."""
        self._tries = 0

    def cut_short(self) -> None:
        """There is reason to hope: end the pause now."""
        self._cut_short.set()

    def next_s(self) -> float:
        """Length of the next pause."""
        whole = min(self._longest_s, self._first_s * float(1 << min(self._tries, 30)))
        self._tries += 1
        return whole * (1 - self._chance() / 2)

    async def pause(self) -> None:
        """Wait."""
        self._cut_short.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._cut_short.wait(), self.next_s())
