"""What can go wrong between us and the host, as sentences."""

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
    """The host does not let us in with what we have."""


class ActFailed(HandoffError):
    """The hypervisor refused an order; `cause` is its own sentence."""
