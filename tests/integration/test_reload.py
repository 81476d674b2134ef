"""What ends with an unloading, and what outlives a reload."""

import asyncio

from homeassistant.config_entries import ConfigEntryState
from homeassistant.const import EVENT_HOMEASSISTANT_STOP
from homeassistant.core import HomeAssistant
from homeassistant.exceptions import HomeAssistantError
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.simulator import Simulator

from .household import GPU_NODE, LAST, PHASE, act, state, until


async def test_unloading_closes_everything(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    assert simulator.tower.connections
    assert await hass.config_entries.async_unload(entry.entry_id)
    assert entry.state is ConfigEntryState.NOT_LOADED
    await until(hass, lambda: not simulator.tower.connections)
    asked = len(simulator.cluster.audit)
    await asyncio.sleep(0.2)
    assert len(simulator.cluster.audit) == asked


async def test_home_assistants_own_end_closes_everything_too(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    hass.bus.async_fire(EVENT_HOMEASSISTANT_STOP)
    await until(hass, lambda: not simulator.tower.connections)


async def test_the_last_result_outlives_a_reload(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    answer = await act(hass, "hand_over", wait=True)
    await until(hass, lambda: state(hass, LAST).state == "done")
    await hass.config_entries.async_reload(entry.entry_id)
    assert state(hass, LAST).state == "done"
    assert state(hass, LAST).attributes["operation"] == answer["operation"]
    back = await act(hass, "give_back", wait=True)
    await until(
        hass,
        lambda: state(hass, LAST).attributes["operation"] == back["operation"],
    )


async def test_a_reload_tells_a_caller_who_waits(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    simulator.tower.vms[GPU_NODE].knobs.shutdown_s = 60
    caller = asyncio.create_task(act(hass, "hand_over", wait=True))
    await until(hass, lambda: state(hass, PHASE).state == "stopping_node")
    assert await hass.config_entries.async_reload(entry.entry_id)
    with pytest.raises(HomeAssistantError) as told:
        await caller
    assert told.value.translation_key == "set_up_anew"
    await until(hass, lambda: state(hass, LAST).state == "done")
