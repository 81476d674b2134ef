"""The loop of one tower: measure, decide, journal, act, wait, again."""

import asyncio
from collections.abc import Callable, Mapping
import contextlib
import logging
import time

from . import journal as journal_format
from .acts import TO_THE_CLUSTER, Acts
from .adopt import adopt
from .answers import Act, Answer, Wait
from .decide import decide
from .journal import Journal
from .measure import measure
from .operation import HandoffEvent, OperationView, Result
from .ports import ClusterPort, TowerPort
from .preflight import Preflight, preflight
from .reason import HandoffError, Refused
from .view import view_of
from .wish import Want, Wish
from .wishbook import WishBook, unmet
from .world import House, Power, VmId, World

_LOGGER = logging.getLogger(__name__)


class Reconciler:
    """Keeps the world of one tower as its wishes say."""

    def __init__(
        self,
        *,
        house: House,
        tower: TowerPort,
        clusters: Mapping[VmId, ClusterPort],
        journal: Journal,
        on_change: Callable[[], None] = lambda: None,
        on_event: Callable[[HandoffEvent], None] = lambda _event: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Take the doors to the world; nothing is asked or done before `start`."""
        self.house = house
        self._tower = tower
        self._clusters = clusters
        self._journal = journal
        self._on_change = on_change
        self._on_event = on_event
        self._clock = clock
        self._book = WishBook(self._hear)
        self._acts = Acts(tower, clusters, clock, self.wake)
        self._answers: dict[VmId, Answer] = {}
        self._world: World | None = None
        self._woken = asyncio.Event()
        self._waiters: dict[str, asyncio.Future[Result]] = {}
        self._written = ""
        self._journal_broken = False

    @property
    def operations(self) -> dict[VmId, OperationView]:
        """The operations that are on their way, by gaming machine."""
        return {
            vm_id: view_of(
                wish,
                self._answers.get(vm_id),
                self._book.needs_person(vm_id),
                self._world,
            )
            for vm_id, wish in unmet(self._book.wishes).items()
        }

    @property
    def last(self) -> Mapping[VmId, Result]:
        """How each machine's last operation ended."""
        return self._book.last

    @property
    def wishes(self) -> Mapping[VmId, Wish]:
        """All wishes, those that were reached too."""
        return self._book.wishes

    async def start(self) -> None:
        """Read the journal."""
        kept = journal_format.from_json(await self._journal.load(), self._clock())
        for wish in kept.values():
            self._book.keep(wish)
        self.wake()

    async def stop(self) -> None:
        """End what runs; the wishes stay in the journal."""
        await self._acts.stop()
        for waiter in self._waiters.values():
            waiter.cancel()

    def wake(self) -> None:
        """Look again soon: something has changed."""
        self._woken.set()

    async def run(self) -> None:
        """Run for ever; ends by being cancelled."""
        while True:
            self._woken.clear()
            until = await self.step()
            pause_s = None if until is None else max(0.0, until - self._clock())
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), pause_s)

    async def step(self) -> float | None:
        """Go one step; returns the monotonic second of the next deadline, if any."""
        if not self._book.wishes and not await self._marked():
            return None
        world = await self._look()
        acts = [
            (self._book.wishes[vm_id], answer)
            for vm_id, answer in self._answers.items()
            if isinstance(answer, Act) and vm_id in self._book.wishes
        ]
        for wish, act in acts:
            if act.vm_id in self.house.nodes:
                self._book.touch(wish.vm_id, act.vm_id, world)
        await self._write()
        for wish, act in acts:
            now_wished = self._book.wishes.get(wish.vm_id)
            if now_wished and now_wished.same_as(wish):
                self._acts.begin(act, wish, world)
        self._on_change()
        waits = (a.until for a in self._answers.values() if isinstance(a, Wait))
        return min((until for until in waits if until is not None), default=None)

    async def _look(self) -> World:
        """Measure and decide; what is about to be done to a machine is decided afresh."""
        fresh = self._acts.take_unmeasured()
        world = await self._measure(fresh=fresh)
        self._think(world)
        if self._acts_on_tower() and not fresh:
            world = await self._measure(fresh=True)
            self._think(world)
        return world

    async def hand_over(self, vm_id: VmId, asked_by: str = "") -> str:
        """Accept the wish that this machine plays; returns the operation's id.

        Raises Refused, with the reason, where it cannot be done; nothing is touched then.
        """
        current = self._book.wishes.get(vm_id)
        if current and current.want is Want.PLAY and not current.settled:
            return current.operation
        world = await self._measure(fresh=True)
        check = preflight(vm_id, self._book.wishes, world, self._clock())
        if check.refusal is not None:
            self._book.refuse(vm_id, check.refusal)
            raise Refused(check.refusal.key, **check.refusal.placeholders)
        return await self._accept(vm_id, Want.PLAY, asked_by)

    async def give_back(self, vm_id: VmId, asked_by: str = "") -> str:
        """Accept the wish that this machine is off and its cards go home.

        Before the machine has run this is a cancellation: everything is put back.
        """
        if vm_id not in self.house.gaming:
            raise Refused("not_a_gaming_vm", vm=vm_id)
        current = self._book.wishes.get(vm_id)
        if current and current.want is Want.LEND:
            return current.operation
        if current and not current.settled:
            world = await self._measure(fresh=True)
            current = self._book.wishes.get(vm_id)
            if current and not self._is_on(vm_id, world):
                return await self._undo(current)
        return await self._accept(vm_id, Want.LEND, asked_by)

    async def cancel(self, vm_id: VmId) -> None:
        """End an operation by putting back what it touched; raises Refused if it cannot."""
        current = unmet(self._book.wishes).get(vm_id)
        if current is None:
            raise Refused("nothing_to_cancel", vm=vm_id)
        if current.want is Want.PLAY:
            await self.give_back(vm_id)
        elif current.want is Want.LEND:
            world = await self._measure(fresh=True)
            if not self._is_on(vm_id, world):
                raise Refused("too_late_to_cancel", vm=vm_id)
            await self._accept(vm_id, Want.PLAY, current.asked_by)

    async def preflight(self, vm_id: VmId) -> Preflight:
        """Tell what a handover would do now."""
        world = await self._measure(fresh=True)
        return preflight(vm_id, self._book.wishes, world, self._clock())

    async def wait_for(self, operation: str) -> Result:
        """Wait for an operation's end; the caller's cancellation leaves it alone."""
        if (result := self._book.ended.get(operation)) is not None:
            return result
        waiter = self._waiters.setdefault(
            operation, asyncio.get_running_loop().create_future()
        )
        return await asyncio.shield(waiter)

    async def _accept(self, vm_id: VmId, want: Want, asked_by: str) -> str:
        before = dict(self._book.wishes)
        wish = self._book.accept(vm_id, want, self._clock(), asked_by=asked_by)
        if not await self._write():
            self._book.wishes = before
            raise Refused("journal_unwritable")
        self._on_change()
        self.wake()
        return wish.operation

    async def _undo(self, wish: Wish) -> str:
        undo = wish
        if wish.want is Want.PLAY:
            undo = self._book.cancel(wish, self._clock())
            await self._write()
            self._on_change()
            self.wake()
        return undo.operation

    async def _marked(self) -> bool:
        """Whether a node carries our mark; asked while there is no wish."""
        for cluster in self._clusters.values():
            with contextlib.suppress(HandoffError):
                if (await cluster.measure()).mark is not None:
                    return True
        return False

    async def _measure(self, *, fresh: bool) -> World:
        return await measure(
            self.house, self._tower, self._clusters, self._acts.sent, fresh=fresh
        )

    def _think(self, world: World) -> None:
        """Decide until no answer changes a wish any more."""
        now = self._clock()
        self._world = world
        self._acts.forget_obeyed(world)
        self._book.note(world)
        for wish in adopt(self._book.wishes, world, now):
            self._book.keep(wish)
        changed = True
        while changed:
            self._answers = decide(self._book.wishes, world, now)
            changed = self._apply(world, now)

    def _apply(self, world: World, now: float) -> bool:
        changed = [
            self._book.apply(vm_id, answer, world, now)
            for vm_id, answer in self._answers.items()
        ]
        return any(changed)

    def _acts_on_tower(self) -> bool:
        return any(
            isinstance(answer, Act) and answer.kind not in TO_THE_CLUSTER
            for answer in self._answers.values()
        )

    async def _write(self) -> bool:
        """Journal the wishes; an operation that runs goes on by the node's own mark."""
        now = self._clock()
        shape = repr(self._book.wishes)
        if shape == self._written:
            return True
        try:
            await self._journal.save(journal_format.to_json(self._book.wishes, now))
        except OSError as err:
            if not self._journal_broken:
                _LOGGER.warning("The operations journal cannot be written: %s", err)
            self._journal_broken = True
            return False
        self._written, self._journal_broken = shape, False
        return True

    def _hear(self, event: HandoffEvent) -> None:
        result = self._book.ended.get(event.operation)
        if result is not None:
            waiter = self._waiters.pop(event.operation, None)
            if waiter is not None and not waiter.done():
                waiter.set_result(result)
            if not unmet(self._book.wishes):
                self._acts.forget_returned()
        self._on_event(event)

    @staticmethod
    def _is_on(vm_id: VmId, world: World) -> bool:
        vm = world.tower.vms.get(vm_id) if world.tower else None
        return vm is not None and vm.power is not Power.OFF
