"""A failure notifies: a switch that flips back explains nothing."""

from collections.abc import Callable

from homeassistant.components import persistent_notification
from homeassistant.core import HomeAssistant, callback

from .const import DOMAIN
from .coordinator import HandoffCoordinator
from .handoff.operation import EventKind, HandoffEvent
from .sentences import async_sentence

TOLD = frozenset({EventKind.FAILED, EventKind.NEEDS_PERSON, EventKind.REFUSED})


@callback
def async_notify_failures(
    hass: HomeAssistant, coordinator: HandoffCoordinator
) -> Callable[[], None]:
    """Notify of every operation of this tower that does not reach its wish."""
    entry = coordinator.config_entry

    async def tell(event: HandoffEvent) -> None:
        sentence = await async_sentence(hass, event.reason)
        if sentence is None:
            return
        persistent_notification.async_create(
            hass,
            sentence,
            title=coordinator.data.title(event.vm_id),
            notification_id=f"{DOMAIN}_{event.vm_id}",
        )

    @callback
    def heard(event: HandoffEvent) -> None:
        if event.kind in TOLD:
            entry.async_create_task(hass, tell(event), f"{DOMAIN} notification")
        elif event.kind is EventKind.STARTED:
            persistent_notification.async_dismiss(hass, f"{DOMAIN}_{event.vm_id}")

    return coordinator.async_add_event_listener(heard)
