"""The closed set of what `decide` may answer for a wish."""

from dataclasses import dataclass

from .phases import Phase
from .reason import Reason
from .world import ActKind, VmId


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """Do this now."""

    kind: ActKind
    vm_id: VmId
    phase: Phase
    because: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """Nothing to do until something happens, or until the monotonic second `until`.

    `because`: what is waited for, where it has a name. `late`: the deadline has passed and
    waiting goes on all the same: a person should know.
    """

    phase: Phase
    until: float | None = None
    because: Reason | None = None
    late: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The wish is reached; `note` says what a person should know of it."""

    note: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """It cannot be done, and nothing was touched."""

    reason: Reason


@dataclass(frozen=True, slots=True, kw_only=True)
class RollBack:
    """It cannot be done any more: put back what was touched."""

    reason: Reason
    phase: Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsPerson:
    """Only a person can end this; the sentence says how."""

    reason: Reason
    phase: Phase


type Answer = Act | Wait | Done | Refuse | RollBack | NeedsPerson
