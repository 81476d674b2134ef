"""The one pure function: wishes and a measured world in, what to do next out."""

from collections.abc import Callable, Mapping

from .answers import Act, Answer, Done, Refuse, RollBack, Wait
from .give_back import give_back, reached, restore
from .hand_over import hand_over
from .look import Look
from .phases import DEADLINES_S, Phase
from .reason import Reason
from .wish import Want, Wish
from .world import ActKind, VmId, World

STEPS: Mapping[Want, Callable[[Look], Answer]] = {
    Want.PLAY: hand_over,
    Want.LEND: give_back,
    Want.RESTORE: restore,
}

CAN_BE_UNDONE_ALONE = frozenset({Phase.CORDONING, Phase.DRAINING})
"""Phases in which only the cluster was touched: the tower is not needed to go back."""


def decide(wishes: Mapping[VmId, Wish], world: World, now: float) -> dict[VmId, Answer]:
    """Answer each wish; acts of several wishes on one machine are the same act.

    Pure: it reads nothing but its arguments. `now` is monotonic seconds.
    """
    return {vm_id: _decide(wish, wishes, world, now) for vm_id, wish in wishes.items()}


def _decide(
    wish: Wish, wishes: Mapping[VmId, Wish], world: World, now: float
) -> Answer:
    if world.tower is None:
        return _tower_silent(wish, world, now)
    look = Look(wish=wish, wishes=wishes, world=world, tower=world.tower, now=now)
    return reached(look) if wish.settled else STEPS[wish.want](look)


def _tower_silent(wish: Wish, world: World, now: float) -> Answer:
    """Without the tower nothing is known of its machines, so nothing is done to them."""
    why = world.tower_why or Reason.of("tower_silent")
    if wish.settled:
        return Wait(phase=Phase.IDLE, because=why)
    if wish.want is Want.RESTORE and (undo := _undo_cordon(wish, world, now)):
        return undo
    allowed = world.house.deadlines_s.get(wish.phase, DEADLINES_S.get(wish.phase, 0.0))
    deadline = wish.phase_since + allowed
    if now < deadline:
        return Wait(phase=wish.phase, until=deadline, because=why)
    if wish.want is Want.PLAY and wish.untouched:
        return Refuse(reason=why)
    if wish.want is Want.PLAY and wish.phase in CAN_BE_UNDONE_ALONE:
        return RollBack(reason=why, phase=wish.phase)
    return Wait(phase=wish.phase, because=why, late=why)


def _undo_cordon(wish: Wish, world: World, now: float) -> Answer | None:
    """Undo our cordon of a node that was never told to stop, without seeing its tower."""
    if wish.failure is None or wish.failure.phase not in CAN_BE_UNDONE_ALONE:
        return None
    for node_id in wish.before:
        view = world.nodes.get(node_id)
        sent = world.sent.get((ActKind.UNCORDON, node_id))
        if view is None or view.mark is None:
            continue
        if sent is None or (sent.returned_at is not None and now >= sent.at + 5):
            return Act(kind=ActKind.UNCORDON, vm_id=node_id, phase=Phase.ROLLING_BACK)
        return Wait(phase=Phase.ROLLING_BACK, until=now + 5)
    return Done() if set(wish.before) <= set(world.nodes) else None
