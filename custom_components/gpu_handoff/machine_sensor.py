"""What happens with a machine, how that ended, and how a GPU node is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, override

from homeassistant.components.sensor import (
    SensorDeviceClass,
    SensorEntity,
    SensorEntityDescription,
)
from homeassistant.const import EntityCategory
from homeassistant.core import State, callback
from homeassistant.helpers.restore_state import RestoreEntity

from .coordinator import HandoffCoordinator
from .entity import VmEntity
from .handoff.operation import Outcome
from .handoff.phases import Phase
from .handoff.reason import Reason
from .handoff.world import VmId
from .sentences import async_sentence
from .state import HandoffState, NodeState

NOTHING_YET = "none"
RESULT_FACTS = ("operation", "phase", "at", "seconds", "reason")


@dataclass(frozen=True, kw_only=True)
class VmSensorDescription(SensorEntityDescription):
    """`value_fn`: the state; `facts_fn`: attributes; `reason_fn`: a sentence beside them."""

    value_fn: Callable[[HandoffState, VmId], str | None]
    facts_fn: Callable[[HandoffState, VmId], Mapping[str, Any]]
    reason_fn: Callable[[HandoffState, VmId], Reason | None]


def _phase(state: HandoffState, vm_id: VmId) -> str:
    operation = state.operations.get(vm_id)
    return operation.phase if operation else Phase.IDLE


def _operation_facts(state: HandoffState, vm_id: VmId) -> Mapping[str, Any]:
    operation = state.operations.get(vm_id)
    if operation is None:
        return {}
    return {
        "operation": operation.operation,
        "target": operation.want,
        "since": operation.asked_at,
        "blockers": list(operation.blockers),
    }


def _waiting_for(state: HandoffState, vm_id: VmId) -> Reason | None:
    operation = state.operations.get(vm_id)
    if operation is None:
        return None
    return operation.needs_person or operation.late or operation.waiting_for


def _result_facts(state: HandoffState, vm_id: VmId) -> Mapping[str, Any]:
    result = state.last.get(vm_id)
    if result is None:
        return {}
    return {
        "operation": result.operation,
        "phase": result.phase,
        "at": result.at,
        "seconds": {phase: round(s, 1) for phase, s in result.spent_s.items()},
    }


def _last_outcome(state: HandoffState, vm_id: VmId) -> str:
    return state.last[vm_id].outcome if vm_id in state.last else NOTHING_YET


def _last_reason(state: HandoffState, vm_id: VmId) -> Reason | None:
    return state.last[vm_id].reason if vm_id in state.last else None


def _node_facts(state: HandoffState, vm_id: VmId) -> Mapping[str, Any]:
    view = state.nodes.get(vm_id)
    if view is None:
        return {}
    return {
        "node": view.name,
        "schedulable": view.schedulable,
        "ready": view.ready,
        "cards": view.gpus,
        "cordoned_by_us": view.mark is not None,
    }


PHASE_SENSOR = VmSensorDescription(
    key="phase",
    translation_key="phase",
    device_class=SensorDeviceClass.ENUM,
    options=[phase.value for phase in Phase],
    value_fn=_phase,
    facts_fn=_operation_facts,
    reason_fn=_waiting_for,
)

LAST_RESULT_SENSOR = VmSensorDescription(
    key="last_result",
    translation_key="last_result",
    device_class=SensorDeviceClass.ENUM,
    entity_category=EntityCategory.DIAGNOSTIC,
    options=[NOTHING_YET, *(outcome.value for outcome in Outcome)],
    value_fn=_last_outcome,
    facts_fn=_result_facts,
    reason_fn=_last_reason,
)

NODE_SENSOR = VmSensorDescription(
    key="node",
    translation_key="node",
    device_class=SensorDeviceClass.ENUM,
    options=[state.value for state in NodeState],
    value_fn=HandoffState.node_state,
    facts_fn=_node_facts,
    reason_fn=lambda state, vm_id: state.nodes_why.get(vm_id),
)


class VmSensor(VmEntity, SensorEntity):
    """Something about a machine."""

    entity_description: VmSensorDescription

    def __init__(
        self,
        coordinator: HandoffCoordinator,
        vm_id: VmId,
        description: VmSensorDescription,
    ) -> None:
        """Show no sentence yet."""
        super().__init__(coordinator, vm_id, description)
        self._said: Reason | None = None
        self._sentence: str | None = None

    @property
    @override
    def native_value(self) -> str | None:
        return self.entity_description.value_fn(self._state, self._thing)

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any]:
        facts = self.entity_description.facts_fn(self._state, self._thing)
        return {**facts, "reason": self._sentence}

    @override
    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        self._look_for_words()

    @callback
    @override
    def _handle_coordinator_update(self) -> None:
        self._look_for_words()
        super()._handle_coordinator_update()

    @callback
    def _look_for_words(self) -> None:
        reason = self.entity_description.reason_fn(self._state, self._thing)
        if reason != self._said:
            self._said, self._sentence = reason, None
            if reason is not None:
                self.coordinator.config_entry.async_create_task(
                    self.hass, self._say(reason), "gpu_handoff sentence"
                )

    async def _say(self, reason: Reason) -> None:
        sentence = await async_sentence(self.hass, reason)
        if reason == self._said:
            self._sentence = sentence
            self.async_write_ha_state()


class LastResultSensor(VmSensor, RestoreEntity):
    """How the last operation ended; it outlives a restart of Home Assistant."""

    _before: State | None = None

    @override
    async def async_added_to_hass(self) -> None:
        await super().async_added_to_hass()
        kept = await self.async_get_last_state()
        if kept and kept.state in (self.options or ()):
            self._before = kept

    @property
    @override
    def native_value(self) -> str | None:
        return self._kept.state if self._kept else super().native_value

    @property
    @override
    def extra_state_attributes(self) -> Mapping[str, Any]:
        if self._kept is None:
            return super().extra_state_attributes
        attributes = self._kept.attributes
        return {name: attributes[name] for name in RESULT_FACTS if name in attributes}

    @property
    def _kept(self) -> State | None:
        """What was shown before the restart, until there is something newer."""
        return None if self._thing in self._state.last else self._before
