"""The journal of operations, in Home Assistant's own storage."""

from typing import Any, override

from homeassistant.core import CoreState, HomeAssistant
from homeassistant.exceptions import HomeAssistantError
from homeassistant.helpers.storage import Store

from .const import DOMAIN

VERSION = 1


class _LoudStore(Store[dict[str, Any]]):
    """A store whose failed write raises: core's own logs it and goes on."""

    @override
    async def async_save(self, data: dict[str, Any]) -> None:
        """Write now, or raise OSError."""
        if self.hass.state in (CoreState.stopping, CoreState.final_write):
            raise OSError("Home Assistant is stopping")
        content = {
            "version": self.version,
            "minor_version": self.minor_version,
            "key": self.key,
            "data": data,
        }
        try:
            async with self._write_lock:
                self._manager.async_invalidate(self.key)
                await self._async_write_data(content)
        except (HomeAssistantError, ValueError, TypeError) as err:
            raise OSError(str(err)) from err


class JournalStore:
    """Implements the heart's Journal for one tower."""

    def __init__(self, hass: HomeAssistant, tower_id: str) -> None:
        """Name the file after the tower, so that it outlives a reload."""
        key = f"{DOMAIN}.{tower_id}"
        self._store = _LoudStore(hass, VERSION, key, private=True, atomic_writes=True)

    async def load(self) -> dict[str, Any] | None:
        """Return what was written last; a file that cannot be read is as good as none."""
        try:
            return await self._store.async_load()
        except HomeAssistantError:
            return None

    async def save(self, data: dict[str, Any]) -> None:
        """Write now; raises OSError."""
        await self._store.async_save(data)

    async def remove(self) -> None:
        """Forget everything."""
        await self._store.async_remove()
