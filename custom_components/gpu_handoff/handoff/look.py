"""One wish, looked at in a measured world at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass

from .answers import Act, Answer, Refuse, RollBack, Wait
from .phases import DEADLINES_S, Phase
from .reason import Reason
from .wish import Want, Wish
from .world import ActKind, House, Power, Sent, TowerView, Vm, VmId, World

OBEYS_WITHIN_S = 90.0
"""A guest that took a shutdown order this long ago and still runs has ignored it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What the steps of a wish are given; `tower` answered, so it is there."""

    wish: Wish
    wishes: Mapping[VmId, Wish]
    world: World
    tower: TowerView
    now: float

    @property
    def house(self) -> House:
        """Who is who."""
        return self.world.house

    @property
    def vm(self) -> Vm | None:
        """The gaming machine of the wish, if the tower still has it."""
        return self.tower.vms.get(self.wish.vm_id)

    def name(self, vm_id: VmId) -> str:
        """What people call a machine."""
        vm = self.tower.vms.get(vm_id)
        return vm.name if vm else vm_id

    def sent(self, kind: ActKind, vm_id: VmId) -> Sent | None:
        """The last time that this was done to the machine."""
        return self.world.sent.get((kind, vm_id))

    def in_flight(self, kind: ActKind, vm_id: VmId) -> bool:
        """Whether such an act runs now."""
        sent = self.sent(kind, vm_id)
        return sent is not None and sent.returned_at is None

    def going_down(self, vm_id: VmId) -> bool:
        """Whether the machine was told to shut down and may still be obeying."""
        return any(
            sent is not None
            and (sent.returned_at is None or self.now - sent.at < OBEYS_WITHIN_S)
            for kind in (ActKind.SHUT_DOWN_BY_AGENT, ActKind.SHUT_DOWN_BY_ACPI)
            for sent in (self.sent(kind, vm_id),)
        )

    def elapsed_s(self, phase: Phase) -> float:
        """Seconds in this phase; 0 where it would only begin."""
        return self.now - self.wish.phase_since if self.wish.phase is phase else 0.0

    def deadline(self, phase: Phase) -> float:
        """The monotonic second at which the phase's time is over."""
        allowed = self.house.deadlines_s.get(phase, DEADLINES_S.get(phase, 0.0))
        return self.now - self.elapsed_s(phase) + allowed

    def late(self, phase: Phase) -> bool:
        """Whether the phase's time is over."""
        return self.wish.phase is phase and self.now >= self.deadline(phase)

    def wait(
        self, phase: Phase, because: Reason | None = None, until: float | None = None
    ) -> Wait:
        """Wait in a phase; past its deadline the wait goes on and says that it is late."""
        if not self.late(phase):
            deadline = self.deadline(phase)
            until = deadline if until is None else min(until, deadline)
            return Wait(phase=phase, until=until, because=because)
        late = Reason.of(f"late_{phase}", vm=self.name(self.wish.vm_id))
        return Wait(phase=phase, until=until, because=because, late=late)

    def order(
        self, kind: ActKind, vm_id: VmId, phase: Phase, *, again_after_s: float
    ) -> Act | Wait:
        """Do something now, unless it runs already or was just done."""
        sent = self.sent(kind, vm_id)
        if sent is None:
            return Act(kind=kind, vm_id=vm_id, phase=phase)
        if sent.returned_at is None:
            return self.wait(phase)
        again_at = sent.returned_at + again_after_s
        if self.now >= again_at:
            return Act(kind=kind, vm_id=vm_id, phase=phase, because=sent.failure)
        return self.wait(phase, sent.failure, again_at)

    def give_up(self, reason: Reason) -> Refuse | RollBack:
        """Say no; what was touched already is put back."""
        if self.wish.untouched:
            return Refuse(reason=reason)
        return RollBack(reason=reason, phase=self.wish.phase)

    def rival_start(self, vm: Vm) -> Vm | None:
        """Another machine that needs one of the same cards and is being started now."""
        for other in self.tower.vms.values():
            rival = other.vm_id != vm.vm_id and other.wants & vm.wants
            if rival and self.in_flight(ActKind.START, other.vm_id):
                return other
        return None

    def wants_to_play(self, vm: Vm) -> bool:
        """Whether a machine is on its way to its cards, or may be."""
        wish = self.wishes.get(vm.vm_id)
        return wish is not None and wish.want is Want.PLAY and not wish.settled

    def wake_up(self, vm: Vm, phase: Phase) -> Answer | None:
        """Bring a machine that is between off and on to where it can take an order.

        None for a machine that runs; OFF and CRASHED are the caller's to judge.
        """
        match vm.power:
            case Power.PAUSED:
                return self.order(ActKind.RESUME, vm.vm_id, phase, again_after_s=10)
            case Power.SLEEPING:
                return self.order(ActKind.WAKE, vm.vm_id, phase, again_after_s=10)
            case Power.STOPPING:
                return self.wait(phase, Reason.of("vm_still_stopping", vm=vm.name))
            case Power.UNKNOWN:
                return self.wait(phase, Reason.of("vm_state_unknown", vm=vm.name))
            case _:
                return None
