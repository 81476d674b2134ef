"""A tower and a cluster that obey, refuse or fall silent as a test says, and a clock."""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from custom_components.gpu_handoff.handoff.loop import Reconciler
from custom_components.gpu_handoff.handoff.operation import HandoffEvent, Result
from custom_components.gpu_handoff.handoff.reason import HandoffError, Unreachable
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    CardId,
    House,
    Mark,
    NodeView,
    Power,
    TowerView,
    VmId,
)

from .worlds import HOUSE, NODE, OFF, RUNNING, node_view, tower, vm


class FakeTower:
    """Obeys at once, unless it is told otherwise."""

    def __init__(self) -> None:
        self.view: TowerView = tower()
        self.silent: str | None = None
        self.refuses: dict[tuple[ActKind, VmId], HandoffError] = {}
        self.ignores: set[tuple[ActKind, VmId]] = set()
        self.blocks: asyncio.Event | None = None
        self.acts: list[tuple[ActKind, VmId]] = []
        self.let_go_of: list[CardId] = []
        self.fresh = 0

    async def measure(self, *, fresh: bool) -> TowerView:
        self.fresh += fresh
        if self.silent:
            raise Unreachable(self.silent)
        return self.view

    async def act(self, kind: ActKind, vm_id: VmId) -> None:
        self.acts.append((kind, vm_id))
        if self.blocks is not None:
            await self.blocks.wait()
        if (kind, vm_id) in self.refuses:
            raise self.refuses[kind, vm_id]
        if (kind, vm_id) not in self.ignores:
            on = kind in (ActKind.START, ActKind.RESUME, ActKind.WAKE)
            self.set(vm_id, RUNNING if on else OFF)

    async def let_go(self, cards: Iterable[CardId]) -> None:
        self.let_go_of += cards

    def set(self, vm_id: VmId, power: Power, **more: Any) -> None:
        """Bring a machine into a state."""
        machine = vm(vm_id, power, **more)
        self.view = replace(self.view, vms={**self.view.vms, vm_id: machine})


class FakeCluster:
    """One node; evictions take its pods away at once."""

    def __init__(self, fake_tower: FakeTower) -> None:
        self._tower = fake_tower
        self._view: NodeView = node_view()
        self.silent: str | None = None
        self.refuses: HandoffError | None = None
        self.keeps_pods = False
        self.acts: list[str] = []
        self._ran = True

    @property
    def view(self) -> NodeView:
        return self._view

    def set(self, **facts: Any) -> None:
        """Change what the cluster knows of the node."""
        self._view = replace(self._view, **facts)

    async def measure(self) -> NodeView:
        self._follow_the_machine()
        if self.silent:
            raise Unreachable(self.silent)
        return self._view

    async def cordon(self, mark: Mark) -> None:
        self.acts.append("cordon")
        self._say()
        self.set(schedulable=False, mark=mark)

    async def uncordon(self) -> None:
        self.acts.append("uncordon")
        self._say()
        self.set(schedulable=True, mark=None)

    async def evict(self) -> None:
        self.acts.append("evict")
        self._say()
        if not self.keeps_pods:
            self.set(pods=())

    def _say(self) -> None:
        if self.refuses is not None:
            raise self.refuses

    def _follow_the_machine(self) -> None:
        """A node that was off comes back with a new boot id and a fresh lease."""
        runs = self._tower.view.vms[NODE].power is RUNNING
        if runs and not self._ran:
            self.set(boot_id=f"{self._view.boot_id}+", lease_changed_at=1e9, gpus=2)
        self._ran = runs


class Memory:
    """A journal in memory, that can be full."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] | None = None
        self.full = False

    async def load(self) -> dict[str, Any] | None:
        return self.kept

    async def save(self, data: dict[str, Any]) -> None:
        if self.full:
            raise OSError("no space left on device")
        self.kept = data


class Household:
    """The heart with all of these; `settle` lets it run until it waits for the world."""

    def __init__(self, house: House = HOUSE) -> None:
        self.now = 1000.0
        self.tower = FakeTower()
        self.cluster = FakeCluster(self.tower)
        self.journal = Memory()
        self.events: list[HandoffEvent] = []
        self.house = house
        self.heart = self.new_heart()

    def new_heart(self) -> Reconciler:
        """A heart as it is after a restart."""
        clusters = {NODE: self.cluster} if NODE in self.house.nodes else {}
        return Reconciler(
            house=self.house,
            tower=self.tower,
            clusters=clusters,
            journal=self.journal,
            on_event=self.events.append,
            clock=lambda: self.now,
        )

    async def restart(self) -> None:
        """End the heart and begin again from the journal."""
        await self.heart.stop()
        self.heart = self.new_heart()
        await self.heart.start()

    async def settle(self, steps: int = 12) -> None:
        """Step until nothing moves any more."""
        for _ in range(steps):
            await self.heart.step()
            for _ in range(6):
                await asyncio.sleep(0)

    async def later(self, seconds: float) -> None:
        """Let time pass, and look again."""
        self.now += seconds
        await self.settle()

    def last(self, vm_id: VmId) -> Result:
        """How a machine's last operation ended."""
        return self.heart.last[vm_id]

    def power(self, vm_id: VmId) -> Power:
        """A machine's state."""
        return self.tower.view.vms[vm_id].power

    def boots(self, vm_id: VmId) -> None:
        """Have a machine run with an agent that is not up yet."""
        self.tower.set(vm_id, RUNNING, agent=Agent.SILENT)
