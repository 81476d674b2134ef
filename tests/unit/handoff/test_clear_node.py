"""Getting the node off its cards: cordon, drain, agent, shutdown; each with its deadline."""

from dataclasses import replace

import pytest

from custom_components.gpu_handoff.handoff.answers import (
    Act,
    Answer,
    Refuse,
    RollBack,
    Wait,
)
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    DrainPolicy,
    Fate,
    GpuNode,
    Power,
    Sent,
)

from .worlds import (
    ALICE,
    CORDONED,
    HOUSE,
    LONG_AGO,
    NODE,
    RUNNING,
    answer,
    late,
    node_view,
    pod,
    touched,
    vm,
    wish,
    world,
)

WHY = Reason.of("pod_budget", pod="default/web", budget="b", healthy=1, desired=1)
STOPPING = wish(phase=Phase.STOPPING_NODE, before=touched())
DRAINING = wish(phase=Phase.DRAINING, before=touched())


def act(said: Answer) -> tuple[ActKind, Phase]:
    assert isinstance(said, Act)
    assert said.vm_id == NODE
    return said.kind, said.phase


def waits_in(said: Answer) -> Phase:
    assert isinstance(said, Wait)
    return said.phase


# -- cordon ---------------------------------------------------------------------------------


def test_a_blocked_pod_refuses_before_anything_is_touched() -> None:
    blocked = node_view(pods=(pod(Fate.BLOCKED, why=Reason.of("pod_unmanaged")),))
    assert answer(wish(), world(view=blocked)) == Refuse(
        reason=Reason.of("pod_unmanaged")
    )


def test_a_blocked_pod_without_a_reason_is_named_all_the_same() -> None:
    said = answer(wish(), world(view=node_view(pods=(pod(Fate.BLOCKED),))))
    assert said == Refuse(reason=Reason.of("pod_blocks", pod="default/web"))


def test_a_pod_that_no_waiting_moves_ends_the_drain_at_once() -> None:
    stuck = node_view(**CORDONED, pods=(pod(final=True, why=WHY),))
    assert answer(DRAINING, world(view=stuck)) == RollBack(
        reason=WHY, phase=Phase.DRAINING
    )


def test_a_cordon_on_its_way_is_waited_for() -> None:
    sent = {(ActKind.CORDON, NODE): Sent(at=0)}
    assert waits_in(answer(wish(), world(sent=sent))) is Phase.CORDONING


def test_a_cordon_that_failed_is_tried_again() -> None:
    sent = {(ActKind.CORDON, NODE): Sent(at=-9, returned_at=-9)}
    said = answer(wish(phase=Phase.CORDONING), world(sent=sent))
    assert act(said) == (ActKind.CORDON, Phase.CORDONING)


@pytest.mark.parametrize("sent", [{}, {(ActKind.CORDON, NODE): Sent(at=0)}])
def test_a_cordon_that_does_not_come_is_undone(sent: dict) -> None:
    cordoning = late(wish(phase=Phase.CORDONING, before=touched()))
    said = answer(cordoning, world(sent=sent))
    assert said == RollBack(
        reason=Reason.of("cordon_failed", node="gpu1"), phase=Phase.CORDONING
    )


def test_a_foreign_cordon_is_enough() -> None:
    foreign = node_view(schedulable=False)
    assert act(answer(wish(), world(view=foreign))) == (
        ActKind.SHUT_DOWN_BY_AGENT,
        Phase.STOPPING_NODE,
    )


def test_a_silent_cluster_is_waited_for_then_refused() -> None:
    silent = world(view=None, nodes_why={NODE: Reason.of("cluster_timeout")})
    assert waits_in(answer(wish(), silent)) is Phase.CHECKING
    assert answer(late(wish()), silent) == Refuse(reason=Reason.of("cluster_timeout"))


def test_a_cluster_that_falls_silent_in_the_drain_is_rolled_back_at_the_deadline() -> (
    None
):
    assert waits_in(answer(DRAINING, world(view=None))) is Phase.DRAINING
    said = answer(late(DRAINING), world(view=None))
    assert said == RollBack(reason=Reason.of("cluster_silent"), phase=Phase.DRAINING)


def test_a_silent_cluster_after_another_phase_is_checked_anew() -> None:
    starting = wish(phase=Phase.STARTING_VM, before=touched())
    assert waits_in(answer(starting, world(view=None))) is Phase.CHECKING


def test_a_node_without_a_cluster_is_only_shut_down() -> None:
    alone = replace(HOUSE, nodes={NODE: GpuNode(vm_id=NODE, in_cluster=False)})
    assert act(answer(wish(), world(view=None, house=alone))) == (
        ActKind.SHUT_DOWN_BY_AGENT,
        Phase.STOPPING_NODE,
    )


# -- drain ----------------------------------------------------------------------------------


def test_pods_are_evicted_after_the_cordon() -> None:
    view = node_view(**CORDONED, pods=(pod(),))
    assert act(answer(wish(phase=Phase.CORDONING), world(view=view))) == (
        ActKind.EVICT,
        Phase.DRAINING,
    )


def test_pods_that_a_drain_leaves_alone_do_not_count() -> None:
    view = node_view(**CORDONED, pods=(pod(Fate.IGNORE),))
    assert act(answer(DRAINING, world(view=view)))[0] is ActKind.SHUT_DOWN_BY_AGENT


def test_an_eviction_on_its_way_is_waited_for() -> None:
    view = node_view(**CORDONED, pods=(pod(why=WHY),))
    sent = {(ActKind.EVICT, NODE): Sent(at=0)}
    said = answer(DRAINING, world(view=view, sent=sent))
    assert isinstance(said, Wait)
    assert said.because == WHY


def test_a_pod_is_not_evicted_again_before_its_time() -> None:
    view = node_view(**CORDONED, pods=(pod(retry_at=5.0, why=WHY),))
    said = answer(DRAINING, world(view=view))
    assert said == Wait(phase=Phase.DRAINING, until=5.0, because=WHY)
    assert act(answer(DRAINING, world(view=view), now=5.0))[0] is ActKind.EVICT


def test_a_pod_that_leaves_is_waited_for_and_not_evicted_again() -> None:
    view = node_view(**CORDONED, pods=(pod(Fate.LEAVING),))
    said = answer(DRAINING, world(view=view))
    assert said == Wait(phase=Phase.DRAINING, until=600.0, because=None)


def test_a_drain_that_is_late_is_rolled_back_and_says_who_blocks() -> None:
    view = node_view(**CORDONED, pods=(pod(why=WHY),))
    assert answer(late(DRAINING), world(view=view)) == RollBack(
        reason=WHY, phase=Phase.DRAINING
    )


def test_a_late_drain_without_a_reason_names_the_pods() -> None:
    view = node_view(**CORDONED, pods=(pod(Fate.LEAVING),))
    said = answer(late(DRAINING), world(view=view))
    assert isinstance(said, RollBack)
    assert said.reason.placeholders["pods"] == "default/web"


def test_by_policy_a_late_drain_goes_on_to_the_clean_shutdown() -> None:
    view = node_view(**CORDONED, pods=(pod(why=WHY),))
    house = replace(HOUSE, drain_policy=DrainPolicy.GO_ON)
    said = answer(late(DRAINING), world(view=view, house=house))
    assert act(said) == (ActKind.SHUT_DOWN_BY_AGENT, Phase.STOPPING_NODE)


def test_deadlines_are_options() -> None:
    view = node_view(**CORDONED, pods=(pod(why=WHY),))
    house = replace(HOUSE, deadlines_s={"draining": 5.0})
    short = replace(DRAINING, phase_since=-6.0)
    assert isinstance(answer(short, world(view=view, house=house)), RollBack)


def test_volumes_get_a_bounded_time_to_be_detached() -> None:
    view = node_view(**CORDONED, volumes=("pv-1",))
    sent = {(ActKind.EVICT, NODE): Sent(at=-10, returned_at=-10)}
    said = answer(DRAINING, world(view=view, sent=sent))
    assert said == Wait(
        phase=Phase.DRAINING,
        until=50.0,
        because=Reason.of("volumes_attached", volumes="pv-1"),
    )
    gone_on = answer(DRAINING, world(view=view, sent=sent), now=50.0)
    assert act(gone_on)[0] is ActKind.SHUT_DOWN_BY_AGENT


def test_volumes_of_an_unknown_eviction_are_not_waited_for() -> None:
    view = node_view(**CORDONED, volumes=("pv-1",))
    assert act(answer(DRAINING, world(view=view)))[0] is ActKind.SHUT_DOWN_BY_AGENT


# -- agent and shutdown ---------------------------------------------------------------------


def test_the_agent_is_waited_for_before_any_stop() -> None:
    booting = vm(NODE, RUNNING, agent=Agent.SILENT)
    view = node_view(**CORDONED)
    said = answer(DRAINING, world(booting, view=view))
    assert waits_in(said) is Phase.WAITING_FOR_AGENT


def test_an_agent_that_never_comes_is_replaced_by_the_power_button() -> None:
    booting = vm(NODE, RUNNING, agent=Agent.SILENT)
    waiting = late(wish(phase=Phase.WAITING_FOR_AGENT, before=touched()))
    assert act(answer(waiting, world(booting))) == (
        ActKind.SHUT_DOWN_BY_ACPI,
        Phase.STOPPING_NODE,
    )


def test_a_machine_without_agent_gets_the_power_button_at_once() -> None:
    bare = vm(NODE, RUNNING, agent=Agent.NONE)
    said = answer(DRAINING, world(bare, view=node_view(**CORDONED)))
    assert act(said)[0] is ActKind.SHUT_DOWN_BY_ACPI


def test_a_shutdown_that_blocks_is_waited_for() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=-40)}
    assert waits_in(answer(STOPPING, world(sent=sent))) is Phase.STOPPING_NODE


def test_a_shutdown_that_was_swallowed_is_sent_again() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=-5, returned_at=-5)}
    said = answer(STOPPING, world(sent=sent))
    assert isinstance(said, Wait)
    assert said.until == 25.0
    again = answer(STOPPING, world(sent=sent), now=25.0)
    assert act(again)[0] is ActKind.SHUT_DOWN_BY_AGENT


def test_after_a_while_the_power_button_takes_over() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=-35, returned_at=-35)}
    stopping = replace(STOPPING, phase_since=-65.0)
    assert act(answer(stopping, world(sent=sent)))[0] is ActKind.SHUT_DOWN_BY_ACPI


def test_an_agent_that_left_during_the_shutdown_is_not_waited_for_anew() -> None:
    leaving = vm(NODE, RUNNING, agent=Agent.SILENT)
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=-5, returned_at=-5)}
    said = answer(STOPPING, world(leaving, sent=sent))
    assert waits_in(said) is Phase.STOPPING_NODE


def test_a_node_that_does_not_stop_is_left_running() -> None:
    said = answer(late(STOPPING), world())
    assert said == RollBack(
        reason=Reason.of("node_did_not_stop", node="Node"), phase=Phase.STOPPING_NODE
    )


def test_past_the_drain_the_cluster_is_not_asked_again() -> None:
    view = node_view(pods=(pod(),))
    said = answer(STOPPING, world(view=view))
    assert act(said)[0] is ActKind.SHUT_DOWN_BY_AGENT


# -- a node between off and on --------------------------------------------------------------


def test_a_paused_node_is_resumed_before_it_is_drained() -> None:
    said = answer(wish(), world(vm(NODE, Power.PAUSED)))
    assert act(said) == (ActKind.RESUME, Phase.CORDONING)


def test_a_node_that_stops_by_itself_is_waited_for() -> None:
    said = answer(wish(), world(vm(NODE, Power.STOPPING)))
    assert waits_in(said) is Phase.STOPPING_NODE


def test_a_node_that_does_not_wake_up_is_given_up() -> None:
    cordoning = late(wish(phase=Phase.CORDONING, before=touched()))
    said = answer(cordoning, world(vm(NODE, Power.SLEEPING)))
    assert isinstance(said, RollBack)
    assert said.reason.key == "node_not_awake"


def test_a_crashed_node_is_refused() -> None:
    said = answer(wish(), world(vm(NODE, Power.CRASHED)))
    assert said == Refuse(reason=Reason.of("node_crashed", node="Node"))


def test_nothing_is_done_to_a_node_that_is_gone() -> None:
    seen = world().tower
    assert seen is not None
    vms = {vm_id: v for vm_id, v in seen.vms.items() if vm_id != NODE}
    said = answer(wish(), world(tower=replace(seen, vms=vms)))
    assert isinstance(said, Act)
    assert said.vm_id == ALICE


def test_old_orders_are_no_orders() -> None:
    sent = {(ActKind.SHUT_DOWN_BY_AGENT, NODE): Sent(at=LONG_AGO, returned_at=LONG_AGO)}
    assert act(answer(STOPPING, world(sent=sent)))[0] is ActKind.SHUT_DOWN_BY_AGENT
