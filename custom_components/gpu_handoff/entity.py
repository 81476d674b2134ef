"""What the entities of a device have in common: one base class for each kind of device."""

from collections.abc import Callable, Iterable
from typing import override

from homeassistant.helpers import device_registry as dr
from homeassistant.helpers.device_registry import DeviceInfo
from homeassistant.helpers.entity import Entity, EntityDescription
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback
from homeassistant.helpers.update_coordinator import CoordinatorEntity

from .const import CONF_VM_ID, DOMAIN
from .coordinator import HandoffConfigEntry, HandoffCoordinator
from .handoff.world import Card, Vm, VmId
from .state import HandoffState


def add_for_machines(
    entry: HandoffConfigEntry,
    kind: str,
    async_add_entities: AddConfigEntryEntitiesCallback,
    make: Callable[[VmId], Iterable[Entity]],
) -> None:
    """Add the entities of each machine of a kind, below its own part of the entry."""
    for subentry in entry.get_subentries_of_type(kind):
        async_add_entities(
            make(subentry.data[CONF_VM_ID]), config_subentry_id=subentry.subentry_id
        )


class HandoffEntity(CoordinatorEntity[HandoffCoordinator]):
    """An entity of a device that belongs to a tower."""

    _attr_has_entity_name = True

    def __init__(
        self,
        coordinator: HandoffCoordinator,
        thing: str,
        description: EntityDescription,
    ) -> None:
        """`thing` is the machine's UUID or the card's id."""
        super().__init__(coordinator)
        self.entity_description = description
        self._thing = thing
        self._attr_unique_id = f"{thing}_{description.key}"

    @property
    def _state(self) -> HandoffState:
        return self.coordinator.data

    def _on_tower(self) -> DeviceInfo:
        entry = self.coordinator.config_entry
        tower = (DOMAIN, str(entry.unique_id))
        via = dr.async_get_device_id_by_identifier(
            self.coordinator.hass, tower, config_entry_id=entry.entry_id
        )
        return DeviceInfo(identifiers={(DOMAIN, self._thing)}, via_device_id=via)


class VmEntity(HandoffEntity):
    """An entity of a machine. It stays available: an operation outlives any outage."""

    def __init__(
        self,
        coordinator: HandoffCoordinator,
        vm_id: str,
        description: EntityDescription,
    ) -> None:
        """Belong to the machine's device."""
        super().__init__(coordinator, vm_id, description)
        title = coordinator.data.title(vm_id)
        info = self._on_tower()
        info["name"] = title
        info["model"] = "Virtual machine"
        self._attr_device_info = info

    @property
    def _vm(self) -> Vm | None:
        return self._state.vm(self._thing)


class CardEntity(HandoffEntity):
    """An entity of a card, which is called after who plays on it."""

    def __init__(
        self,
        coordinator: HandoffCoordinator,
        card: Card,
        description: EntityDescription,
    ) -> None:
        """Belong to the card's device."""
        super().__init__(coordinator, card.card_id, description)
        players = coordinator.data.players_of(card.card_id)
        info = self._on_tower()
        info["model"] = card.model
        if players:
            info["translation_key"] = "card_of"
            info["translation_placeholders"] = {
                "player": " / ".join(players),
                "model": card.model,
            }
        else:
            info["name"] = card.model
        self._attr_device_info = info

    @property
    def _card(self) -> Card | None:
        return self._state.card(self._thing)

    @property
    @override
    def available(self) -> bool:
        return super().available and self._state.tower_seen and self._card is not None
