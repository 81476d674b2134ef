"""A cordon of ours that no wish knows."""

from custom_components.gpu_handoff.handoff.adopt import adopt
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.wish import NodeBefore, Want

from .worlds import (
    ALICE,
    BOB,
    CORDONED,
    NODE,
    OFF,
    RUNNING,
    node_view,
    touched,
    vm,
    wish,
    world,
)

MARKED = node_view(**CORDONED)


def test_the_mark_alone_is_enough_to_put_everything_back() -> None:
    (adopted,) = adopt({}, world(view=MARKED), 0.0)
    assert adopted.want is Want.RESTORE
    assert adopted.operation == "op"
    assert adopted.before == {NODE: NodeBefore(running=True, boot_id="boot-1")}


def test_a_node_that_is_off_or_was_restarted_must_prove_itself() -> None:
    (off,) = adopt({}, world(vm(NODE, OFF), view=MARKED), 0.0)
    assert off.before[NODE].stopped
    newer = node_view(**{**CORDONED, "boot_id": "boot-2"})
    (restarted,) = adopt({}, world(view=newer), 0.0)
    assert restarted.before[NODE].stopped


def test_a_machine_that_plays_keeps_its_card() -> None:
    seen = world(vm(NODE, OFF), vm(ALICE, RUNNING), view=MARKED)
    (adopted,) = adopt({}, seen, 0.0)
    assert (adopted.want, adopted.settled) == (Want.PLAY, True)
    assert adopted.phase is Phase.IDLE


def test_a_mark_that_a_wish_knows_is_left_to_it() -> None:
    seen = world(view=MARKED)
    assert adopt({ALICE: wish()}, seen, 0.0) == []
    assert adopt({"x": wish(vm_id="x", before=touched())}, seen, 0.0) == []
    assert adopt({BOB: wish(vm_id=BOB)}, seen, 0.0) == []


def test_a_wish_about_other_cards_does_not_know_it() -> None:
    other = vm(BOB, wants=frozenset({"card-9"}))
    assert len(adopt({BOB: wish(vm_id=BOB)}, world(other, view=MARKED), 0.0)) == 1


def test_while_another_plays_there_is_nothing_to_put_back_yet() -> None:
    seen = world(vm(NODE, OFF), vm(BOB, RUNNING), view=MARKED)
    assert adopt({}, seen, 0.0) == []


def test_without_the_tower_nothing_is_adopted() -> None:
    assert adopt({}, world(tower=None, view=MARKED), 0.0) == []


def test_without_a_mark_nothing_is_adopted() -> None:
    assert adopt({}, world(), 0.0) == []
