"""A tower that lets us in no more: a login is asked for, a changed host key is shown."""

from collections.abc import Callable

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .coordinator import HandoffCoordinator
from .handoff.reason import Reason

HOST_KEY_CHANGED = "host_key_changed"
NEW_LOGIN = frozenset(
    {
        HOST_KEY_CHANGED,
        "key_needs_passphrase",
        "key_unreadable",
        "login_refused",
        "passphrase_wrong",
    }
)
"""Why a tower does not answer that trying again cannot mend."""


@callback
def async_show_host_key(
    hass: HomeAssistant, entry: ConfigEntry, why: Reason | None
) -> None:
    """Show both fingerprints as a repair, until the tower answers again."""
    issue_id = f"{HOST_KEY_CHANGED}_{entry.unique_id}"
    if why is None:
        ir.async_delete_issue(hass, DOMAIN, issue_id)
    elif why.key == HOST_KEY_CHANGED:
        ir.async_create_issue(
            hass,
            DOMAIN,
            issue_id,
            is_fixable=False,
            severity=ir.IssueSeverity.ERROR,
            translation_key=HOST_KEY_CHANGED,
            translation_placeholders=dict(why.placeholders),
        )


@callback
def async_ask_for_login(
    hass: HomeAssistant, coordinator: HandoffCoordinator
) -> Callable[[], None]:
    """Ask whenever the tower begins to refuse us, at work too; returns what ends it."""
    entry = coordinator.config_entry
    before: Reason | None = None

    @callback
    def look() -> None:
        nonlocal before
        why = coordinator.data.tower_why
        if why == before:
            return
        before = why
        async_show_host_key(hass, entry, why)
        if why and why.key in NEW_LOGIN:
            entry.async_start_reauth(hass)

    look()
    return coordinator.async_add_listener(look)
