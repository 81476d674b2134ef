"""The loop: whole operations on a tower and a cluster that obey, refuse or fall silent."""

import asyncio
from dataclasses import replace
import logging

import pytest

from custom_components.gpu_handoff.handoff.operation import EventKind, Outcome
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason, Refused
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import ActKind, Agent, Fate, Power

from .fakes import Household
from .worlds import ALICE, BOB, CARD_1, CAROL, HOUSE, MARK, NODE, OFF, RUNNING, pod


@pytest.fixture
def home() -> Household:
    """The node runs, nobody plays."""
    return Household()


async def played(home: Household, vm_id: str = ALICE) -> None:
    """Hand a card over."""
    await home.heart.hand_over(vm_id)
    await home.settle()
    assert home.last(vm_id).outcome is Outcome.DONE


async def test_a_card_goes_over_and_comes_back(home: Household) -> None:
    home.cluster.set(pods=(pod(),))
    await played(home)
    assert (home.power(ALICE), home.power(NODE)) == (RUNNING, OFF)
    await home.heart.give_back(ALICE)
    await home.settle()
    assert home.last(ALICE).outcome is Outcome.DONE
    assert (home.power(ALICE), home.power(NODE)) == (OFF, RUNNING)
    assert home.cluster.acts == ["cordon", "evict", "uncordon"]
    assert home.heart.wishes == {}


async def test_each_phase_is_told_once(home: Household) -> None:
    home.cluster.set(pods=(pod(),))
    await played(home)
    told = [(event.kind, event.phase) for event in home.events]
    assert told == [
        (EventKind.STARTED, Phase.CHECKING),
        (EventKind.PHASE_CHANGED, Phase.CORDONING),
        (EventKind.PHASE_CHANGED, Phase.DRAINING),
        (EventKind.PHASE_CHANGED, Phase.STOPPING_NODE),
        (EventKind.PHASE_CHANGED, Phase.STARTING_VM),
        (EventKind.FINISHED, Phase.STARTING_VM),
    ]


async def test_what_we_have_open_is_let_go_before_a_start(home: Household) -> None:
    await played(home)
    assert home.tower.let_go_of == [CARD_1]


async def test_a_start_is_decided_on_a_fresh_measurement(home: Household) -> None:
    home.tower.set(NODE, OFF)
    await home.heart.hand_over(ALICE)
    before = home.tower.fresh
    await home.heart.step()
    assert home.tower.fresh == before + 1


async def test_pressing_on_twice_is_one_operation(home: Household) -> None:
    first = await home.heart.hand_over(ALICE)
    assert await home.heart.hand_over(ALICE) == first


async def test_pressing_off_twice_is_one_operation(home: Household) -> None:
    await played(home)
    first = await home.heart.give_back(ALICE)
    assert await home.heart.give_back(ALICE) == first


async def test_a_refusal_is_raised_at_once_and_touches_nothing(home: Household) -> None:
    home.tower.set(NODE, OFF)
    home.tower.set(BOB, RUNNING)
    with pytest.raises(Refused) as refused:
        await home.heart.hand_over(CAROL)
    assert refused.value.reason == Reason.of("card_in_use", player="Bob")
    assert home.last(CAROL).outcome is Outcome.REFUSED
    assert home.heart.wishes == {}
    assert home.tower.acts == []


async def test_only_gaming_machines_are_given_back(home: Household) -> None:
    with pytest.raises(Refused):
        await home.heart.give_back(NODE)


async def test_a_failed_start_puts_everything_back(home: Household) -> None:
    no_disk = HandoffError("act_failed", cause="no disk")
    home.tower.refuses[ActKind.START, ALICE] = no_disk
    operation = await home.heart.hand_over(ALICE)
    await home.settle()
    result = await home.heart.wait_for(operation)
    assert result.outcome is Outcome.FAILED
    assert result.phase is Phase.STARTING_VM
    assert result.reason == Reason.of("act_failed", cause="no disk")
    assert home.power(NODE) is RUNNING
    assert home.cluster.view.mark is None
    assert home.cluster.view.schedulable


async def test_a_blocked_drain_is_shown_with_its_pods(home: Household) -> None:
    why = Reason.of("pod_budget", budget="b")
    home.cluster.keeps_pods = True
    home.cluster.set(pods=(pod(why=why), pod(Fate.IGNORE)))
    await home.heart.hand_over(ALICE)
    await home.settle()
    view = home.heart.operations[ALICE]
    assert view.phase is Phase.DRAINING
    assert view.blockers == ("default/web",)
    assert view.target_on


async def test_a_wait_shows_what_it_waits_for(home: Household) -> None:
    home.boots(NODE)
    await home.heart.hand_over(ALICE)
    await home.settle()
    view = home.heart.operations[ALICE]
    assert view.phase is Phase.WAITING_FOR_AGENT
    assert view.waiting_for == Reason.of("waiting_for_agent", vm="Node")
    assert view.blockers == ()


async def test_off_before_the_first_eviction_is_a_silent_cancel(
    home: Household,
) -> None:
    home.cluster.keeps_pods = True
    home.cluster.set(pods=(pod(retry_at=1e9),))
    operation = await home.heart.hand_over(ALICE)
    await home.settle()
    assert await home.heart.give_back(ALICE) == operation
    await home.settle()
    assert home.last(ALICE).outcome is Outcome.CANCELLED
    assert home.cluster.view.schedulable
    assert home.tower.acts == []


async def test_off_again_while_undoing_changes_nothing(home: Household) -> None:
    home.cluster.refuses = HandoffError("cluster_timeout")
    operation = await home.heart.hand_over(ALICE)
    await home.settle(2)
    await home.heart.give_back(ALICE)
    assert await home.heart.give_back(ALICE) == operation


async def test_off_in_mid_boot_is_a_give_back(home: Household) -> None:
    await played(home)
    home.boots(ALICE)
    await home.heart.hand_over(ALICE)
    await home.settle()
    await home.heart.give_back(ALICE)
    await home.settle()
    assert home.heart.operations[ALICE].phase is Phase.WAITING_FOR_AGENT
    home.tower.set(ALICE, RUNNING)
    await home.settle()
    assert home.power(ALICE) is OFF
    assert home.power(NODE) is RUNNING


async def test_on_while_shutting_down_starts_again_without_the_cluster(
    home: Household,
) -> None:
    await played(home)
    home.tower.ignores.add((ActKind.SHUT_DOWN_BY_AGENT, ALICE))
    await home.heart.give_back(ALICE)
    await home.settle(2)
    home.cluster.acts.clear()
    await home.heart.hand_over(ALICE)
    await home.settle(2)
    assert home.heart.operations[ALICE].phase is Phase.STOPPING_VM
    home.tower.set(ALICE, OFF)
    await home.settle()
    assert home.power(ALICE) is RUNNING
    assert home.cluster.acts == []


async def test_a_give_back_is_cancelled_while_the_machine_still_runs(
    home: Household,
) -> None:
    await played(home)
    home.boots(ALICE)
    await home.heart.give_back(ALICE)
    await home.settle(2)
    await home.heart.cancel(ALICE)
    assert home.heart.wishes[ALICE].want is Want.PLAY


async def test_a_give_back_is_not_cancelled_once_the_machine_is_off(
    home: Household,
) -> None:
    await played(home)
    home.tower.ignores.add((ActKind.START, NODE))
    await home.heart.give_back(ALICE)
    await home.settle()
    with pytest.raises(Refused) as refused:
        await home.heart.cancel(ALICE)
    assert refused.value.reason.key == "too_late_to_cancel"


async def test_cancel_of_a_handover_puts_it_back(home: Household) -> None:
    home.cluster.keeps_pods = True
    home.cluster.set(pods=(pod(retry_at=1e9),))
    await home.heart.hand_over(ALICE)
    await home.settle()
    await home.heart.cancel(ALICE)
    await home.settle()
    assert home.last(ALICE).outcome is Outcome.CANCELLED


async def test_an_undo_cannot_be_cancelled_and_goes_on(home: Household) -> None:
    home.cluster.keeps_pods = True
    home.cluster.set(pods=(pod(retry_at=1e9),))
    await home.heart.hand_over(ALICE)
    await home.settle()
    home.cluster.refuses = HandoffError("cluster_timeout")
    await home.heart.cancel(ALICE)
    await home.settle()
    await home.heart.cancel(ALICE)
    assert home.heart.wishes[ALICE].want is Want.RESTORE


async def test_nothing_under_way_cannot_be_cancelled(home: Household) -> None:
    with pytest.raises(Refused) as refused:
        await home.heart.cancel(ALICE)
    assert refused.value.reason.key == "nothing_to_cancel"


@pytest.mark.parametrize("steps", range(1, 9))
async def test_a_restart_anywhere_changes_nothing(home: Household, steps: int) -> None:
    home.cluster.set(pods=(pod(),))
    await home.heart.hand_over(ALICE)
    await home.settle(steps)
    await home.restart()
    await home.settle()
    assert home.power(ALICE) is RUNNING
    assert home.last(ALICE).outcome is Outcome.DONE if steps < 5 else True
    assert home.heart.wishes[ALICE].settled


async def test_a_machine_that_stops_by_itself_gives_its_card_back(
    home: Household,
) -> None:
    await played(home)
    home.tower.set(ALICE, OFF)
    await home.settle()
    assert home.power(NODE) is OFF
    await home.later(31)
    assert home.power(NODE) is RUNNING
    assert home.last(ALICE).want is Want.LEND


async def test_on_in_the_grace_keeps_the_card(home: Household) -> None:
    await played(home)
    home.tower.set(ALICE, OFF)
    await home.settle()
    await home.heart.hand_over(ALICE)
    await home.settle()
    assert (home.power(ALICE), home.power(NODE)) == (RUNNING, OFF)


async def test_by_option_a_machine_that_stopped_is_forgotten() -> None:
    home = Household(replace(HOUSE, give_back_by_itself=False))
    await played(home)
    home.tower.set(ALICE, OFF)
    await home.settle()
    assert home.heart.wishes == {}


async def test_a_reached_wish_rests_while_the_tower_is_silent(home: Household) -> None:
    await played(home)
    home.tower.silent = "connection_lost"
    await home.later(1000)
    home.tower.silent = None
    await home.settle()
    assert home.heart.wishes[ALICE].settled


async def test_who_keeps_the_node_off_brings_it_back_later(home: Household) -> None:
    await played(home)
    home.tower.set(BOB, RUNNING)
    await home.heart.give_back(ALICE)
    await home.settle()
    assert home.last(ALICE).reason == Reason.of(
        "node_stays_off", node="Node", player="Bob"
    )
    assert home.heart.wishes[BOB].settled
    home.tower.set(BOB, OFF)
    await home.settle()
    await home.later(31)
    assert home.power(NODE) is RUNNING


async def test_who_uses_none_of_its_cards_does_not_matter(home: Household) -> None:
    await played(home)
    home.tower.set(CAROL, RUNNING, wants=frozenset({"card-9"}))
    home.tower.set(BOB, RUNNING)
    await home.heart.give_back(ALICE)
    await home.settle()
    assert CAROL not in home.heart.wishes


async def test_a_guest_that_crashes_needs_a_person_and_says_so_once(
    home: Household,
) -> None:
    await played(home)
    home.tower.set(ALICE, Power.CRASHED)
    operation = await home.heart.give_back(ALICE)
    await home.settle()
    result = await home.heart.wait_for(operation)
    assert result.outcome is Outcome.NEEDS_PERSON
    kinds = [event.kind for event in home.events]
    assert kinds.count(EventKind.NEEDS_PERSON) == 1
    assert home.heart.operations[ALICE].needs_person == result.reason
    home.tower.set(ALICE, OFF)
    await home.settle()
    assert home.last(ALICE).outcome is Outcome.DONE
    assert home.power(NODE) is RUNNING


async def test_a_machine_that_runs_after_all_keeps_its_card(home: Household) -> None:
    home.tower.ignores |= {(ActKind.START, ALICE), (ActKind.START, NODE)}
    await home.heart.hand_over(ALICE)
    await home.settle()
    assert home.heart.wishes[ALICE].want is Want.RESTORE
    home.tower.set(ALICE, RUNNING)
    await home.settle()
    assert home.heart.wishes[ALICE].settled


async def test_our_orphaned_cordon_is_undone(home: Household) -> None:
    home.cluster.set(schedulable=False, mark=MARK)
    await home.settle()
    assert home.cluster.view.mark is None
    assert home.last(ALICE).reason == Reason.of("journal_lost")


async def test_an_idle_tower_is_left_alone(home: Household) -> None:
    home.cluster.silent = "cluster_timeout"
    assert await home.heart.step() is None
    assert home.tower.fresh == 0


async def test_a_new_wish_is_refused_while_the_journal_cannot_be_written(
    home: Household, caplog: pytest.LogCaptureFixture
) -> None:
    home.journal.full = True
    for _ in range(2):
        with (
            caplog.at_level(logging.WARNING),
            pytest.raises(Refused) as refused,
        ):
            await home.heart.hand_over(ALICE)
    assert refused.value.reason.key == "journal_unwritable"
    assert home.heart.wishes == {}
    assert len(caplog.records) == 1


async def test_a_running_operation_goes_on_without_the_journal(home: Household) -> None:
    await home.heart.hand_over(ALICE)
    home.journal.full = True
    await home.settle()
    assert home.power(ALICE) is RUNNING


async def test_whoever_waits_gets_the_result_and_may_leave(home: Household) -> None:
    operation = await home.heart.hand_over(ALICE)
    impatient = asyncio.create_task(home.heart.wait_for(operation))
    patient = asyncio.create_task(home.heart.wait_for(operation))
    await asyncio.sleep(0)
    impatient.cancel()
    await home.settle()
    assert (await patient).outcome is Outcome.DONE
    assert (await home.heart.wait_for(operation)).outcome is Outcome.DONE


async def test_the_end_of_the_heart_ends_what_runs(home: Household) -> None:
    home.tower.set(NODE, OFF)
    home.tower.blocks = asyncio.Event()
    operation = await home.heart.hand_over(ALICE)
    waiting = asyncio.create_task(home.heart.wait_for(operation))
    await home.settle(2)
    await home.heart.stop()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_an_act_that_runs_is_not_sent_again(home: Household) -> None:
    home.tower.blocks = asyncio.Event()
    await home.heart.hand_over(ALICE)
    await home.settle()
    assert home.tower.acts == [(ActKind.SHUT_DOWN_BY_AGENT, NODE)]
    home.tower.blocks.set()
    await home.settle()
    assert home.power(ALICE) is RUNNING


async def test_preflight_changes_nothing(home: Household) -> None:
    home.cluster.set(pods=(pod(),))
    check = await home.heart.preflight(ALICE)
    assert check.refusal is None
    assert check.evicts == ("default/web",)
    assert home.heart.wishes == {}


async def test_a_household_without_a_cluster_plays_too() -> None:
    home = Household(replace(HOUSE, nodes={}))
    home.tower.set(NODE, OFF)
    await played(home)
    await home.heart.give_back(ALICE)
    await home.settle()
    assert home.power(ALICE) is OFF


async def test_the_loop_runs_by_itself_until_it_is_cancelled(home: Household) -> None:
    running = asyncio.create_task(home.heart.run())
    await home.heart.start()
    operation = await home.heart.hand_over(ALICE)
    async with asyncio.timeout(5):
        result = await home.heart.wait_for(operation)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert result.outcome is Outcome.DONE


async def test_the_loop_looks_again_at_a_deadline(home: Household) -> None:
    home.boots(ALICE)
    home.tower.set(NODE, OFF)
    home.house = replace(HOUSE, deadlines_s={"waiting_until_ready": 0.05})
    home.heart = home.new_heart()
    running = asyncio.create_task(home.heart.run())
    operation = await home.heart.hand_over(ALICE)
    await asyncio.sleep(0.01)
    home.now += 1
    async with asyncio.timeout(5):
        result = await home.heart.wait_for(operation)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert result.reason == Reason.of("ready_unconfirmed", vm="Alice")
    assert home.tower.view.vms[ALICE].agent is Agent.SILENT


async def test_only_the_last_results_are_kept(home: Household) -> None:
    home.tower.set(NODE, OFF)
    home.tower.set(BOB, RUNNING)
    for _ in range(60):
        with pytest.raises(Refused):
            await home.heart.hand_over(CAROL)
    assert len(home.heart._book.ended) == 50


async def test_two_wishes_for_one_node_are_one_act(home: Household) -> None:
    await home.heart.hand_over(ALICE)
    await home.heart.hand_over(BOB)
    await home.settle()
    assert home.cluster.acts == ["cordon"]
    assert home.tower.acts.count((ActKind.SHUT_DOWN_BY_AGENT, NODE)) == 1
    assert home.power(ALICE) is home.power(BOB) is RUNNING


async def test_a_silent_cluster_is_refused_at_once(home: Household) -> None:
    home.cluster.silent = "cluster_timeout"
    with pytest.raises(Refused) as refused:
        await home.heart.hand_over(ALICE)
    assert refused.value.reason.key == "cluster_timeout"


async def test_a_tower_that_falls_silent_at_once_is_refused_in_time(
    home: Household,
) -> None:
    await home.heart.hand_over(ALICE)
    home.tower.silent = "connection_lost"
    await home.settle()
    await home.later(31)
    assert home.last(ALICE).outcome is Outcome.REFUSED
    assert home.last(ALICE).reason == Reason.of("connection_lost")


async def test_a_wish_that_is_cancelled_while_it_is_written_does_nothing(
    home: Household,
) -> None:
    await home.heart.hand_over(ALICE)
    save = home.journal.save

    async def cancel_then_save(data: dict) -> None:
        home.journal.save = save  # type: ignore[method-assign]
        await home.heart.cancel(ALICE)
        await save(data)

    home.journal.save = cancel_then_save  # type: ignore[method-assign]
    await home.heart.step()
    assert home.cluster.acts == []
    await home.settle()
    assert home.last(ALICE).outcome is Outcome.CANCELLED
