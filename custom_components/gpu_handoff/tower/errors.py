"""What can go wrong between us and the host, by what follows from it."""

from ..handoff.reason import HandoffError, Unreachable

__all__ = [
    "ActFailed",
    "HandoffError",
    "HostKeyChanged",
    "LoginRefused",
    "Unreachable",
]


class HostKeyChanged(Unreachable):
    """The host showed another key than the pinned one: nothing was said to it."""


class LoginRefused(Unreachable):
    """What we have does not let us in: a person must give something else."""


class ActFailed(HandoffError):
    """The hypervisor refused an order; `cause` is its own sentence."""
