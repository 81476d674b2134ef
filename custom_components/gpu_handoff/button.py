"""A button for each gaming machine that cancels what is under way."""

from typing import override

from homeassistant.components.button import ButtonEntity, ButtonEntityDescription
from homeassistant.core import HomeAssistant
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import SUBENTRY_GAMING
from .coordinator import HandoffConfigEntry
from .entity import VmEntity, add_for_machines
from .errors import translated

PARALLEL_UPDATES = 0

DESCRIPTION = ButtonEntityDescription(key="cancel", translation_key="cancel")


async def async_setup_entry(
    hass: HomeAssistant,
    entry: HandoffConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up a button for each gaming machine."""
    coordinator = entry.runtime_data
    add_for_machines(
        entry,
        SUBENTRY_GAMING,
        async_add_entities,
        lambda vm_id: [CancelButton(coordinator, vm_id, DESCRIPTION)],
    )


class CancelButton(VmEntity, ButtonEntity):
    """Cancels the running operation."""

    @property
    @override
    def available(self) -> bool:
        return super().available and self._thing in self._state.operations

    @override
    async def async_press(self) -> None:
        with translated():
            await self.coordinator.heart.cancel(self._thing)
