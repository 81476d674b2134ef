"""virsh's own words, as they were recorded from the real one."""

import asyncio
import xml.etree.ElementTree as ET

from tests.simulator import ALICE, BOB, GPU_NODE, House, Simulator, VmPlan
from tests.simulator.house import CARD_1, default_house


async def test_the_list_is_a_table(sim: Simulator) -> None:
    output = await sim.tower.virsh("list", "--all")
    assert output.stdout.splitlines()[:3] == [
        " Id   Name           State",
        "-------------------------------",
        " 1    gpu-node       running",
    ]


async def test_uuids_and_names_come_raw(sim: Simulator) -> None:
    output = await sim.tower.virsh("list", "--all", "--uuid", "--name")
    assert f'{BOB} Bob\'s "PC"\n' in output.stdout
    assert output.stdout.endswith("\n\n")


async def test_the_state_is_a_number(sim: Simulator) -> None:
    output = await sim.tower.virsh("domstats", "--state", GPU_NODE)
    assert output.stdout == (
        "Domain: 'gpu-node'\n  state.state=1\n  state.reason=1\n\n"
    )


async def test_a_card_that_is_held_refuses_the_start(sim: Simulator) -> None:
    output = await sim.tower.virsh("start", ALICE)
    assert (output.stdout, output.status) == ("\n", 1)
    assert output.stderr == (
        "error: Failed to start domain 'gaming-alice'\n"
        "error: Requested operation is not valid: PCI device 0000:01:00.0 "
        "is in use by driver QEMU, domain gpu-node\n"
    )
    state = await sim.tower.virsh("domstate", ALICE, "--reason")
    assert state.stdout == "shut off (failed)\n\n"


async def test_a_running_domain_is_already_active(sim: Simulator) -> None:
    output = await sim.tower.virsh("start", GPU_NODE)
    assert output.stderr == "error: Domain is already active\n"


async def test_a_domain_that_is_off_cannot_be_shut_down(sim: Simulator) -> None:
    output = await sim.tower.virsh("shutdown", "gaming-alice", "--mode", "agent")
    assert output.stderr == (
        "error: Failed to shutdown domain 'gaming-alice'\n"
        "error: Requested operation is not valid: domain is not running\n"
    )


async def test_nobody_is_called_nope(sim: Simulator) -> None:
    output = await sim.tower.virsh("domstate", "nope")
    assert (output.stdout, output.stderr) == (
        "\n",
        "error: failed to get domain 'nope'\n",
    )


async def test_only_one_of_three_parallel_starts_wins(sim: Simulator) -> None:
    await sim.tower.virsh("destroy", GPU_NODE)
    outputs = await asyncio.gather(
        *(sim.tower.virsh("start", vm) for vm in (GPU_NODE, ALICE, ALICE))
    )
    assert sorted(output.status for output in outputs) == [0, 1, 1]


async def test_the_live_xml_tells_the_agent_and_the_inactive_does_not(
    sim: Simulator,
) -> None:
    live = ET.fromstring((await sim.tower.virsh("dumpxml", GPU_NODE)).stdout)
    inactive = ET.fromstring(
        (await sim.tower.virsh("dumpxml", "--inactive", GPU_NODE)).stdout
    )
    assert live.find("devices/channel/target").get("state") == "connected"
    assert "state" not in inactive.find("devices/channel/target").attrib
    assert len(live.findall("devices/hostdev")) == 4
    assert live.get("id") == "1"


async def test_names_are_escaped_in_the_xml(sim: Simulator) -> None:
    output = await sim.tower.virsh("dumpxml", BOB)
    assert ET.fromstring(output.stdout).findtext("name") == 'Bob\'s "PC"'


async def test_a_domain_may_be_called_like_an_option(sim: Simulator) -> None:
    plan = VmPlan(uuid="55555555-5555-4555-8555-555555555555", name="--all")
    sim.tower.define(plan)
    output = await sim.tower.virsh("domstate", "--domain", "--all")
    assert output.stdout == "shut off\n\n"


async def test_a_dead_card_refuses_the_start(sim: Simulator) -> None:
    await sim.tower.virsh("destroy", GPU_NODE)
    sim.tower.bus.kill(CARD_1[0])
    output = await sim.tower.virsh("start", ALICE)
    assert "Unknown PCI header type '127'" in output.stderr


async def test_a_house_may_have_no_machines() -> None:
    empty = House(
        functions=default_house().functions, vms=[], gpu_node=None, running_at_first=()
    )
    async with Simulator(house=empty) as sim:
        assert (await sim.tower.virsh("list", "--all", "--name")).stdout == "\n"
