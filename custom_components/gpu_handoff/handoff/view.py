"""An operation as it is shown, made of what `decide` answered."""

from .answers import Answer, Wait
from .operation import OperationView
from .phases import Phase
from .reason import Reason
from .wish import Wish
from .world import Fate, World


def view_of(
    wish: Wish, answer: Answer | None, needs_person: Reason | None, world: World | None
) -> OperationView:
    """Show a wish that is on its way."""
    wait = answer if isinstance(answer, Wait) and answer.phase is wish.phase else None
    return OperationView(
        vm_id=wish.vm_id,
        operation=wish.operation,
        want=wish.want,
        phase=wish.phase,
        phase_started=wish.phase_since,
        asked_by=wish.asked_by,
        asked_at=wish.asked_at,
        spent_s=wish.spent_s,
        waiting_for=wait.because if wait else None,
        late=wait.late if wait else None,
        needs_person=needs_person,
        blockers=_blockers(wish, world),
    )


def _blockers(wish: Wish, world: World | None) -> tuple[str, ...]:
    """The pods that a drain waits for, as namespace/name."""
    if world is None or wish.phase is not Phase.DRAINING:
        return ()
    views = (world.nodes.get(node_id) for node_id in wish.before)
    return tuple(
        pod.full_name
        for view in views
        if view
        for pod in view.pods
        if pod.fate is not Fate.IGNORE
    )
