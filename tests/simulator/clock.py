"""The clock of the simulated house: every delay of it is divided by `speed`."""

import asyncio
from datetime import UTC, datetime


class Clock:
    """Sleeps in the house's own seconds.

    What is promised on the wire (Retry-After, timeoutSeconds) stays in real seconds.
    """

    def __init__(self, speed: float = 1.0) -> None:
        self.speed = speed

    def real_s(self, seconds: float) -> float:
        """Turn the house's seconds into real ones."""
        return seconds / self.speed

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(self.real_s(seconds))

    def timeout(self, seconds: float) -> asyncio.Timeout:
        return asyncio.timeout(self.real_s(seconds))


def now() -> datetime:
    """The time of day, which is always the real one."""
    return datetime.now(UTC)
