"""An entry's life: set-up in bad times, another key, reauthentication, options, removal."""

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import (
    device_registry as dr,
    entity_registry as er,
    issue_registry as ir,
)
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.gpu_handoff import async_remove_config_entry_device
from custom_components.gpu_handoff.const import DOMAIN
from custom_components.gpu_handoff.diagnostics import (
    async_get_config_entry_diagnostics,
)
from tests.simulator import Simulator

from .household import ALICE, GPU_NODE, NODE, PHASE, SWITCH, Flow, state, switch, until


async def test_a_tower_that_is_away_is_tried_again(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    await simulator.tower.refuse()
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_RETRY
    await simulator.tower.accept()
    await hass.config_entries.async_reload(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED


async def test_with_an_open_operation_the_tower_may_be_away(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[GPU_NODE].knobs.shutdown_s = 400
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, PHASE).state == "stopping_node")
    await hass.config_entries.async_unload(entry.entry_id)
    await simulator.tower.refuse()
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    assert state(hass, SWITCH).state == "on"
    await simulator.tower.accept()


async def test_another_host_key_is_refused_and_both_fingerprints_are_said(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    pinned = entry.data["host_key"]
    simulator.tower.log.clear()
    await simulator.tower.change_host_key()
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert entry.error_reason_translation_key == "host_key_changed"
    words = entry.error_reason_translation_placeholders
    assert words["expected"].startswith("SHA256:")
    assert words["got"].startswith("SHA256:")
    assert words["expected"] != words["got"]
    assert simulator.tower.log == []
    assert entry.data["host_key"] == pinned

    (flow,) = hass.config_entries.flow.async_progress()
    assert flow["step_id"] == "reauth_confirm"
    configure = hass.config_entries.flow.async_configure
    result = await configure(flow["flow_id"], {})
    assert result["step_id"] == "host_key"
    assert result["description_placeholders"]["fingerprint"] == words["got"]
    result = await configure(flow["flow_id"], {})
    result = await configure(flow["flow_id"], {"next_step_id": "own_key"})
    key = {"private_key": simulator.client_private_key}
    result = await configure(flow["flow_id"], key)
    assert result["reason"] == "reauth_successful"
    await until(hass, lambda: entry.state is ConfigEntryState.LOADED)
    assert entry.data["host_key"] == simulator.host_key


async def test_a_login_that_is_refused_asks_for_another(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    data = {**entry.data, "private_key": simulator.tower.client_keys.stranger}
    hass.config_entries.async_update_entry(entry, data=data)
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert entry.error_reason_translation_key == "login_refused"
    (flow,) = hass.config_entries.flow.async_progress()
    assert flow["context"]["source"] == "reauth"


async def test_reauthentication_finds_a_host_that_is_away(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    flow = await reauthenticate(hass, entry)
    await simulator.tower.refuse()
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], {})
    assert result["errors"]["base"] == "tower_port_closed"
    await simulator.tower.accept()
    result = await hass.config_entries.flow.async_configure(flow["flow_id"], {})
    assert result["step_id"] == "login"


async def test_another_host_is_no_reauthentication(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    simulator.tower.host.machine_id = "0" * 32
    flow = await reauthenticate(hass, entry)
    configure = hass.config_entries.flow.async_configure
    await configure(flow["flow_id"], {})
    await configure(flow["flow_id"], {"next_step_id": "own_key"})
    key = {"private_key": simulator.client_private_key}
    result = await configure(flow["flow_id"], key)
    assert (result["type"], result["reason"]) == ("abort", "another_host")


async def reauthenticate(hass: HomeAssistant, entry: MockConfigEntry) -> dict:
    """Open the reauthentication of an entry."""
    entry.async_start_reauth(hass)
    await hass.async_block_till_done()
    (flow,) = hass.config_entries.flow.async_progress()
    return flow


async def test_options_change_the_deadlines(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    flow = await hass.config_entries.options.async_init(entry.entry_id)
    schema = flow["data_schema"]({"draining": 7, "drain_policy": "go_on"})
    await hass.config_entries.options.async_configure(flow["flow_id"], schema)
    await hass.async_block_till_done()
    await until(hass, lambda: entry.state is ConfigEntryState.LOADED)
    house = entry.runtime_data.heart.house
    assert house.deadlines_s["draining"] == 7
    assert house.drain_policy == "go_on"


async def test_a_selector_that_is_none_is_said_and_nothing_is_lost(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    flow = await hass.config_entries.options.async_init(entry.entry_id)
    typed = flow["data_schema"]({"protect": "a in (", "draining": 8})
    result = await hass.config_entries.options.async_configure(flow["flow_id"], typed)
    assert result["errors"] == {"protect": "selector_invalid"}
    assert result["data_schema"]({})["draining"] == 8


async def test_an_entry_whose_kubeconfig_is_spoilt_says_why(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    cluster = {**entry.data["cluster"], "kubeconfig": "junk"}
    data = {**entry.data, "cluster": cluster}
    hass.config_entries.async_update_entry(entry, data=data)
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert entry.error_reason_translation_key == "kubeconfig_not_yaml"


async def test_removal_leaves_no_cordon_behind(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[GPU_NODE].knobs.shutdown_s = 400
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, PHASE).state == "stopping_node")
    await hass.config_entries.async_remove(entry.entry_id)
    node = simulator.cluster.nodes["gpu1"]
    assert not node["spec"].get("unschedulable")
    assert "gpu-handoff/cordoned-by" not in node["metadata"].get("annotations", {})
    assert not ir.async_get(hass).issues


async def test_removal_without_the_cluster_leaves_a_repair_with_the_commands(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await simulator.cluster.go_down()
    await hass.config_entries.async_remove(entry.entry_id)
    issue = ir.async_get(hass).async_get_issue(DOMAIN, "mark_left_behind_gpu1")
    assert issue is not None
    assert issue.is_persistent
    assert issue.translation_placeholders == {"node": "gpu1"}


async def test_removal_without_a_cluster_is_quiet(
    hass: HomeAssistant, simulator: Simulator
) -> None:
    flow = Flow(hass, simulator)
    await flow.to("cluster")
    await flow.answer(next_step_id="no_cluster")
    made = flow.result["result"]
    await until(hass, lambda: made.state is ConfigEntryState.LOADED)
    assert state(hass, NODE).state == "running"
    await hass.config_entries.async_remove(made.entry_id)
    assert not ir.async_get(hass).issues


async def test_diagnostics_hold_no_secret(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    text = str(await async_get_config_entry_diagnostics(hass, entry))
    assert "PRIVATE KEY" not in text
    assert "client-key-data" not in text
    assert "gaming-alice" in text


async def test_only_what_is_gone_can_be_removed(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    devices = dr.async_get(hass)
    alice = devices.async_get_device_by_identifier((DOMAIN, ALICE), entry.entry_id)
    assert alice is not None
    assert not await async_remove_config_entry_device(hass, entry, alice)
    del simulator.tower.vms[ALICE]
    await entry.runtime_data.tower.measure(fresh=True)
    entry.runtime_data.async_push()
    assert await async_remove_config_entry_device(hass, entry, alice)


async def test_no_unique_id_holds_an_address_or_the_entrys_own_id(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    for found in er.async_entries_for_config_entry(er.async_get(hass), entry.entry_id):
        assert "0000:" not in found.unique_id
        assert entry.entry_id not in found.unique_id


async def test_cards_keep_their_ids_over_a_reload(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    before = [card["card_id"] for card in entry.data["cards"]]
    await hass.config_entries.async_reload(entry.entry_id)
    assert [card["card_id"] for card in entry.data["cards"]] == before
