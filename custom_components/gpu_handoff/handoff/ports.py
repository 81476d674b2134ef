"""The two doors of the heart: a tower and a cluster node, whatever they are made of."""

from collections.abc import Iterable
from typing import Protocol

from .world import ActKind, CardId, Mark, NodeView, TowerView, VmId


class TowerPort(Protocol):
    """A host whose machines can be seen, started and asked to shut down."""

    async def measure(self, *, fresh: bool) -> TowerView:
        """Tell what is there now.

        With `fresh` the host is asked; else the last answer will do while the host's own
        events say that nothing has happened since. Raises Unreachable.
        """

    async def act(self, kind: ActKind, vm_id: VmId) -> None:
        """Start, resume, wake or shut down a machine.

        Returns when the host has taken the order, which proves nothing: measure. Raises
        HandoffError with what the host said.
        """

    async def let_go(self, cards: Iterable[CardId]) -> None:
        """Close everything of ours that has these cards open on the host. Never raises."""


class ClusterPort(Protocol):
    """One GPU node, seen by its cluster."""

    async def measure(self) -> NodeView:
        """Tell what the cluster knows of the node now. Raises Unreachable."""

    async def cordon(self, mark: Mark) -> None:
        """Make the node unschedulable and leave our mark. Raises HandoffError."""

    async def uncordon(self) -> None:
        """Undo our own cordon; leave anybody else's. Raises HandoffError."""

    async def evict(self) -> None:
        """Send one eviction for each pod that is due; answers show in `measure`.

        Sends nothing at all while any pod is BLOCKED. Raises HandoffError.
        """
