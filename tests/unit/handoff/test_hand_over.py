"""A machine shall play: what is next."""

import pytest

from custom_components.gpu_handoff.handoff.answers import (
    Act,
    Done,
    NeedsPerson,
    Refuse,
    RollBack,
    Wait,
)
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import ActKind, Agent, Power, Sent

from .worlds import (
    ALICE,
    BOB,
    CARD_1,
    CARD_2,
    CAROL,
    LONG_AGO,
    NODE,
    OFF,
    RUNNING,
    answer,
    card,
    late,
    touched,
    tower,
    vm,
    wish,
    world,
)

FREE = vm(NODE, OFF)


def test_the_node_is_cordoned_first() -> None:
    assert answer(wish(), world()) == Act(
        kind=ActKind.CORDON, vm_id=NODE, phase=Phase.CORDONING
    )


def test_free_cards_let_the_machine_start() -> None:
    assert answer(wish(), world(FREE)) == Act(
        kind=ActKind.START, vm_id=ALICE, phase=Phase.STARTING_VM
    )


def test_a_machine_that_runs_with_its_agent_is_done() -> None:
    assert answer(wish(), world(FREE, vm(ALICE, RUNNING))) == Done()


def test_a_machine_without_an_agent_channel_is_done_when_it_runs() -> None:
    running = vm(ALICE, RUNNING, agent=Agent.NONE)
    assert answer(wish(), world(FREE, running)) == Done()


def test_a_silent_agent_is_waited_for() -> None:
    said = answer(wish(), world(FREE, vm(ALICE, RUNNING, agent=Agent.SILENT)))
    assert isinstance(said, Wait)
    assert said.phase is Phase.WAITING_UNTIL_READY


def test_an_agent_that_never_answers_is_a_warning_and_no_failure() -> None:
    silent = world(FREE, vm(ALICE, RUNNING, agent=Agent.SILENT))
    said = answer(late(wish(phase=Phase.WAITING_UNTIL_READY)), silent)
    assert said == Done(note=Reason.of("ready_unconfirmed", vm="Alice"))


@pytest.mark.parametrize(
    ("power", "kind"),
    [(Power.PAUSED, ActKind.RESUME), (Power.SLEEPING, ActKind.WAKE)],
)
def test_a_machine_between_off_and_on_is_brought_on(
    power: Power, kind: ActKind
) -> None:
    said = answer(wish(), world(FREE, vm(ALICE, power)))
    assert said == Act(kind=kind, vm_id=ALICE, phase=Phase.STARTING_VM)


def test_a_machine_that_shuts_down_is_waited_for_and_then_started() -> None:
    said = answer(wish(), world(FREE, vm(ALICE, Power.STOPPING)))
    assert isinstance(said, Wait)
    assert said.phase is Phase.STOPPING_VM


def test_on_while_shutting_down_waits_for_the_end() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, ALICE): Sent(at=-5, returned_at=-5)}
    said = answer(wish(), world(FREE, vm(ALICE, RUNNING), sent=sent))
    assert isinstance(said, Wait)
    assert said.phase is Phase.STOPPING_VM


def test_a_shutdown_order_that_was_ignored_is_forgotten() -> None:
    sent = {
        (ActKind.SHUT_DOWN_BY_AGENT, ALICE): Sent(at=LONG_AGO, returned_at=LONG_AGO)
    }
    assert answer(wish(), world(FREE, vm(ALICE, RUNNING), sent=sent)) == Done()


def test_a_crashed_guest_is_refused() -> None:
    said = answer(wish(), world(FREE, vm(ALICE, Power.CRASHED)))
    assert said == Refuse(reason=Reason.of("vm_crashed", vm="Alice"))


def test_a_guest_that_crashes_on_the_way_needs_a_person() -> None:
    crashed = world(FREE, vm(ALICE, Power.CRASHED))
    said = answer(wish(phase=Phase.WAITING_UNTIL_READY, before=touched()), crashed)
    assert isinstance(said, NeedsPerson)


def test_an_unknown_state_is_never_off() -> None:
    said = answer(wish(), world(FREE, vm(ALICE, Power.UNKNOWN)))
    assert isinstance(said, Wait)
    assert said.phase is Phase.CHECKING


def test_an_unknown_state_that_stays_is_refused() -> None:
    said = answer(late(wish()), world(FREE, vm(ALICE, Power.UNKNOWN)))
    assert said == Refuse(reason=Reason.of("vm_state_unknown", vm="Alice"))


def test_a_machine_that_ran_and_stopped_is_rolled_back() -> None:
    said = answer(
        wish(phase=Phase.WAITING_UNTIL_READY, before=touched(stopped=True)), world(FREE)
    )
    assert said == RollBack(
        reason=Reason.of("vm_stopped_while_starting", vm="Alice"),
        phase=Phase.WAITING_UNTIL_READY,
    )


def test_a_machine_that_is_gone_is_refused() -> None:
    seen = tower()
    del seen.vms[ALICE]  # type: ignore[attr-defined]
    said = answer(wish(), world(tower=seen))
    assert said == Refuse(reason=Reason.of("vm_gone", vm=ALICE))


def test_a_machine_without_cards_just_starts() -> None:
    bare = vm(ALICE, wants=frozenset())
    said = answer(wish(), world(bare))
    assert isinstance(said, Act)
    assert said.kind is ActKind.START


@pytest.mark.parametrize("cards", [{CARD_1: card(CARD_1, missing=True)}])
def test_a_missing_card_is_refused(cards: dict) -> None:
    said = answer(wish(), world(FREE, cards=cards))
    assert isinstance(said, Refuse)
    assert said.reason.key == "card_missing"


def test_a_card_that_was_never_seen_is_refused_too() -> None:
    strange = vm(ALICE, wants=frozenset({"card-9"}))
    said = answer(wish(), world(FREE, strange))
    assert isinstance(said, Refuse)
    assert said.reason.key == "card_missing"


def test_a_dead_card_is_refused_with_its_own_reason() -> None:
    dead = Reason.of("card_dead", card="x", address="0")
    said = answer(wish(), world(FREE, cards={CARD_1: card(CARD_1, dead=dead)}))
    assert said == Refuse(reason=dead)


def test_a_card_that_the_host_has_open_is_refused_and_names_who() -> None:
    opened = card(CARD_1, opened_by=("Xorg", "ollama"))
    said = answer(wish(), world(FREE, cards={CARD_1: opened}))
    assert said == Refuse(
        reason=Reason.of("card_open", card="Model card-1", who="Xorg, ollama")
    )


def test_a_card_is_never_taken_from_a_player() -> None:
    said = answer(wish(vm_id=CAROL), world(FREE, vm(BOB, RUNNING)))
    assert said == Refuse(reason=Reason.of("card_in_use", player="Bob"))


def test_a_crashed_player_still_holds_the_card() -> None:
    said = answer(wish(vm_id=CAROL), world(FREE, vm(BOB, Power.CRASHED)))
    assert said == Refuse(reason=Reason.of("holder_crashed", player="Bob"))


def test_a_player_who_leaves_is_waited_for() -> None:
    leaving = wish(Want.LEND, vm_id=BOB)
    said = answer(wish(vm_id=CAROL), world(FREE, vm(BOB, RUNNING)), leaving)
    assert isinstance(said, Wait)
    assert said.phase is Phase.QUEUED


def test_a_player_who_does_not_leave_in_time_keeps_the_card() -> None:
    leaving = wish(Want.LEND, vm_id=BOB)
    queued = late(wish(vm_id=CAROL, phase=Phase.QUEUED))
    said = answer(queued, world(FREE, vm(BOB, RUNNING)), leaving)
    assert said == Refuse(reason=Reason.of("card_in_use", player="Bob"))


def test_of_two_wishes_for_one_card_the_first_wins() -> None:
    first = wish(vm_id=BOB)
    said = answer(wish(vm_id=CAROL), world(FREE), first)
    assert said == Refuse(reason=Reason.of("card_promised", player="Bob"))


def test_a_wish_for_another_card_is_no_rival() -> None:
    first = wish(vm_id=BOB)
    said = answer(wish(), world(FREE), first)
    assert isinstance(said, Act)


def test_a_reached_wish_of_a_machine_that_is_off_is_no_rival() -> None:
    first = wish(vm_id=BOB, settled=True, phase=Phase.IDLE)
    assert isinstance(answer(wish(vm_id=CAROL), world(FREE), first), Act)


def test_a_start_of_a_rival_is_waited_for() -> None:
    sent = {(ActKind.START, NODE): Sent(at=-1)}
    said = answer(wish(), world(FREE, sent=sent))
    assert isinstance(said, Wait)
    assert said.phase is Phase.QUEUED


def test_a_start_on_its_way_is_waited_for() -> None:
    sent = {(ActKind.START, ALICE): Sent(at=0)}
    said = answer(wish(phase=Phase.STARTING_VM), world(FREE, sent=sent))
    assert isinstance(said, Wait)
    assert said.phase is Phase.STARTING_VM


def test_a_start_that_does_not_return_is_rolled_back() -> None:
    sent = {(ActKind.START, ALICE): Sent(at=LONG_AGO)}
    said = answer(late(wish(phase=Phase.STARTING_VM)), world(FREE, sent=sent))
    assert isinstance(said, RollBack)
    assert said.reason.key == "start_timeout"


def test_still_off_after_the_start_returned_is_a_failure_with_libvirts_cause() -> None:
    cause = Reason.of("act_failed", cause="no such file")
    sent = {(ActKind.START, ALICE): Sent(at=0, returned_at=0, failure=cause)}
    said = answer(wish(phase=Phase.STARTING_VM), world(FREE, sent=sent))
    assert said == RollBack(reason=cause, phase=Phase.STARTING_VM)


def test_a_start_that_did_nothing_and_said_nothing_is_a_failure() -> None:
    sent = {(ActKind.START, ALICE): Sent(at=0, returned_at=0)}
    said = answer(wish(phase=Phase.STARTING_VM), world(FREE, sent=sent))
    assert isinstance(said, RollBack)
    assert said.reason.key == "start_did_nothing"


def test_the_start_of_an_earlier_operation_does_not_count() -> None:
    sent = {(ActKind.START, ALICE): Sent(at=-50, returned_at=-40)}
    said = answer(wish(), world(FREE, sent=sent))
    assert isinstance(said, Act)


def test_a_resume_is_not_sent_twice_at_once() -> None:
    sent = {(ActKind.RESUME, ALICE): Sent(at=-1)}
    paused = world(FREE, vm(ALICE, Power.PAUSED), sent=sent)
    assert isinstance(answer(wish(), paused), Wait)


def test_a_card_of_another_slot_held_by_a_player_does_not_matter() -> None:
    said = answer(wish(), world(FREE, vm(BOB, RUNNING)))
    assert isinstance(said, Act)
    assert said.vm_id == ALICE
    assert CARD_2 in vm(BOB).wants
