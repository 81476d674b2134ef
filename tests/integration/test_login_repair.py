"""A tower that lets us in no more: a person is asked while it lasts, not a moment longer."""

import ast
from pathlib import Path

from homeassistant.config_entries import ConfigEntryState
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.gpu_handoff.const import DOMAIN
from custom_components.gpu_handoff.login_repair import HOST_KEY_CHANGED, NEW_LOGIN
from tests.simulator import Simulator

from .household import CARD, GPU_NODE, PHASE, SWITCH, state, switch, until

LOGIN = Path("custom_components/gpu_handoff/tower/login.py")


def repair(hass: HomeAssistant, issue_id: str) -> ir.IssueEntry | None:
    """A repair of ours, if it is shown."""
    return ir.async_get(hass).async_get_issue(DOMAIN, issue_id)


def login_requests(hass: HomeAssistant) -> list[str]:
    """The reauthentications that wait for a person."""
    return [
        flow["step_id"]
        for flow in hass.config_entries.flow.async_progress()
        if flow["context"]["source"] == "reauth"
    ]


def test_every_login_that_cannot_mend_itself_is_asked_for() -> None:
    raised = {
        node.args[0].value
        for node in ast.walk(ast.parse(LOGIN.read_text()))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("LoginRefused", "HostKeyChanged")
        and isinstance(node.args[0], ast.Constant)
    }
    assert raised == NEW_LOGIN


async def test_a_host_key_that_changes_at_work_is_asked_about(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    issue_id = f"{HOST_KEY_CHANGED}_{entry.unique_id}"
    await simulator.tower.change_host_key()
    await until(hass, lambda: login_requests(hass) == ["reauth_confirm"])
    shown = repair(hass, issue_id)
    assert shown is not None
    words = shown.translation_placeholders or {}
    assert words["expected"] != words["got"]
    assert entry.state is ConfigEntryState.LOADED
    assert state(hass, SWITCH).state == "off"

    (flow,) = hass.config_entries.flow.async_progress()
    configure = hass.config_entries.flow.async_configure
    await configure(flow["flow_id"], {})
    await configure(flow["flow_id"], {})
    await configure(flow["flow_id"], {"next_step_id": "own_key"})
    key = {"private_key": simulator.client_private_key}
    result = await configure(flow["flow_id"], key)
    assert result["reason"] == "reauth_successful"
    await until(hass, lambda: state(hass, CARD).state == "lent")
    assert repair(hass, issue_id) is None


async def test_the_repair_of_a_changed_host_key_goes_with_the_entry(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await hass.config_entries.async_unload(entry.entry_id)
    await simulator.tower.change_host_key()
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.SETUP_ERROR
    assert repair(hass, f"{HOST_KEY_CHANGED}_{entry.unique_id}")
    await hass.config_entries.async_remove(entry.entry_id)
    assert not repair(hass, f"{HOST_KEY_CHANGED}_{entry.unique_id}")


async def test_an_open_operation_is_followed_while_a_login_is_asked_for(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[GPU_NODE].knobs.shutdown_s = 400
    await switch(hass, on=True)
    await until(hass, lambda: state(hass, PHASE).state == "stopping_node")
    await hass.config_entries.async_unload(entry.entry_id)
    stranger = {"private_key": simulator.tower.client_keys.stranger}
    hass.config_entries.async_update_entry(entry, data={**entry.data, **stranger})
    await hass.config_entries.async_setup(entry.entry_id)
    assert entry.state is ConfigEntryState.LOADED
    assert state(hass, SWITCH).state == "on"
    assert login_requests(hass) == ["reauth_confirm"]
