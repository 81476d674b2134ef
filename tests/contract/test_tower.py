"""What the tower's side finds, hears and does, on both stages."""

import asyncio

import pytest

from custom_components.gpu_handoff.handoff.reason import HandoffError
from custom_components.gpu_handoff.handoff.world import ActKind, Agent, Power
from custom_components.gpu_handoff.tower.discover import Role

from .crew import Crew
from .stage import ALICE, BOB, CAROL, GPU_NODE, Stage


async def test_the_cast_is_found_with_its_hostile_names(crew: Crew) -> None:
    names = {vm_id: vm.name for vm_id, vm in crew.found.view.vms.items()}
    assert names == {
        GPU_NODE: "gpu-node",
        ALICE: "gaming-alice",
        BOB: 'Bob\'s "PC"',
        CAROL: "ゲーム carol",
    }


async def test_roles_are_proposed_by_the_cards(crew: Crew) -> None:
    assert crew.found.roles == {
        GPU_NODE: Role.GPU_NODE,
        ALICE: Role.GAMING,
        BOB: Role.GAMING,
        CAROL: Role.GAMING,
    }


async def test_the_node_holds_both_cards_and_players_want_theirs(crew: Crew) -> None:
    vms = (await crew.tower.measure(fresh=True)).vms
    assert vms[GPU_NODE].power is Power.RUNNING
    assert vms[GPU_NODE].holds == vms[ALICE].wants | vms[BOB].wants
    assert vms[BOB].wants == vms[CAROL].wants != vms[ALICE].wants
    assert all(not vms[player].holds for player in (ALICE, BOB, CAROL))


async def test_a_start_that_comes_too_early_is_refused_by_libvirt(
    crew: Crew, stage: Stage
) -> None:
    with pytest.raises(HandoffError) as refused:
        await crew.tower.act(ActKind.START, ALICE)
    reason = refused.value.reason
    assert reason.key == "start_refused_card_in_use"
    assert reason.placeholders["address"].startswith("0000:01:00.")
    assert reason.placeholders["holder"] == "gpu-node"
    assert await stage.power(ALICE) == "shut off"


async def test_a_start_of_what_runs_already_is_no_error(crew: Crew) -> None:
    await crew.tower.act(ActKind.START, GPU_NODE)


async def test_a_change_by_hand_is_seen(crew: Crew, stage: Stage) -> None:
    await stage.virsh("suspend", GPU_NODE)
    await crew.until(lambda: power(crew, GPU_NODE) is Power.PAUSED)
    await stage.virsh("resume", GPU_NODE)
    await crew.until(lambda: power(crew, GPU_NODE) is Power.RUNNING)


async def test_a_paused_machine_still_holds_its_cards(crew: Crew, stage: Stage) -> None:
    await stage.virsh("suspend", GPU_NODE)
    view = await crew.tower.measure(fresh=True)
    assert len(view.vms[GPU_NODE].holds) == 2


async def test_a_shutdown_through_the_agent_ends_in_off(crew: Crew) -> None:
    await agent_of(crew, GPU_NODE)
    await crew.tower.act(ActKind.SHUT_DOWN_BY_AGENT, GPU_NODE)
    await crew.until(lambda: power(crew, GPU_NODE) is Power.OFF)
    view = await crew.tower.measure(fresh=True)
    assert view.vms[GPU_NODE].holds == frozenset()
    assert view.vms[GPU_NODE].because == "shutdown"


async def test_a_shutdown_by_the_power_button_ends_in_off(crew: Crew) -> None:
    await agent_of(crew, GPU_NODE)
    await crew.tower.act(ActKind.SHUT_DOWN_BY_ACPI, GPU_NODE)
    await crew.until(lambda: power(crew, GPU_NODE) is Power.OFF)


async def test_an_agent_that_is_not_up_says_so(crew: Crew, stage: Stage) -> None:
    await stage.set_knobs(ALICE, ga="off")
    await free_cards(crew, stage)
    await crew.tower.act(ActKind.START, ALICE)
    with pytest.raises(HandoffError) as refused:
        await crew.tower.act(ActKind.SHUT_DOWN_BY_AGENT, ALICE)
    assert refused.value.reason.key == "agent_not_answering"
    view = await crew.tower.measure(fresh=True)
    assert view.vms[ALICE].agent is Agent.SILENT


async def test_hostile_names_start_and_stop_like_any_other(
    crew: Crew, stage: Stage
) -> None:
    await free_cards(crew, stage)
    for player in (BOB, CAROL):
        await crew.tower.act(ActKind.START, player)
        await agent_of(crew, player)
        await crew.tower.act(ActKind.SHUT_DOWN_BY_AGENT, player)
        await crew.until(lambda vm=player: power(crew, vm) is Power.OFF)


async def test_a_restart_of_libvirt_is_lived_through(crew: Crew, stage: Stage) -> None:
    await stage.restart_libvirtd()
    await stage.virsh("suspend", GPU_NODE)
    await crew.until(lambda: power(crew, GPU_NODE) is Power.PAUSED)
    assert crew.tower.problem is None


def power(crew: Crew, vm_id: str) -> Power | None:
    """A machine's state as the tower's side has it now."""
    return crew.tower.view.vms[vm_id].power if crew.tower.view else None


async def agent_of(crew: Crew, vm_id: str) -> None:
    """Wait for a guest's agent."""
    await crew.until(
        lambda: (
            crew.tower.view is not None
            and crew.tower.view.vms[vm_id].agent is Agent.CONNECTED
            and power(crew, vm_id) is Power.RUNNING
        )
    )


async def free_cards(crew: Crew, stage: Stage) -> None:
    """Have the node shut down by hand."""
    await agent_of(crew, GPU_NODE)
    await stage.virsh("shutdown", GPU_NODE, "--mode", "agent")
    await crew.until(lambda: power(crew, GPU_NODE) is Power.OFF)
    await asyncio.sleep(0)
