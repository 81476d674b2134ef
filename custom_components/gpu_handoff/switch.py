"""A switch for each gaming machine: on, and it has its card; off, and the cluster has it."""

import asyncio
from typing import Any, override

from homeassistant.components.switch import SwitchEntity, SwitchEntityDescription
from homeassistant.core import HomeAssistant, ServiceResponse
from homeassistant.helpers.entity_platform import AddConfigEntryEntitiesCallback

from .const import SUBENTRY_GAMING
from .coordinator import HandoffConfigEntry
from .entity import VmEntity, add_for_machines
from .errors import translated
from .handoff.loop import Reconciler
from .handoff.operation import Result
from .handoff.reason import HandoffError
from .sentences import async_sentence

# An "off" that waited for an "on" could never cancel it: the heart serialises.
PARALLEL_UPDATES = 0

DESCRIPTION = SwitchEntityDescription(key="play", translation_key="play")


async def async_setup_entry(
    hass: HomeAssistant,
    entry: HandoffConfigEntry,
    async_add_entities: AddConfigEntryEntitiesCallback,
) -> None:
    """Set up a switch for each gaming machine."""
    coordinator = entry.runtime_data
    add_for_machines(
        entry,
        SUBENTRY_GAMING,
        async_add_entities,
        lambda vm_id: [PlaySwitch(coordinator, vm_id, DESCRIPTION)],
    )


class PlaySwitch(VmEntity, SwitchEntity):
    """Shows the target while an operation runs, and the measured truth after it."""

    _attr_name = None

    @property
    @override
    def is_on(self) -> bool | None:
        return self._state.is_on(self._thing)

    @override
    async def async_turn_on(self, **kwargs: Any) -> None:
        """Accept the wish to play; the rest goes on by itself."""
        await self.async_hand_over(wait=False)

    @override
    async def async_turn_off(self, **kwargs: Any) -> None:
        """Accept the wish to give back; the rest goes on by itself."""
        await self.async_give_back(wait=False)

    async def async_hand_over(self, wait: bool) -> ServiceResponse:
        """Hand the card over; with `wait` answer with the result."""
        with translated():
            operation = await self._heart.hand_over(self._thing, self._who())
        return await self._answer(operation, wait)

    async def async_give_back(self, wait: bool) -> ServiceResponse:
        """Give the card back; with `wait` answer with the result."""
        with translated():
            operation = await self._heart.give_back(self._thing, self._who())
        return await self._answer(operation, wait)

    async def async_cancel(self) -> None:
        """Put back what the running operation touched."""
        with translated():
            await self._heart.cancel(self._thing)

    async def async_preflight(self) -> ServiceResponse:
        """Tell what a handover would do now, without doing it."""
        with translated():
            check = await self._heart.preflight(self._thing)
        refusal = check.refusal
        return {
            "possible": refusal is None,
            "reason": await async_sentence(self.hass, refusal),
            "stops": list(check.stops),
            "evicts": list(check.evicts),
            "blockers": list(check.blockers),
        }

    @property
    def _heart(self) -> Reconciler:
        return self.coordinator.heart

    def _who(self) -> str:
        return (self._context.user_id or "") if self._context else ""

    async def _answer(self, operation: str, wait: bool) -> ServiceResponse:
        self.coordinator.async_push()
        if not wait:
            return {"operation": operation}
        with translated():
            result = await self._end_of(operation)
        return {
            "operation": operation,
            "outcome": result.outcome,
            "phase": result.phase,
            "reason": await async_sentence(self.hass, result.reason),
            "seconds": {phase: round(s, 1) for phase, s in result.spent_s.items()},
        }

    async def _end_of(self, operation: str) -> Result:
        """Wait for the end; a reload ends the waiting, but neither operation nor caller."""
        try:
            return await self._heart.wait_for(operation)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            raise HandoffError("set_up_anew") from None
