"""Who shall have the cards of a machine, and what is remembered of the way there."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .phases import Phase
from .reason import Reason
from .world import VmId


class Want(StrEnum):
    """What is wished for a gaming machine's cards.

    PLAY: the machine runs and has them. LEND: it is off and the cluster has them. RESTORE:
    everything is as it was before a PLAY that failed or was cancelled.
    """

    PLAY = "play"
    LEND = "lend"
    RESTORE = "restore"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeBefore:
    """What a GPU node was when an operation first touched it."""

    running: bool
    boot_id: str = ""
    stopped: bool = False
    """Whether it was seen off since: only then must its boot id have changed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why an operation did not reach its wish."""

    phase: Phase
    reason: Reason
    cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """One gaming machine's wish, as journalled.

    `asked_at` is an ISO time for people. `phase_since` is monotonic; the journal stores the
    seconds spent instead. `settled`: a PLAY that was reached; it stays until the machine is
    off, so that the cards can go home by themselves then.
    """

    vm_id: VmId
    want: Want
    operation: str
    asked_by: str = ""
    asked_at: str = ""
    phase: Phase = Phase.CHECKING
    phase_since: float = 0.0
    spent_s: Mapping[Phase, float] = field(default_factory=dict)
    before: Mapping[VmId, NodeBefore] = field(default_factory=dict)
    failure: Failure | None = None
    settled: bool = False

    @property
    def untouched(self) -> bool:
        """Whether nothing was done for it yet: here "no" costs nothing."""
        return not self.before and self.phase in (Phase.CHECKING, Phase.QUEUED)

    def same_as(self, other: Wish) -> bool:
        """Whether this is still the same wish, however far it has come."""
        return (self.operation, self.want) == (other.operation, other.want)
