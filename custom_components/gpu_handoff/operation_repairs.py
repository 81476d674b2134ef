"""A repair for each operation that waits past its time, or for a person; gone when it moves."""

from collections.abc import Callable

from homeassistant.core import HomeAssistant, callback
from homeassistant.helpers import issue_registry as ir

from .const import DOMAIN
from .coordinator import HandoffCoordinator
from .handoff.reason import Reason
from .handoff.world import VmId
from .sentences import async_sentence


class OperationRepairs:
    """Follows the operations of one tower."""

    def __init__(self, hass: HomeAssistant, coordinator: HandoffCoordinator) -> None:
        """Show nothing yet."""
        self._hass = hass
        self._coordinator = coordinator
        self._shown: dict[VmId, tuple[str, Reason]] = {}

    @callback
    def async_follow(self) -> Callable[[], None]:
        """Begin; what is returned ends it and takes the repairs away."""
        remove = self._coordinator.async_add_listener(self._look)

        @callback
        def stop() -> None:
            remove()
            for vm_id in list(self._shown):
                self._take_away(vm_id)

        return stop

    @callback
    def _look(self) -> None:
        due = self._due()
        for vm_id in self._shown.keys() - due.keys():
            self._take_away(vm_id)
        for vm_id, (kind, reason) in due.items():
            if self._shown.get(vm_id) != (kind, reason):
                self._shown[vm_id] = (kind, reason)
                self._coordinator.config_entry.async_create_task(
                    self._hass, self._show(vm_id, kind, reason), f"{DOMAIN} repair"
                )

    def _due(self) -> dict[VmId, tuple[str, Reason]]:
        due: dict[VmId, tuple[str, Reason]] = {}
        for vm_id, operation in self._coordinator.data.operations.items():
            if operation.needs_person:
                due[vm_id] = ("needs_person", operation.needs_person)
            elif operation.late:
                due[vm_id] = ("late", operation.waiting_for or operation.late)
        return due

    async def _show(self, vm_id: VmId, kind: str, reason: Reason) -> None:
        sentence = await async_sentence(self._hass, reason)
        if self._shown.get(vm_id) != (kind, reason):
            return
        ir.async_create_issue(
            self._hass,
            DOMAIN,
            f"operation_{vm_id}",
            is_fixable=False,
            severity=ir.IssueSeverity.WARNING
            if kind == "late"
            else ir.IssueSeverity.ERROR,
            translation_key=f"operation_{kind}",
            translation_placeholders={
                "vm": self._coordinator.data.title(vm_id),
                "reason": sentence or "",
            },
        )

    @callback
    def _take_away(self, vm_id: VmId) -> None:
        del self._shown[vm_id]
        ir.async_delete_issue(self._hass, DOMAIN, f"operation_{vm_id}")
