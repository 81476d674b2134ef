"""Acts on their way: each runs beside the loop, and what was sent is remembered."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace

from .answers import Act
from .ports import ClusterPort, TowerPort
from .reason import HandoffError
from .wish import Wish
from .world import ActKind, Mark, Power, Sent, VmId, World

TO_THE_CLUSTER = frozenset({ActKind.CORDON, ActKind.EVICT, ActKind.UNCORDON})
SHUTDOWNS = frozenset({ActKind.SHUT_DOWN_BY_AGENT, ActKind.SHUT_DOWN_BY_ACPI})


class Acts:
    """What was done to the world by this process."""

    def __init__(
        self,
        tower: TowerPort,
        clusters: Mapping[VmId, ClusterPort],
        clock: Callable[[], float],
        on_return: Callable[[], None],
    ) -> None:
        """Take the doors; `on_return` is called each time an act has ended."""
        self.sent: dict[tuple[ActKind, VmId], Sent] = {}
        self._tower = tower
        self._clusters = clusters
        self._clock = clock
        self._on_return = on_return
        self._running: set[asyncio.Task[None]] = set()
        self._unmeasured = False

    def begin(self, act: Act, wish: Wish, world: World) -> None:
        """Start an act unless the same one runs already."""
        key = (act.kind, act.vm_id)
        sent = self.sent.get(key)
        if sent is not None and sent.returned_at is None:
            return
        self.sent[key] = Sent(at=self._clock())
        task = asyncio.create_task(self._run(act, wish, world), name=f"act {act.kind}")
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    def take_unmeasured(self) -> bool:
        """Whether an act has ended that no fresh measurement has seen yet."""
        unmeasured, self._unmeasured = self._unmeasured, False
        return unmeasured

    def forget_obeyed(self, world: World) -> None:
        """Forget shutdown orders of machines that are off: the next run owes nothing."""
        vms = world.tower.vms.values() if world.tower else ()
        off = {vm.vm_id for vm in vms if vm.power is Power.OFF}
        self._keep(lambda kind, vm_id: kind not in SHUTDOWNS or vm_id not in off)

    def forget_returned(self) -> None:
        """Forget what ended operations did, so that the next is not held up by it."""
        self._keep(lambda kind, _: kind in SHUTDOWNS)

    def _keep(self, worth: Callable[[ActKind, VmId], bool]) -> None:
        """Keep what runs still, and what is worth it."""
        self.sent = {
            (kind, vm_id): sent
            for (kind, vm_id), sent in self.sent.items()
            if sent.returned_at is None or worth(kind, vm_id)
        }

    async def stop(self) -> None:
        """Cancel what runs and wait for it."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _run(self, act: Act, wish: Wish, world: World) -> None:
        key = (act.kind, act.vm_id)
        failure = None
        try:
            await self._do(act, wish, world)
        except HandoffError as err:
            failure = err.reason
        finally:
            self.sent[key] = replace(
                self.sent[key], returned_at=self._clock(), failure=failure
            )
            self._unmeasured |= act.kind not in TO_THE_CLUSTER
            self._on_return()

    async def _do(self, act: Act, wish: Wish, world: World) -> None:
        match act.kind:
            case ActKind.CORDON:
                view = world.nodes[act.vm_id]
                mark = Mark(
                    operation=wish.operation, vm_id=wish.vm_id, boot_id=view.boot_id
                )
                await self._clusters[act.vm_id].cordon(mark)
            case ActKind.UNCORDON:
                await self._clusters[act.vm_id].uncordon()
            case ActKind.EVICT:
                await self._clusters[act.vm_id].evict()
            case ActKind.START:
                vm = world.tower.vms.get(act.vm_id) if world.tower else None
                await self._tower.let_go(vm.wants if vm else ())
                await self._tower.act(act.kind, act.vm_id)
            case _:
                await self._tower.act(act.kind, act.vm_id)
