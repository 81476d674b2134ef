"""Everything that helps to understand a tower from afar, without its secrets."""

from dataclasses import asdict
from typing import Any

from homeassistant.components.diagnostics import async_redact_data
from homeassistant.const import CONF_HOST, CONF_PASSWORD, CONF_USERNAME
from homeassistant.core import HomeAssistant

from .const import CONF_KUBECONFIG, CONF_PASSPHRASE, CONF_PRIVATE_KEY
from .coordinator import HandoffConfigEntry

TO_REDACT = {
    CONF_HOST,
    CONF_KUBECONFIG,
    CONF_PASSPHRASE,
    CONF_PASSWORD,
    CONF_PRIVATE_KEY,
    CONF_USERNAME,
}


async def async_get_config_entry_diagnostics(
    hass: HomeAssistant, entry: HandoffConfigEntry
) -> dict[str, Any]:
    """Return the entry, the last of what was measured, and the wishes."""
    coordinator = entry.runtime_data
    state = coordinator.data
    return {
        "entry": async_redact_data(dict(entry.data), TO_REDACT),
        "options": dict(entry.options),
        "subentries": [
            {"type": s.subentry_type, "title": s.title, "data": dict(s.data)}
            for s in entry.subentries.values()
        ],
        "tower": _plain(state.tower),
        "tower_why": _plain(state.tower_why),
        "tower_problems": [_plain(problem) for problem in coordinator.tower.problems],
        "nodes": {vm_id: _plain(view) for vm_id, view in state.nodes.items()},
        "nodes_why": {vm_id: _plain(why) for vm_id, why in state.nodes_why.items()},
        "wishes": [_plain(wish) for wish in coordinator.heart.wishes.values()],
        "last": {vm_id: _plain(result) for vm_id, result in state.last.items()},
    }


def _plain(thing: Any) -> Any:
    """Turn dataclasses into what JSON knows."""
    if thing is None:
        return None
    return _jsonable(asdict(thing))


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_jsonable(item) for item in value]
    return value
