"""The GPU node is a machine of the tower: it lives and dies with it."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.simulator import ALICE, GPU_NODE, Simulator
from tests.simulator.cluster.node_object import GPU, LEASES
from tests.simulator.cluster.pod_object import PodPlan


def node(sim: Simulator) -> dict[str, Any]:
    return sim.cluster.nodes["gpu1"]


def ready(sim: Simulator) -> str:
    return next(
        it["status"]
        for it in node(sim)["status"]["conditions"]
        if it["type"] == "Ready"
    )


def renewed(sim: Simulator) -> str:
    lease = sim.cluster.store.get("leases", "gpu1", LEASES)
    return str(lease["spec"]["renewTime"])


async def until(test: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not test():
            await asyncio.sleep(0.01)


async def test_it_stands_there_ready_with_its_cards(sim: Simulator) -> None:
    info = node(sim)["status"]["nodeInfo"]
    assert info["systemUUID"] == GPU_NODE
    assert ready(sim) == "True"
    assert node(sim)["status"]["allocatable"][GPU] == "2"


async def test_its_lease_is_renewed_while_it_runs(sim: Simulator) -> None:
    before = renewed(sim)
    await sim.clock.sleep(11)
    assert renewed(sim) != before


async def test_a_machine_that_is_off_still_passes_for_ready_for_a_while(
    sim: Simulator,
) -> None:
    sim.tower.vms[GPU_NODE].destroy()
    await sim.clock.sleep(2)
    before = renewed(sim)
    await sim.clock.sleep(12)
    assert renewed(sim) == before
    assert ready(sim) == "True"
    await until(lambda: ready(sim) == "Unknown")
    keys = [taint["key"] for taint in node(sim)["spec"]["taints"]]
    assert keys == ["node.kubernetes.io/unreachable"] * 2


async def test_a_boot_has_a_new_id_then_ready_then_cards(sim: Simulator) -> None:
    before = node(sim)["status"]["nodeInfo"]["bootID"]
    sim.tower.vms[GPU_NODE].destroy()
    await sim.tower.virsh("start", GPU_NODE)
    assert node(sim)["status"]["nodeInfo"]["bootID"] == before
    await until(lambda: node(sim)["status"]["nodeInfo"]["bootID"] != before)
    assert node(sim)["status"]["allocatable"][GPU] == "0"
    assert ready(sim) == "True"
    await until(lambda: node(sim)["status"]["allocatable"][GPU] == "2")


async def test_a_paused_machine_comes_back_without_a_boot(sim: Simulator) -> None:
    before = node(sim)["status"]["nodeInfo"]["bootID"]
    await sim.tower.virsh("suspend", GPU_NODE)
    await until(lambda: ready(sim) == "Unknown")
    await sim.tower.virsh("resume", GPU_NODE)
    await until(lambda: ready(sim) == "True")
    assert node(sim)["status"]["nodeInfo"]["bootID"] == before
    assert not node(sim)["spec"].get("taints")


async def test_a_pod_stays_terminating_while_its_node_is_off(sim: Simulator) -> None:
    sim.cluster.create_deployment("web", plan=PodPlan(prefers="gpu1"))
    await sim.cluster.settled()
    (name,) = sim.cluster.pods
    sim.tower.vms[GPU_NODE].destroy()
    await sim.clock.sleep(1)
    sim.cluster.store.delete("deployments", "web", "default")
    await sim.clock.sleep(10)
    assert "deletionTimestamp" in sim.cluster.pods[name]["metadata"]
    await sim.tower.virsh("start", GPU_NODE)
    await until(lambda: not sim.cluster.pods)


async def test_a_gpu_pod_of_before_the_boot_fails_and_is_made_anew(
    sim: Simulator,
) -> None:
    sim.cluster.create_deployment("train", plan=PodPlan(gpus=1))
    await sim.cluster.settled()
    (old,) = sim.cluster.pods
    sim.tower.vms[GPU_NODE].destroy()
    await sim.tower.virsh("start", GPU_NODE)
    await until(lambda: sim.cluster.pods[old]["status"]["phase"] == "Failed")
    assert sim.cluster.pods[old]["status"]["reason"] == "UnexpectedAdmissionError"
    await until(
        lambda: any(
            pod["status"]["phase"] == "Running" for pod in sim.cluster.pods.values()
        )
    )


async def test_a_volume_stays_attached_until_its_pod_has_gone(sim: Simulator) -> None:
    sim.cluster.create_pod("db", plan=PodPlan(claim="data", node="gpu1"))
    sim.cluster.volumes.add("data", "default")
    await sim.cluster.settled()
    (attachment,) = sim.cluster.store.items("volumeattachments")
    assert attachment["spec"]["nodeName"] == "gpu1"
    sim.cluster.delete_content()
    await until(lambda: not sim.cluster.store.items("volumeattachments"))


@pytest.mark.parametrize(
    ("style", "uuid"),
    [
        ("upper", "1111111A-2222-4333-8444-555555555555".upper()),
        ("swapped", "1a111111-2222-3343-8444-555555555555"),
    ],
)
async def test_firmware_may_write_the_uuid_its_own_way(style: str, uuid: str) -> None:
    sim = Simulator(speed=20)
    sim.cluster.knobs.uuid_style = style
    guest = sim.tower.vms.pop(GPU_NODE)
    guest.plan.uuid = "1111111a-2222-4333-8444-555555555555"
    sim.tower.vms[GPU_NODE] = guest
    async with sim:
        assert node(sim)["status"]["nodeInfo"]["systemUUID"] == uuid


async def test_a_reset_brings_the_house_back(sim: Simulator) -> None:
    await sim.tower.virsh("destroy", GPU_NODE)
    await sim.tower.virsh("start", ALICE)
    sim.cluster.cordon_by_hand("gpu1")
    sim.cluster.create_deployment("web")
    await sim.reset()
    assert sim.tower.vms[ALICE].power == "shut off"
    assert sim.tower.vms[GPU_NODE].steady
    assert "unschedulable" not in node(sim)["spec"]
    assert not sim.cluster.pods
