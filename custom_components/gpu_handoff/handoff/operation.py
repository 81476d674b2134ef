"""What people and automations see of an operation: its view, its result, its events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .phases import Phase
from .reason import Reason
from .wish import Want
from .world import VmId


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationView:
    """One machine's operation now. `phase_started` is monotonic seconds."""

    vm_id: VmId
    operation: str
    want: Want
    phase: Phase
    phase_started: float
    asked_by: str = ""
    asked_at: str = ""
    spent_s: Mapping[Phase, float] = field(default_factory=dict)
    waiting_for: Reason | None = None
    late: Reason | None = None
    needs_person: Reason | None = None
    blockers: tuple[str, ...] = ()

    @property
    def target_on(self) -> bool:
        """Whether the machine is on once this has ended well."""
        return self.want is Want.PLAY


class Outcome(StrEnum):
    """How an operation ended."""

    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    NEEDS_PERSON = "needs_person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The end of an operation. `at` is an ISO time; `want` is what was asked for."""

    vm_id: VmId
    operation: str
    want: Want
    outcome: Outcome
    phase: Phase
    reason: Reason | None = None
    spent_s: Mapping[Phase, float] = field(default_factory=dict)
    at: str = ""


class EventKind(StrEnum):
    """What can happen to an operation."""

    STARTED = "started"
    PHASE_CHANGED = "phase_changed"
    FINISHED = "finished"
    FAILED = "failed"
    REFUSED = "refused"
    CANCELLED = "cancelled"
    NEEDS_PERSON = "needs_person"


EVENT_OF: Mapping[Outcome, EventKind] = {
    Outcome.DONE: EventKind.FINISHED,
    Outcome.FAILED: EventKind.FAILED,
    Outcome.REFUSED: EventKind.REFUSED,
    Outcome.CANCELLED: EventKind.CANCELLED,
    Outcome.NEEDS_PERSON: EventKind.NEEDS_PERSON,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffEvent:
    """Something happened to an operation."""

    kind: EventKind
    vm_id: VmId
    operation: str
    want: Want
    phase: Phase
    reason: Reason | None = None
    at: str = ""
