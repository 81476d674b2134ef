"""What the cluster's side sees and does, on both stages."""

from custom_components.gpu_handoff.cluster.nodes import find_nodes, node_of
from custom_components.gpu_handoff.handoff.world import Fate, Mark, NodeView

from .crew import Crew
from .stage import ALICE, GPU_NODE, NODE, Stage

MARK = Mark(operation="0123456789ab", vm_id=ALICE, boot_id="before")


async def test_the_node_is_found_by_its_machine_and_not_by_its_name(crew: Crew) -> None:
    found = node_of(GPU_NODE, await find_nodes(crew.api))
    assert found is not None
    assert (found.name, found.gpus, found.ready) == (NODE, 2, True)


async def test_the_lease_is_seen_to_change(crew: Crew) -> None:
    await crew.until(lambda: view(crew).lease_changed_at is not None)


async def test_our_cordon_carries_our_mark_and_is_undone(crew: Crew) -> None:
    await crew.node.cordon(MARK)
    assert (view(crew).schedulable, view(crew).mark) == (False, MARK)
    await crew.node.uncordon()
    assert (view(crew).schedulable, view(crew).mark) == (True, None)


async def test_a_cordon_set_by_a_person_stays(crew: Crew, stage: Stage) -> None:
    await stage.cordon_by_hand()
    await crew.node.cordon(MARK)
    await crew.node.uncordon()
    node = await stage.node()
    assert node["spec"]["unschedulable"] is True
    assert "gpu-handoff/cordoned-by" not in node["metadata"].get("annotations", {})


async def test_a_pod_is_evicted_and_goes(crew: Crew, stage: Stage) -> None:
    await stage.create_deployment("web")
    await crew.until(lambda: bool(evictable(crew)))
    await crew.node.cordon(MARK)
    await crew.node.evict()
    await crew.until(lambda: not evictable(crew))


async def test_a_spent_budget_is_named(crew: Crew, stage: Stage) -> None:
    await stage.create_deployment("web", labels={"app": "web"})
    await stage.create_budget("web-budget", {"app": "web"}, min_available=1)
    await crew.until(lambda: bool(evictable(crew)))
    await crew.node.evict()
    (pod,) = evictable(crew)
    assert pod.why is not None
    assert pod.why.placeholders["budget"] == "web-budget"
    assert not pod.final


async def test_two_budgets_on_a_pod_are_final_and_both_named(
    crew: Crew, stage: Stage
) -> None:
    await stage.create_deployment("web", labels={"app": "web"})
    for name in ("one", "two"):
        await stage.create_budget(name, {"app": "web"}, max_unavailable=1)
    await crew.until(lambda: bool(evictable(crew)))
    await crew.node.evict()
    (pod,) = evictable(crew)
    assert pod.final
    assert pod.why is not None
    assert pod.why.placeholders["budgets"] == "one, two"


async def test_a_restart_of_the_api_server_is_lived_through(
    crew: Crew, stage: Stage
) -> None:
    await stage.stop_api()
    await crew.until(lambda: crew.node.problem is not None)
    await stage.start_api()
    await crew.until(lambda: crew.node.view is not None)
    await stage.cordon_by_hand()
    await crew.until(lambda: not view(crew).schedulable)


def view(crew: Crew) -> NodeView:
    """The node as the cluster's side has it now."""
    assert crew.node.view is not None
    return crew.node.view


def evictable(crew: Crew) -> list:
    """Pods that a drain would move."""
    return [pod for pod in view(crew).pods if pod.fate is Fate.EVICT]
