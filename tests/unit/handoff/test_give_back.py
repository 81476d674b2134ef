"""A card goes home: the machine off, the node on, really usable, our cordon undone."""

from dataclasses import replace

import pytest

from custom_components.gpu_handoff.handoff.answers import (
    Act,
    Answer,
    Done,
    NeedsPerson,
    Wait,
)
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    GpuNode,
    Power,
    Sent,
)

from .worlds import (
    ALICE,
    BOB,
    CARD_1,
    CORDONED,
    HOUSE,
    NODE,
    OFF,
    RUNNING,
    answer,
    card,
    failed,
    late,
    node_view,
    touched,
    tower,
    vm,
    wish,
    world,
)

LEND = wish(Want.LEND, before=touched(stopped=True))
BACK = {**CORDONED, "boot_id": "boot-2"}
RESTORE = wish(
    Want.RESTORE, Phase.ROLLING_BACK, before=touched(stopped=True), failure=failed()
)


def act(said: Answer) -> tuple[ActKind, str, Phase]:
    assert isinstance(said, Act)
    return said.kind, said.vm_id, said.phase


def waits(said: Answer) -> tuple[Phase, str | None]:
    assert isinstance(said, Wait)
    return said.phase, said.because.key if said.because else None


# -- the machine ----------------------------------------------------------------------------


def test_the_machine_is_shut_down_through_its_agent() -> None:
    said = answer(LEND, world(vm(NODE, OFF), vm(ALICE, RUNNING)))
    assert act(said) == (ActKind.SHUT_DOWN_BY_AGENT, ALICE, Phase.STOPPING_VM)


def test_off_in_mid_boot_waits_for_the_agent() -> None:
    booting = vm(ALICE, RUNNING, agent=Agent.SILENT)
    said = answer(LEND, world(vm(NODE, OFF), booting))
    assert waits(said) == (Phase.WAITING_FOR_AGENT, "waiting_for_agent")


def test_a_sleeping_machine_is_woken_first() -> None:
    said = answer(LEND, world(vm(NODE, OFF), vm(ALICE, Power.SLEEPING)))
    assert act(said) == (ActKind.WAKE, ALICE, Phase.STOPPING_VM)


def test_a_machine_that_installs_updates_is_waited_for_and_a_person_is_told() -> None:
    stopping = late(replace(LEND, phase=Phase.STOPPING_VM))
    said = answer(stopping, world(vm(NODE, OFF), vm(ALICE, Power.STOPPING)))
    assert isinstance(said, Wait)
    assert said.late == Reason.of("late_stopping_vm", vm="Alice")


def test_a_crashed_machine_needs_a_person() -> None:
    said = answer(LEND, world(vm(NODE, OFF), vm(ALICE, Power.CRASHED)))
    assert said == NeedsPerson(
        reason=Reason.of("vm_crashed", vm="Alice"), phase=Phase.STOPPING_VM
    )


def test_a_machine_that_is_gone_holds_nothing_up() -> None:
    seen = tower(vm(NODE, OFF))
    vms = {vm_id: v for vm_id, v in seen.vms.items() if vm_id != ALICE}
    said = answer(LEND, world(tower=replace(seen, vms=vms)))
    assert act(said)[1] == NODE


# -- the node -------------------------------------------------------------------------------


def test_the_node_is_started() -> None:
    said = answer(LEND, world(vm(NODE, OFF)))
    assert act(said) == (ActKind.START, NODE, Phase.STARTING_NODE)


def test_a_node_that_does_not_start_is_tried_again_later() -> None:
    sent = {(ActKind.START, NODE): Sent(at=-5, returned_at=-5)}
    said = answer(LEND, world(vm(NODE, OFF), sent=sent))
    assert isinstance(said, Wait)
    assert said.until == 25.0


def test_the_node_stays_off_while_another_plays() -> None:
    said = answer(LEND, world(vm(NODE, OFF), vm(BOB, RUNNING)))
    assert said == Done(note=Reason.of("node_stays_off", node="Node", player="Bob"))


def test_the_node_stays_off_for_a_player_who_is_on_his_way() -> None:
    said = answer(LEND, world(vm(NODE, OFF)), wish(vm_id=BOB))
    assert said == Done(note=Reason.of("node_stays_off", node="Node", player="Bob"))


def test_the_node_is_not_started_while_a_rival_starts() -> None:
    sent = {(ActKind.START, BOB): Sent(at=-1)}
    said = answer(LEND, world(vm(NODE, OFF), sent=sent))
    assert waits(said) == (Phase.STARTING_NODE, "rival_starting")


def test_the_node_is_not_started_with_a_dead_card() -> None:
    dead = Reason.of("card_dead", card="x", address="0")
    said = answer(LEND, world(vm(NODE, OFF), cards={CARD_1: card(CARD_1, dead=dead)}))
    assert said == NeedsPerson(reason=dead, phase=Phase.STARTING_NODE)


def test_the_node_is_not_started_while_the_host_has_a_card_open() -> None:
    opened = card(CARD_1, opened_by=("Xorg",))
    said = answer(LEND, world(vm(NODE, OFF), cards={CARD_1: opened}))
    assert waits(said) == (Phase.STARTING_NODE, "card_open")


def test_a_card_that_was_never_seen_does_not_keep_the_node_off() -> None:
    strange = vm(NODE, OFF, wants=frozenset({CARD_1, "card-9"}))
    assert act(answer(LEND, world(strange)))[0] is ActKind.START


def test_a_crashed_node_needs_a_person() -> None:
    said = answer(LEND, world(vm(NODE, Power.CRASHED)))
    assert isinstance(said, NeedsPerson)
    assert said.reason.key == "node_crashed"


def test_a_paused_node_is_resumed() -> None:
    said = answer(LEND, world(vm(NODE, Power.PAUSED)))
    assert act(said) == (ActKind.RESUME, NODE, Phase.STARTING_NODE)


def test_a_node_that_was_told_to_stop_is_seen_off_first() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=-5, returned_at=-5)}
    said = answer(LEND, world(view=node_view(**CORDONED), sent=sent))
    assert waits(said) == (Phase.STOPPING_NODE, "vm_still_stopping")


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"boot_id": "boot-1"}, "node_not_restarted"),
        ({"lease_changed_at": None}, "node_lease_stale"),
        ({"lease_changed_at": -20.0}, "node_lease_stale"),
        ({"ready": False}, "node_not_ready"),
    ],
)
def test_ready_alone_is_not_usable(facts: dict, why: str) -> None:
    sent = {(ActKind.START, NODE): Sent(at=-10, returned_at=-9)}
    said = answer(LEND, world(view=node_view(**{**BACK, **facts}), sent=sent))
    assert waits(said) == (Phase.WAITING_FOR_NODE, why)


@pytest.mark.parametrize(
    ("facts", "why"),
    [
        ({"gpus": None}, "gpus_missing"),
        ({"gpus": 1}, "gpus_missing"),
        ({"gpus": 0, "gpus_why": Reason.of("gpus_none")}, "gpus_none"),
    ],
)
def test_a_node_without_all_its_cards_stays_cordoned(facts: dict, why: str) -> None:
    said = answer(LEND, world(view=node_view(**{**BACK, **facts})))
    assert waits(said) == (Phase.WAITING_FOR_GPUS, why)


def test_our_cordon_is_undone_at_last() -> None:
    said = answer(LEND, world(view=node_view(**BACK)))
    assert act(said) == (ActKind.UNCORDON, NODE, Phase.UNCORDONING)


def test_an_uncordon_that_fails_is_tried_again() -> None:
    why = Reason.of("cluster_timeout")
    sent = {(ActKind.UNCORDON, NODE): Sent(at=-2, returned_at=-2, failure=why)}
    said = answer(LEND, world(view=node_view(**BACK), sent=sent))
    assert said == Wait(phase=Phase.UNCORDONING, until=3.0, because=why)


def test_a_foreign_cordon_stays() -> None:
    foreign = node_view(schedulable=False, boot_id="boot-2")
    assert answer(LEND, world(view=foreign)) == Done()


def test_a_silent_cluster_is_waited_for_for_ever() -> None:
    waiting = late(replace(LEND, phase=Phase.WAITING_FOR_NODE))
    said = answer(waiting, world(view=None))
    assert isinstance(said, Wait)
    assert said.late is not None
    assert said.because == Reason.of("cluster_silent")


def test_a_node_that_never_stopped_is_just_uncordoned() -> None:
    never = wish(Want.LEND, before=touched())
    stale = node_view(**CORDONED, lease_changed_at=None, gpus=0)
    assert act(answer(never, world(view=stale)))[0] is ActKind.UNCORDON


def test_a_node_without_a_cluster_is_back_when_its_agent_answers() -> None:
    alone = replace(HOUSE, nodes={NODE: GpuNode(vm_id=NODE, in_cluster=False)})
    silent = vm(NODE, RUNNING, agent=Agent.SILENT)
    said = answer(LEND, world(silent, house=alone))
    assert waits(said) == (Phase.WAITING_FOR_NODE, "waiting_for_agent")
    assert answer(LEND, world(house=alone)) == Done()


def test_a_machine_without_a_home_is_done_when_it_is_off() -> None:
    alone = replace(HOUSE, nodes={})
    assert answer(wish(Want.LEND), world(house=alone)) == Done()


# -- undoing --------------------------------------------------------------------------------


def test_an_undo_starts_the_node_that_ran_before() -> None:
    assert act(answer(RESTORE, world(vm(NODE, OFF))))[0] is ActKind.START


def test_an_undo_leaves_a_node_off_that_was_off_before() -> None:
    was_off = replace(RESTORE, before=touched(stopped=True, running=False))
    assert answer(was_off, world(vm(NODE, OFF))) == Done()


def test_an_undo_of_a_cordon_uncordons() -> None:
    cordoned = replace(RESTORE, before=touched())
    said = answer(cordoned, world(view=node_view(**CORDONED)))
    assert act(said) == (ActKind.UNCORDON, NODE, Phase.ROLLING_BACK)


def test_a_machine_that_runs_after_all_is_left_alone() -> None:
    said = answer(RESTORE, world(vm(NODE, OFF), vm(ALICE, RUNNING)))
    assert said == Done(note=Reason.of("vm_runs_after_all", vm="Alice"))


# -- a wish that was reached ----------------------------------------------------------------

PLAYING = wish(phase=Phase.IDLE, settled=True, before=touched(stopped=True))


def test_nothing_is_done_while_she_plays() -> None:
    assert answer(PLAYING, world(vm(NODE, OFF), vm(ALICE, RUNNING))) == Done()


def test_a_machine_that_went_off_by_itself_is_given_a_grace() -> None:
    said = answer(PLAYING, world(vm(NODE, OFF)))
    assert waits(said) == (Phase.GRACE, "give_back_soon")


def test_after_the_grace_the_card_goes_home() -> None:
    over = late(replace(PLAYING, phase=Phase.GRACE))
    assert act(answer(over, world(vm(NODE, OFF))))[1] == NODE


def test_by_option_it_stays_off() -> None:
    stay = replace(HOUSE, give_back_by_itself=False)
    assert answer(PLAYING, world(vm(NODE, OFF), house=stay)) == Done()
