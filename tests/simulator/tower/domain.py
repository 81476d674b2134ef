"""A domain as libvirt keeps it: its state, its cards, and who wants to know of changes."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from ..clock import Clock
from ..house import VmPlan
from ..tasks import Tasks
from . import states
from .errors import LibvirtError
from .events import Events
from .knobs import Knobs
from .pci import PciBus
from .states import State, Status


class Domain:
    """The bookkeeping; what the guest inside does is `Guest`'s."""

    def __init__(
        self,
        plan: VmPlan,
        *,
        clock: Clock,
        tasks: Tasks,
        events: Events,
        bus: PciBus,
        next_id: Callable[[], int],
    ) -> None:
        self.plan = plan
        self.knobs = Knobs()
        self.status: Status = states.OFF_UNKNOWN
        self.domain_id: int | None = None
        self.agent_connected = False
        self.holds: tuple[str, ...] = ()
        self.on_change: list[Callable[[], None]] = []
        self._clock = clock
        self._tasks = tasks
        self._events = events
        self._bus = bus
        self._next_id = next_id
        self._life: list[asyncio.Task[None]] = []
        self._ended = asyncio.Event()
        self._agent_lock = asyncio.Lock()
        self._acpi_heard = False
        self._leaving = False

    @property
    def uuid(self) -> str:
        return self.plan.uuid

    @property
    def name(self) -> str:
        return self.plan.name

    @property
    def power(self) -> str:
        """The state in virsh's own word."""
        return self.status.word

    @property
    def active(self) -> bool:
        return self.status.state is not State.OFF

    @property
    def running(self) -> bool:
        return self.status.state is State.RUNNING

    def _claim(self) -> None:
        if self.knobs.fail_start:
            self._set(states.FAILED)
            raise LibvirtError(self.knobs.fail_start)
        try:
            self._bus.claim(self.plan.hostdevs, self.name)
        except LibvirtError:
            self._set(states.FAILED)
            raise

    def _begin(self, status: Status) -> None:
        self.domain_id = self._next_id()
        self.holds = self.plan.hostdevs
        self._ended = asyncio.Event()
        self._agent_lock = asyncio.Lock()
        self._acpi_heard = False
        self._set(status)

    def _live(self, work: Coroutine[Any, Any, None]) -> None:
        """Start something that ends with this run of the machine."""
        self._life.append(self._tasks.task(work))

    async def _later(self, seconds: float, act: Callable[[], None]) -> None:
        await self._clock.sleep(seconds)
        act()

    def _set_agent(self, *, connected: bool) -> None:
        self.agent_connected = connected
        word = "connected" if connected else "disconnected"
        self._events.agent(self.name, word, "channel event")
        self._tell()

    def _end(self, status: Status, words: str) -> None:
        self._bus.release(self.holds)
        self.holds = ()
        self.domain_id = None
        self.agent_connected = False
        self._leaving = False
        self._ended.set()
        self._set(status)
        self._events.lifecycle(self.name, words)
        life, self._life = self._life, []
        for task in life:
            if task is not asyncio.current_task():
                task.cancel()

    def _set(self, status: Status) -> None:
        self.status = status
        self._tell()

    def _tell(self) -> None:
        for listener in self.on_change:
            listener()
