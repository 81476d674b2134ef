"""GPU Handoff: lends the graphics cards of a gaming tower, and takes them back to play."""

from homeassistant.const import EVENT_HOMEASSISTANT_STOP, Platform
from homeassistant.core import Event, HomeAssistant
from homeassistant.exceptions import ConfigEntryError
from homeassistant.helpers import config_validation as cv, device_registry as dr
from homeassistant.helpers.device_registry import DeviceEntry
from homeassistant.helpers.typing import ConfigType

from .const import CONF_CARDS, DOMAIN
from .coordinator import HandoffConfigEntry, HandoffCoordinator
from .errors import translation_of
from .handoff.reason import HandoffError
from .login_repair import async_ask_for_login, async_show_host_key
from .notify_failure import async_notify_failures
from .operation_repairs import OperationRepairs
from .removal import async_undo_everything
from .services import async_setup_services

CONFIG_SCHEMA = cv.config_entry_only_config_schema(DOMAIN)

PLATFORMS = [Platform.BUTTON, Platform.EVENT, Platform.SENSOR, Platform.SWITCH]


async def async_setup(hass: HomeAssistant, config: ConfigType) -> bool:
    """Register the actions."""
    async_setup_services(hass)
    return True


async def async_setup_entry(hass: HomeAssistant, entry: HandoffConfigEntry) -> bool:
    """Connect to a tower and begin to follow it."""
    try:
        coordinator = HandoffCoordinator(hass, entry)
    except HandoffError as err:
        raise ConfigEntryError(**translation_of(err)) from err
    try:
        await coordinator.async_start()
    finally:
        async_show_host_key(hass, entry, coordinator.tower.problem)
    entry.runtime_data = coordinator
    dr.async_get(hass).async_get_or_create(
        config_entry_id=entry.entry_id,
        identifiers={(DOMAIN, str(entry.unique_id))},
        name=entry.title,
        model="libvirt host",
    )
    entry.async_on_unload(async_notify_failures(hass, coordinator))
    entry.async_on_unload(OperationRepairs(hass, coordinator).async_follow())
    entry.async_on_unload(async_ask_for_login(hass, coordinator))
    entry.async_on_unload(entry.add_update_listener(_ReloadOnChange(entry)))

    async def stopping(_event: Event) -> None:
        await coordinator.async_stop()

    entry.async_on_unload(
        hass.bus.async_listen_once(EVENT_HOMEASSISTANT_STOP, stopping)
    )
    await hass.config_entries.async_forward_entry_setups(entry, PLATFORMS)
    return True


async def async_unload_entry(hass: HomeAssistant, entry: HandoffConfigEntry) -> bool:
    """Close everything; an operation goes on after the next set-up, from the journal."""
    unloaded = await hass.config_entries.async_unload_platforms(entry, PLATFORMS)
    if unloaded:
        await entry.runtime_data.async_stop()
    return unloaded


async def async_remove_entry(hass: HomeAssistant, entry: HandoffConfigEntry) -> None:
    """Leave no cordon of ours behind."""
    async_show_host_key(hass, entry, None)
    await async_undo_everything(hass, entry)


async def async_remove_config_entry_device(
    hass: HomeAssistant, entry: HandoffConfigEntry, device: DeviceEntry
) -> bool:
    """Allow to remove what the tower does not have any more."""
    state = entry.runtime_data.data
    if state.tower is None:
        return False
    there = {*state.tower.vms, str(entry.unique_id)}
    there |= {c.card_id for c in state.tower.cards.values() if not c.missing}
    return not any(name in there for domain, name in device.identifiers)


class _ReloadOnChange:
    """Reloads when anything but the list of cards has changed."""

    def __init__(self, entry: HandoffConfigEntry) -> None:
        self._seen = self._shape(entry)

    async def __call__(self, hass: HomeAssistant, entry: HandoffConfigEntry) -> None:
        shape = self._shape(entry)
        if shape != self._seen:
            self._seen = shape
            hass.config_entries.async_schedule_reload(entry.entry_id)

    @staticmethod
    def _shape(entry: HandoffConfigEntry) -> object:
        data = {key: value for key, value in entry.data.items() if key != CONF_CARDS}
        subentries = {
            key: (s.title, dict(s.data)) for key, s in entry.subentries.items()
        }
        return data, dict(entry.options), subentries
