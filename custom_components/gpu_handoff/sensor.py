"""Where each card is, what happens with each machine, and how each GPU node is."""

from collections.abc import Mapping
from typing import Any, override

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
)
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import SUBENTRY_GAMING, SUBENTRY_NODE
from .coordinator import HandoffConfigEntry
from .entity import CardEntity, add_for_machines
from .handoff.world import VmId
from .machine_sensor import (
    LAST_RESULT_SENSOR,
    NODE_SENSOR,
    PHASE_SENSOR,
    LastResultSensor,
    VmSensor,
)
from .state import CardState

PARALLEL_UPDATES = 0

CARD_SENSOR = SensorEntityDescription(
    key="holder",
    translation_key="holder",
    device_class=SensorDeviceClass.ENUM,
    options=[state.value for state in CardState],
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: HandoffConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up the sensors; cards that appear later get theirs then."""
    coordinator = entry.runtime_data

    def of_player(vm_id: VmId) -> list[VmSensor]:
        return [
            VmSensor(coordinator, vm_id, PHASE_SENSOR),
            LastResultSensor(coordinator, vm_id, LAST_RESULT_SENSOR),
        ]

    def of_node(vm_id: VmId) -> list[VmSensor]:
        return [VmSensor(coordinator, vm_id, NODE_SENSOR)]

    add_for_machines(entry, SUBENTRY_GAMING, async_add_entities, of_player)
    add_for_machines(entry, SUBENTRY_NODE, async_add_entities, of_node)
    shown: set[str] = set()

    @callback
    def add_new_cards() -> None:
        tower = coordinator.data.tower
        new = [c for i, c in tower.cards.items() if i not in shown] if tower else []
        shown.update(card.card_id for card in new)
        async_add_entities(CardSensor(coordinator, card, CARD_SENSOR) for card in new)

    add_new_cards()
    entry.async_on_unload(coordinator.async_add_listener(add_new_cards))


class CardSensor(CardEntity, SensorEntity):
    """Where a card is."""

    @property
    @override
    def native_value(self) -> str | None:
        return self._state.card_state(self._thing)

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any]:
        card, tower = self._card, self._state.tower
        if card is None or tower is None:
            return {}
        holders = tower.holders(self._thing)
        return {
            "holder": self._state.title(holders[0].vm_id) if holders else None,
            "address": card.address,
            "model": card.model,
        }
