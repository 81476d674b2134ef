"""A whole handover and return, made by the product's own tower and cluster."""

import asyncio
from collections.abc import Callable

from custom_components.gpu_handoff.cluster.client import Api
from custom_components.gpu_handoff.cluster.cluster_node import ClusterNode
from custom_components.gpu_handoff.cluster.kubeconfig import read
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    Mark,
    NodeView,
    Power,
)
from custom_components.gpu_handoff.tower.discover import look_around
from custom_components.gpu_handoff.tower.ssh import Connection, Credentials
from custom_components.gpu_handoff.tower.tower import Tower
from tests.simulator import ALICE, GPU_NODE, Simulator
from tests.simulator.cluster.pod_object import PodPlan
from tests.simulator.process import simulator_apart


async def node_until(node: ClusterNode, test: Callable[[NodeView], bool]) -> NodeView:
    async with asyncio.timeout(10):
        while not test(view := await node.measure()):
            await asyncio.sleep(0.02)
    return view


async def power_until(tower: Tower, vm: str, power: Power) -> None:
    async with asyncio.timeout(10):
        while (await tower.measure(fresh=False)).vms[vm].power is not power:
            await asyncio.sleep(0.02)


async def test_a_card_goes_to_a_player_and_comes_back(sim: Simulator) -> None:
    sim.cluster.create_deployment("web", plan=PodPlan(prefers="gpu1"))
    await sim.cluster.settled()
    connection = Connection(
        Credentials(
            host=sim.ssh_host,
            port=sim.ssh_port,
            username=sim.username,
            host_key=sim.host_key,
            private_key=sim.client_private_key,
        )
    )
    found = await look_around(connection)
    tower = Tower(connection, known_cards=found.known_cards, on_change=lambda: None)
    api = Api(read(sim.kubeconfig))
    node = ClusterNode(api, "gpu1", expected_gpus=2, on_change=lambda: None)
    running = [asyncio.create_task(work.run()) for work in (tower, node)]
    try:
        before = await node.measure()
        await node.cordon(Mark(operation="op", vm_id=GPU_NODE, boot_id=before.boot_id))
        await node_until(node, lambda view: not view.schedulable)
        await node.evict()
        await node_until(node, lambda view: not view.pods)
        await tower.act(ActKind.SHUT_DOWN_BY_AGENT, GPU_NODE)
        await power_until(tower, GPU_NODE, Power.OFF)
        await tower.act(ActKind.START, ALICE)
        view = await tower.measure(fresh=True)
        assert len(view.vms[ALICE].holds) == 1
        await sim.clock.sleep(8)
        alice = (await tower.measure(fresh=False)).vms[ALICE]
        assert alice.agent is Agent.CONNECTED
        await tower.act(ActKind.SHUT_DOWN_BY_AGENT, ALICE)
        await power_until(tower, ALICE, Power.OFF)
        await tower.act(ActKind.START, GPU_NODE)
        await node_until(
            node, lambda view: view.boot_id != before.boot_id and view.gpus == 2
        )
        await node.uncordon()
        await node_until(node, lambda view: view.schedulable and view.mark is None)
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await node.close()
        await api.close()
        await tower.close()


async def test_it_also_runs_in_a_process_of_its_own() -> None:
    async with simulator_apart(20.0, "--bare") as apart:
        assert apart.facts["ssh_port"]
        assert await apart.say("cordon") == "node/gpu1 cordoned"
