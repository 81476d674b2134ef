"""Alice's switch: what it does, what it shows, what it says when it cannot."""

import asyncio

from homeassistant.components import persistent_notification
from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import ServiceValidationError
from homeassistant.helpers import issue_registry as ir
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.simulator import Simulator
from tests.simulator.cluster.pod_object import PodPlan

from .household import (
    ALICE,
    CANCEL,
    CARD,
    EVENT,
    GPU_NODE,
    LAST,
    NODE,
    PHASE,
    SWITCH,
    act,
    state,
    switch,
    until,
)


async def test_everything_is_shown_at_rest(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert state(hass, SWITCH).state == "off"
    assert state(hass, PHASE).state == "idle"
    assert state(hass, LAST).state == "none"
    assert state(hass, NODE).state == "ready"
    assert state(hass, CANCEL).state == "unavailable"
    card = state(hass, CARD)
    assert card.state == "lent"
    assert card.attributes["holder"] == "gpu-node"
    assert card.attributes["address"] == "0000:01:00.0"
    assert card.attributes["model"] == "GeForce RTX 4090"


async def test_on_and_off_bring_the_card_over_and_back(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await switch(hass, on=True)
    assert state(hass, SWITCH).state == "on"
    await until(hass, lambda: state(hass, CARD).state == "moving")
    await until(hass, lambda: state(hass, LAST).state == "done")
    await until(hass, lambda: state(hass, CARD).state == "playing")
    assert state(hass, CARD).attributes["holder"] == "Alice"
    assert simulator.tower.vms[ALICE].power == "running"
    assert state(hass, NODE).state == "off"

    await switch(hass, on=False)
    assert state(hass, SWITCH).state == "off"
    await until(hass, lambda: state(hass, CARD).state == "lent")
    await until(hass, lambda: state(hass, NODE).state == "ready")
    assert simulator.tower.vms[ALICE].power == "shut off"


async def test_a_caller_who_waits_gets_the_result(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    answer = await act(hass, "hand_over", wait=True)
    assert (answer["outcome"], answer["reason"]) == ("done", None)
    assert answer["seconds"].keys() >= {"stopping_node", "starting_vm"}
    answer = await act(hass, "give_back", wait=True)
    assert answer["outcome"] == "done"


async def test_a_caller_who_leaves_leaves_the_operation_alone(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    caller = asyncio.create_task(act(hass, "hand_over", wait=True))
    await until(hass, lambda: state(hass, PHASE).state not in ("idle", "checking"))
    caller.cancel()
    await until(hass, lambda: state(hass, LAST).state == "done")


async def test_a_players_card_is_refused_with_a_sentence(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await switch(hass, on=True, entity_id="switch.bob_s_pc")
    await until(
        hass, lambda: state(hass, "sensor.bob_s_pc_last_result").state == "done"
    )
    with pytest.raises(ServiceValidationError) as refused:
        await switch(hass, on=True, entity_id="switch.kemu_carol")
    assert refused.value.translation_key == "card_in_use"
    assert 'Bob\'s "PC" has the card now' in str(refused.value)
    assert state(hass, "switch.kemu_carol").state == "off"


async def test_preflight_says_what_would_happen(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.cluster.create_deployment("web", plan=PodPlan(prefers="gpu1"))
    await simulator.cluster.settled()
    answer = await act(hass, "preflight")
    assert answer["possible"]
    assert answer["stops"] == ["gpu-node"]
    assert answer["reason"] is None


async def test_preflight_says_why_not(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.cluster.create_pod("loner", plan=PodPlan(node="gpu1"))
    await until(
        hass, lambda: any(n.pods for n in entry.runtime_data.data.nodes.values())
    )
    answer = await act(hass, "preflight")
    assert not answer["possible"]
    assert "default/loner" in answer["reason"]
    assert answer["blockers"] == ["default/loner"]


async def test_a_failure_notifies_and_is_told_everywhere(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[ALICE].knobs.fail_start = "Cannot access storage file '/x.iso'"
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, LAST).state == "failed", 40)
    reason = state(hass, LAST).attributes["reason"]
    await until(hass, lambda: bool(state(hass, LAST).attributes["reason"]))
    reason = state(hass, LAST).attributes["reason"]
    assert "/x.iso" in reason
    (note,) = persistent_notification._async_get_or_create_notifications(hass).values()
    assert note["message"] == reason
    assert note["title"] == "Alice"
    await until(hass, lambda: state(hass, EVENT).attributes["event_type"] == "failed")
    assert state(hass, EVENT).attributes["reason"] == reason
    assert state(hass, SWITCH).state == "off"
    assert simulator.tower.vms[GPU_NODE].power == "running"


async def test_the_cancel_button_puts_everything_back(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.cluster.create_deployment("web", plan=PodPlan(prefers="gpu1"))
    await simulator.cluster.settled()
    simulator.cluster.create_pdb("web", match_labels={"app": "web"}, min_available=1)
    await simulator.cluster.settled()
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, PHASE).state == "draining")
    await hass.services.async_call(
        "button", "press", {"entity_id": CANCEL}, blocking=True
    )
    await until(hass, lambda: state(hass, LAST).state == "cancelled")
    assert not simulator.cluster.nodes["gpu1"]["spec"].get("unschedulable")
    assert state(hass, NODE).state == "ready"


async def test_the_cancel_action_without_an_operation_is_a_sentence(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    with pytest.raises(ServiceValidationError) as refused:
        await hass.services.async_call(
            "gpu_handoff", "cancel", {"entity_id": SWITCH}, blocking=True
        )
    assert refused.value.translation_key == "nothing_to_cancel"


async def test_what_blocks_a_drain_is_shown(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.cluster.create_deployment("web", plan=PodPlan(prefers="gpu1"))
    await simulator.cluster.settled()
    simulator.cluster.create_pdb("web", match_labels={"app": "web"}, min_available=1)
    await simulator.cluster.settled()
    await switch(hass, on=True)
    await until(hass, lambda: bool(state(hass, PHASE).attributes.get("blockers")))
    await until(hass, lambda: bool(state(hass, PHASE).attributes["reason"]))
    assert "budget web" in state(hass, PHASE).attributes["reason"]
    await switch(hass, on=False)
    await until(hass, lambda: state(hass, LAST).state == "cancelled")


async def test_a_reload_in_mid_operation_goes_on(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[GPU_NODE].knobs.shutdown_s = 30
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, PHASE).state == "stopping_node")
    assert await hass.config_entries.async_reload(entry.entry_id)
    assert state(hass, SWITCH).state == "on"
    await until(hass, lambda: state(hass, LAST).state == "done")
    assert simulator.tower.vms[ALICE].power == "running"


async def test_an_outage_of_the_tower_hides_no_switch(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await simulator.tower.refuse()
    await simulator.tower.drop()
    await until(hass, lambda: state(hass, CARD).state == "unavailable")
    assert state(hass, SWITCH).state == "off"
    assert state(hass, PHASE).state == "idle"
    await simulator.tower.accept()
    await until(hass, lambda: state(hass, CARD).state == "lent")


async def test_an_outage_of_the_cluster_hides_no_switch(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await simulator.cluster.go_down()
    await until(hass, lambda: state(hass, NODE).state == "unreachable")
    assert state(hass, SWITCH).state == "off"
    assert state(hass, CARD).state == "lent"
    with pytest.raises(ServiceValidationError):
        await switch(hass, on=True)
    await simulator.cluster.come_up()
    await until(hass, lambda: state(hass, NODE).state == "ready")


async def test_a_change_by_hand_is_shown(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await simulator.tower.virsh("suspend", GPU_NODE)
    await until(hass, lambda: state(hass, NODE).state == "paused")
    await simulator.tower.virsh("resume", GPU_NODE)
    await until(hass, lambda: state(hass, NODE).state == "ready")


async def test_two_who_share_a_card_are_both_in_its_name(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    shared = next(
        found
        for found in hass.states.async_all("sensor")
        if found.attributes.get("address") == "0000:02:00.0"
    )
    assert "Bob's \"PC\" / ゲーム carol's GeForce RTX 3090" in shared.name


async def test_a_wait_that_is_late_is_a_repair_until_it_moves(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    hass.config_entries.async_update_entry(entry, options={"stopping_vm": 1})
    await hass.async_block_till_done()
    await until(hass, lambda: entry.state is ConfigEntryState.LOADED)
    await act(hass, "hand_over", wait=True)
    simulator.tower.vms[ALICE].knobs.refuse_shutdown = True
    await switch(hass, on=False)
    issues = ir.async_get(hass)
    name = ("gpu_handoff", f"operation_{ALICE}")
    await until(hass, lambda: issues.async_get_issue(*name) is not None)
    issue = issues.async_get_issue(*name)
    assert issue is not None
    assert issue.translation_key == "operation_late"
    assert issue.translation_placeholders is not None
    assert issue.translation_placeholders["vm"] == "Alice"
    simulator.tower.vms[ALICE].crash()
    await until(
        hass,
        lambda: (
            (found := issues.async_get_issue(*name)) is None
            or found.translation_key == "operation_needs_person"
        ),
    )


async def test_a_crashed_guest_is_a_repair_that_names_the_remedy(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await act(hass, "hand_over", wait=True)
    alice = simulator.tower.vms[ALICE]
    alice.plan.on_crash = "preserve"
    alice.crash()
    await until(hass, lambda: entry.runtime_data.data.vm(ALICE).power == "crashed")
    await switch(hass, on=False)
    issues = ir.async_get(hass)
    name = ("gpu_handoff", f"operation_{ALICE}")
    await until(hass, lambda: issues.async_get_issue(*name) is not None)
    issue = issues.async_get_issue(*name)
    assert issue is not None
    assert issue.translation_placeholders is not None
    assert "virsh destroy" in issue.translation_placeholders["reason"]
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert issues.async_get_issue(*name) is None
