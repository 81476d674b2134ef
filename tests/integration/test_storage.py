"""The journal in Home Assistant's storage, and sentences in the household's language."""

from unittest.mock import patch

from homeassistant.core import CoreState, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.util.file import WriteError
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.journal_store import JournalStore
from custom_components.gpu_handoff.sentences import async_sentence
from tests.simulator import Simulator

from .household import Flow, state

WISHES = {"wishes": [{"vm_id": "alice"}]}


async def test_what_is_written_comes_back(hass: HomeAssistant) -> None:
    store = JournalStore(hass, "tower")
    assert await store.load() is None
    await store.save(WISHES)
    assert await JournalStore(hass, "tower").load() == WISHES
    await store.remove()
    assert await JournalStore(hass, "tower").load() is None


async def test_a_write_that_fails_is_said_and_not_swallowed(
    hass: HomeAssistant,
) -> None:
    full = WriteError("No space left on device")
    with (
        patch(
            "homeassistant.helpers.storage.Store._async_write_data", side_effect=full
        ),
        pytest.raises(OSError, match="No space left"),
    ):
        await JournalStore(hass, "tower").save(WISHES)


async def test_nothing_is_done_once_home_assistant_is_stopping(
    hass: HomeAssistant,
) -> None:
    before, hass.state = hass.state, CoreState.stopping
    with pytest.raises(OSError, match="stopping"):
        await JournalStore(hass, "tower").save(WISHES)
    hass.set_state(before)


async def test_a_journal_that_cannot_be_read_is_as_good_as_none(
    hass: HomeAssistant,
) -> None:
    broken = HomeAssistantError("corrupt")
    with patch("homeassistant.helpers.storage.Store.async_load", side_effect=broken):
        assert await JournalStore(hass, "tower").load() is None


async def test_sentences_are_in_the_households_language(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    reason = Reason.of("card_in_use", player="Alice")
    assert "has the card now" in str(await async_sentence(hass, reason))
    hass.config.language = "fr"
    assert "utilise la carte" in str(await async_sentence(hass, reason))
    assert await async_sentence(hass, None) is None


async def test_a_reason_without_a_sentence_is_shown_as_its_key(
    hass: HomeAssistant, entry: MockConfigEntry
) -> None:
    assert await async_sentence(hass, Reason.of("unheard_of")) == "unheard_of"
    half = await async_sentence(hass, Reason.of("card_in_use"))
    assert "{player}" in str(half)


async def test_a_card_that_disappears_is_missing_and_comes_back(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    bus = simulator.tower.bus
    host_card = next(
        found.entity_id
        for found in hass.states.async_all("sensor")
        if found.attributes.get("address") == "0000:00:02.0"
    )
    assert state(hass, host_card).state == "host"
    there = dict(bus.functions)
    bus.remove("0000:00:02.0")
    await hass.config_entries.async_reload(entry.entry_id)
    assert state(hass, host_card).state == "missing"
    bus.functions.update(there)
    await hass.config_entries.async_reload(entry.entry_id)
    assert state(hass, host_card).state == "host"


async def test_a_card_that_is_new_gets_its_sensor(
    hass: HomeAssistant, simulator: Simulator
) -> None:
    bus = simulator.tower.bus
    there = dict(bus.functions)
    bus.remove("0000:00:02.0")
    entry = await Flow(hass, simulator).to_the_end()
    addresses = [s.attributes.get("address") for s in hass.states.async_all("sensor")]
    assert "0000:00:02.0" not in addresses
    bus.functions.update(there)
    tower = entry.runtime_data.tower
    await tower.measure(fresh=True)
    await hass.async_block_till_done()
    addresses = [s.attributes.get("address") for s in hass.states.async_all("sensor")]
    assert "0000:00:02.0" in addresses
