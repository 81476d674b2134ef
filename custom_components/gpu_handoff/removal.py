"""Removing a tower: our cordon must not outlive the integration."""

import asyncio
import logging

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant
from homeassistant.helpers import issue_registry as ir

from .cluster.cluster_node import ClusterNode
from .connections import api_of, context_of, credentials_of
from .const import DOMAIN
from .handoff.reason import HandoffError
from .house import node_names
from .journal_store import JournalStore
from .tower.ssh import Connection

_LOGGER = logging.getLogger(__name__)

PATIENCE_S = 60


async def async_undo_everything(hass: HomeAssistant, entry: ConfigEntry) -> None:
    """Undo our cordons over connections of our own, or leave a repair that says how."""
    connection = Connection(credentials_of(entry.data), context_of(entry.data))
    left: list[str] = []
    try:
        async with asyncio.timeout(PATIENCE_S):
            left = await _uncordon(entry, connection)
    except TimeoutError, HandoffError:
        left = [name for name in node_names(entry).values() if name]
    finally:
        await connection.close()
    await JournalStore(hass, entry.unique_id or entry.entry_id).remove()
    for name in left:
        ir.async_create_issue(
            hass,
            DOMAIN,
            f"mark_left_behind_{name}",
            is_fixable=False,
            is_persistent=True,
            severity=ir.IssueSeverity.ERROR,
            translation_key="mark_left_behind",
            translation_placeholders={"node": name},
        )


async def _uncordon(entry: ConfigEntry, connection: Connection) -> list[str]:
    """Uncordon what is ours; returns the nodes of which that is not known."""
    api = api_of(entry.data, connection)
    if api is None:
        return []
    left: list[str] = []
    try:
        for name in node_names(entry).values():
            if name is None:
                continue
            node = ClusterNode(api, name, expected_gpus=0, on_change=lambda: None)
            try:
                await node.uncordon()
            except HandoffError as err:
                _LOGGER.warning("The cordon of %s may be left: %s", name, err)
                left.append(name)
    finally:
        await api.close()
    return left
