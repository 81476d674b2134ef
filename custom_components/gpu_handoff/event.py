"""An event entity for each gaming machine: what happens to its operations."""

from typing import override

from homeassistant.components.event import EventEntity, EventEntityDescription
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import SUBENTRY_GAMING
from .coordinator import HandoffConfigEntry
from .entity import VmEntity, add_for_machines
from .handoff.operation import EventKind, HandoffEvent
from .sentences import async_sentence

PARALLEL_UPDATES = 0

DESCRIPTION = EventEntityDescription(
    key="operation",
    translation_key="operation",
    event_types=[kind.value for kind in EventKind],
)


async def async_setup_entry(
    hass: HomeAssistant,
    entry: HandoffConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up an event entity for each gaming machine."""
    coordinator = entry.runtime_data
    add_for_machines(
        entry,
        SUBENTRY_GAMING,
        async_add_entities,
        lambda vm_id: [OperationEvent(coordinator, vm_id, DESCRIPTION)],
    )


class OperationEvent(VmEntity, EventEntity):
    """Tells of starts, phases and ends."""

    @override
    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        self.async_on_remove(self.coordinator.async_add_event_listener(self._heard))

    @callback
    def _heard(self, event: HandoffEvent) -> None:
        if event.vm_id == self._thing:
            self.coordinator.config_entry.async_create_task(
                self.hass, self._tell(event), "gpu_handoff event"
            )

    async def _tell(self, event: HandoffEvent) -> None:
        self._trigger_event(
            event.kind,
            {
                "operation": event.operation,
                "target": event.want,
                "phase": event.phase,
                "reason": await async_sentence(self.hass, event.reason),
            },
        )
        self.async_write_ha_state()
