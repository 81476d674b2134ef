"""The node's lease: proof that its kubelet lives, without trusting anybody's clock."""

from dataclasses import dataclass, field

from ..handoff.reason import Reason


@dataclass(slots=True)
class Lease:
    """Remembers when the lease was seen to change; the first sight proves nothing."""

    changed_at: float | None = None
    _renewed: str | None = field(default=None, init=False)

    def see(self, renewed: str | None, now: float, silent: Reason | None) -> None:
        """Take note of a renewal time.

        After a silence it is a first sight again: it may have changed long ago.
        """
        if silent is not None:
            self._renewed = None
            return
        if renewed is None or renewed == self._renewed:
            return
        if self._renewed is not None:
            self.changed_at = now
        self._renewed = renewed
