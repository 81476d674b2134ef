"""Without the tower nothing is known of its machines, so nothing is done to them."""

from dataclasses import replace

import pytest

from custom_components.gpu_handoff.handoff.answers import (
    Act,
    Done,
    Refuse,
    RollBack,
    Wait,
)
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import ActKind, Sent

from .worlds import (
    CORDONED,
    NODE,
    answer,
    failed,
    late,
    node_view,
    touched,
    wish,
    world,
)

WHY = Reason.of("connection_lost")
SILENT = world(tower=None, tower_why=WHY, view=node_view(**CORDONED))
UNDO = wish(Want.RESTORE, Phase.ROLLING_BACK, before=touched(), failure=failed())


@pytest.mark.parametrize("phase", list(Phase))
@pytest.mark.parametrize("want", list(Want))
def test_no_machine_is_touched(want: Want, phase: Phase) -> None:
    said = answer(wish(want, phase, before=touched()), SILENT)
    assert not isinstance(said, Act)


def test_a_new_wish_waits_then_is_refused() -> None:
    assert answer(wish(), SILENT) == Wait(phase=Phase.CHECKING, until=30.0, because=WHY)
    assert answer(late(wish()), SILENT) == Refuse(reason=WHY)


@pytest.mark.parametrize("phase", [Phase.CORDONING, Phase.DRAINING])
def test_what_only_touched_the_cluster_is_rolled_back_in_time(phase: Phase) -> None:
    said = answer(late(wish(phase=phase, before=touched())), SILENT)
    assert said == RollBack(reason=WHY, phase=phase)


def test_what_touched_a_machine_waits_and_a_person_is_told() -> None:
    said = answer(late(wish(phase=Phase.STOPPING_NODE, before=touched())), SILENT)
    assert said == Wait(phase=Phase.STOPPING_NODE, because=WHY, late=WHY)


def test_a_reached_wish_just_waits() -> None:
    said = answer(wish(phase=Phase.IDLE, settled=True), SILENT)
    assert said == Wait(phase=Phase.IDLE, because=WHY)


def test_a_tower_that_was_never_asked_has_a_reason_too() -> None:
    said = answer(late(wish()), replace(SILENT, tower_why=None))
    assert said == Refuse(reason=Reason.of("tower_silent"))


def test_our_cordon_is_undone_without_the_tower() -> None:
    said = answer(UNDO, SILENT)
    assert said == Act(kind=ActKind.UNCORDON, vm_id=NODE, phase=Phase.ROLLING_BACK)


def test_an_uncordon_on_its_way_is_waited_for() -> None:
    sent = {(ActKind.UNCORDON, NODE): Sent(at=0)}
    said = answer(UNDO, replace(SILENT, sent=sent))
    assert said == Wait(phase=Phase.ROLLING_BACK, until=5)


def test_an_uncordon_that_failed_is_tried_again() -> None:
    sent = {(ActKind.UNCORDON, NODE): Sent(at=-9, returned_at=-8)}
    assert isinstance(answer(UNDO, replace(SILENT, sent=sent)), Act)


def test_an_undone_cordon_ends_the_undo() -> None:
    assert answer(UNDO, replace(SILENT, nodes={NODE: node_view()})) == Done()


def test_with_the_cluster_silent_too_it_waits() -> None:
    assert isinstance(answer(UNDO, replace(SILENT, nodes={})), Wait)


@pytest.mark.parametrize("failure", [None, failed(Phase.STOPPING_NODE)])
def test_a_node_that_may_be_stopping_is_not_uncordoned_blindly(failure: object) -> None:
    said = answer(replace(UNDO, failure=failure), SILENT)
    assert isinstance(said, Wait)
