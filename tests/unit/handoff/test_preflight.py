"""What a handover would do, without doing it."""

from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.preflight import Preflight, preflight
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import Fate, World

from .worlds import (
    ALICE,
    BOB,
    CAROL,
    NODE,
    OFF,
    RUNNING,
    node_view,
    pod,
    vm,
    wish,
    world,
)


def check(some_world: World, vm_id: str = ALICE, *others: object) -> Preflight:
    wishes = {other.vm_id: other for other in others}  # type: ignore[attr-defined]
    return preflight(vm_id, wishes, some_world, 0.0)


def test_it_names_what_would_be_stopped_and_moved() -> None:
    view = node_view(pods=(pod(), pod(Fate.IGNORE)))
    assert check(world(view=view)) == Preflight(
        refusal=None, stops=("Node",), evicts=("default/web",)
    )


def test_it_names_what_blocks() -> None:
    blocked = pod(Fate.BLOCKED, why=Reason.of("pod_unmanaged"))
    said = check(world(view=node_view(pods=(blocked,))))
    assert said.refusal == Reason.of("pod_unmanaged")
    assert said.blockers == ("default/web",)


def test_only_gaming_machines_can_play() -> None:
    assert check(world(), NODE).refusal == Reason.of("not_a_gaming_vm", vm=NODE)


def test_a_silent_cluster_is_a_refusal_at_once() -> None:
    said = check(world(view=None, nodes_why={NODE: Reason.of("cluster_timeout")}))
    assert said.refusal == Reason.of("cluster_timeout")


def test_a_silent_tower_is_a_refusal_at_once() -> None:
    said = check(world(tower=None, tower_why=Reason.of("connection_lost")))
    assert said == Preflight(refusal=Reason.of("connection_lost"))


def test_a_machine_that_runs_moves_nothing() -> None:
    assert check(world(vm(NODE, OFF), vm(ALICE, RUNNING))) == Preflight(refusal=None)


def test_a_players_card_is_refused() -> None:
    said = check(world(vm(NODE, OFF), vm(BOB, RUNNING)), CAROL)
    assert said.refusal == Reason.of("card_in_use", player="Bob")


def test_a_player_who_leaves_is_no_refusal() -> None:
    leaving = wish(Want.LEND, Phase.STOPPING_VM, vm_id=BOB)
    assert check(world(vm(NODE, OFF), vm(BOB, RUNNING)), CAROL, leaving).refusal is None
