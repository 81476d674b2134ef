"""All wishes of a tower, and how an answer of `decide` changes them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

from .answers import Answer, Done, NeedsPerson, Refuse, RollBack, Wait
from .operation import EVENT_OF, EventKind, HandoffEvent, Outcome, Result
from .phases import Phase
from .reason import Reason
from .wish import Failure, NodeBefore, Want, Wish
from .world import Power, VmId, World

ENDED_KEPT = 50


def iso_now() -> str:
    """Tell the time for people."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class WishBook:
    """The wishes and the last results; every change goes through here."""

    def __init__(self, tell: Callable[[HandoffEvent], None]) -> None:
        """Start empty; `tell` hears of everything that happens."""
        self.wishes: dict[VmId, Wish] = {}
        self.last: dict[VmId, Result] = {}
        self.ended: dict[str, Result] = {}
        self._tell = tell
        self._stuck: dict[VmId, Reason] = {}

    def accept(
        self, vm_id: VmId, want: Want, now: float, *, asked_by: str = ""
    ) -> Wish:
        """Put a new wish in the place of the old one; what is known of the nodes stays."""
        old = self.wishes.pop(vm_id, None)
        wish = Wish(
            vm_id=vm_id,
            want=want,
            operation=uuid4().hex[:12],
            asked_by=asked_by,
            asked_at=iso_now(),
            phase_since=now,
            before=old.before if old else {},
        )
        self._stuck.pop(vm_id, None)
        self.wishes[vm_id] = wish
        if old is not None and not old.settled:
            self._close(old, Outcome.CANCELLED, old.phase, None)
        self._say(EventKind.STARTED, wish, wish.phase)
        return wish

    def refuse(self, vm_id: VmId, reason: Reason) -> None:
        """Remember that a handover was refused before it became a wish."""
        asked = Wish(vm_id=vm_id, want=Want.PLAY, operation=uuid4().hex[:12])
        self._close(asked, Outcome.REFUSED, Phase.CHECKING, reason)

    def cancel(self, wish: Wish, now: float) -> Wish:
        """Turn a handover into its undo."""
        failure = Failure(
            phase=wish.phase, reason=Reason.of("cancelled"), cancelled=True
        )
        undo = replace(
            self._enter(wish, Phase.ROLLING_BACK, now),
            want=Want.RESTORE,
            failure=failure,
        )
        self.wishes[wish.vm_id] = undo
        return undo

    def keep(self, wish: Wish) -> None:
        """Take over a wish as it is: from the journal, or adopted from the world."""
        self.wishes[wish.vm_id] = wish

    def needs_person(self, vm_id: VmId) -> Reason | None:
        """Why this machine's operation waits for a person, if it does."""
        return self._stuck.get(vm_id)

    def note(self, world: World) -> None:
        """Remember which nodes were seen off: only those must come back with a new boot."""
        if world.tower is None:
            return
        for wish in list(self.wishes.values()):
            off = {
                node_id: replace(before, stopped=True)
                for node_id, before in wish.before.items()
                if not before.stopped
                and (node := world.tower.vms.get(node_id)) is not None
                and node.power is Power.OFF
            }
            if off:
                self.wishes[wish.vm_id] = replace(wish, before={**wish.before, **off})

    def touch(self, vm_id: VmId, node_id: VmId, world: World) -> None:
        """Remember what a node was, before the first act on it."""
        wish = self.wishes[vm_id]
        node = world.tower.vms.get(node_id) if world.tower else None
        if node_id in wish.before or node is None:
            return
        view = world.nodes.get(node_id)
        before = NodeBefore(
            running=node.power is not Power.OFF,
            boot_id=view.boot_id if view else "",
            stopped=node.power is Power.OFF,
        )
        self.wishes[vm_id] = replace(wish, before={**wish.before, node_id: before})

    def apply(self, vm_id: VmId, answer: Answer, world: World, now: float) -> bool:
        """Change the wish as the answer says; True if it must be decided anew."""
        wish = self.wishes[vm_id]
        if wish.settled:
            return self._apply_settled(wish, answer, world, now)
        if isinstance(answer, NeedsPerson):
            self._stop_for_person(wish, answer, now)
            return False
        self._stuck.pop(vm_id, None)
        if isinstance(answer, RollBack):
            self._roll_back(wish, answer, now)
            return True
        if isinstance(answer, Done):
            self._reach(wish, answer.note, world, now)
        elif isinstance(answer, Refuse):
            del self.wishes[vm_id]
            self._close(wish, Outcome.REFUSED, wish.phase, answer.reason)
        else:
            self._go_to(wish, answer.phase, now)
        return False

    def _apply_settled(
        self, wish: Wish, answer: Answer, world: World, now: float
    ) -> bool:
        if isinstance(answer, Done) and self._is_on(wish, world):
            self.wishes[wish.vm_id] = self._enter(wish, Phase.IDLE, now)
        elif isinstance(answer, Wait) and answer.phase in (Phase.IDLE, Phase.GRACE):
            self._go_to(wish, answer.phase, now)
        elif isinstance(answer, Done):
            del self.wishes[wish.vm_id]
        else:
            self.accept(wish.vm_id, Want.LEND, now)
            return True
        return False

    def _go_to(self, wish: Wish, phase: Phase, now: float) -> None:
        if wish.phase is phase:
            return
        self.wishes[wish.vm_id] = self._enter(wish, phase, now)
        self._say(EventKind.PHASE_CHANGED, wish, phase)

    @staticmethod
    def _enter(wish: Wish, phase: Phase, now: float) -> Wish:
        if wish.phase is phase:
            return wish
        spent_s = wish.spent_s.get(wish.phase, 0.0) + now - wish.phase_since
        return replace(
            wish,
            phase=phase,
            phase_since=now,
            spent_s={**wish.spent_s, wish.phase: spent_s},
        )

    def _roll_back(self, wish: Wish, answer: RollBack, now: float) -> None:
        failure = Failure(phase=answer.phase, reason=answer.reason)
        undo = self._enter(wish, Phase.ROLLING_BACK, now)
        self.wishes[wish.vm_id] = replace(undo, want=Want.RESTORE, failure=failure)
        self._say(
            EventKind.PHASE_CHANGED, wish, Phase.ROLLING_BACK, reason=failure.reason
        )

    def _stop_for_person(self, wish: Wish, answer: NeedsPerson, now: float) -> None:
        self._go_to(wish, answer.phase, now)
        if self._stuck.get(wish.vm_id) == answer.reason:
            return
        self._stuck[wish.vm_id] = answer.reason
        self._close(wish, Outcome.NEEDS_PERSON, answer.phase, answer.reason)

    def _reach(self, wish: Wish, note: Reason | None, world: World, now: float) -> None:
        ended = self._enter(wish, Phase.IDLE, now)
        del self.wishes[wish.vm_id]
        if self._is_on(wish, world):
            self.wishes[wish.vm_id] = replace(
                ended, want=Want.PLAY, settled=True, failure=None
            )
        else:
            self._leave_to_players(ended, world)
        failure = wish.failure
        if wish.want is not Want.RESTORE or failure is None:
            self._close(ended, Outcome.DONE, wish.phase, note)
            return
        outcome = Outcome.CANCELLED if failure.cancelled else Outcome.FAILED
        self._close(
            replace(ended, want=Want.PLAY), outcome, failure.phase, failure.reason
        )

    def _leave_to_players(self, wish: Wish, world: World) -> None:
        """Whoever keeps a node off now brings it back when he stops playing."""
        tower = world.tower
        for vm_id in world.house.gaming if tower else ():
            vm = tower.vms.get(vm_id) if tower else None
            if vm is None or vm.power is Power.OFF or vm_id in self.wishes:
                continue
            homes = (tower.vms.get(node_id) for node_id in wish.before) if tower else ()
            if any(home and home.wants & vm.holds for home in homes):
                self.wishes[vm_id] = Wish(
                    vm_id=vm_id,
                    want=Want.PLAY,
                    operation=wish.operation,
                    phase=Phase.IDLE,
                    phase_since=wish.phase_since,
                    before=wish.before,
                    settled=True,
                )

    @staticmethod
    def _is_on(wish: Wish, world: World) -> bool:
        vm = world.tower.vms.get(wish.vm_id) if world.tower else None
        return vm is not None and vm.power is not Power.OFF

    def _close(
        self, wish: Wish, outcome: Outcome, phase: Phase, reason: Reason | None
    ) -> None:
        result = Result(
            vm_id=wish.vm_id,
            operation=wish.operation,
            want=wish.want,
            outcome=outcome,
            phase=phase,
            reason=reason,
            spent_s=wish.spent_s,
            at=iso_now(),
        )
        self.last[wish.vm_id] = self.ended[wish.operation] = result
        while len(self.ended) > ENDED_KEPT:
            del self.ended[next(iter(self.ended))]
        self._say(EVENT_OF[outcome], wish, phase, reason=reason)

    def _say(
        self, kind: EventKind, wish: Wish, phase: Phase, reason: Reason | None = None
    ) -> None:
        self._tell(
            HandoffEvent(
                kind=kind,
                vm_id=wish.vm_id,
                operation=wish.operation,
                want=wish.want,
                phase=phase,
                reason=reason,
                at=iso_now(),
            )
        )


def unmet(wishes: Mapping[VmId, Wish]) -> dict[VmId, Wish]:
    """The wishes that are on their way."""
    return {vm_id: wish for vm_id, wish in wishes.items() if not wish.settled}
