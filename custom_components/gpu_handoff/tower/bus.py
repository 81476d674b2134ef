"""The cards of a host: which ones it has now, and which of our known ones they are."""

from collections.abc import Iterable, Sequence

from ..handoff.reason import Reason
from ..handoff.world import CardId
from . import requests
from .card_identity import KnownCard, match
from .errors import Unreachable
from .pci import PciCard
from .ssh import Connection


class Bus:
    """What was seen when the bus was last looked at.

    `known` holds every card ever seen; `found` those on the bus, by our own id. `watched`
    are the addresses for which it was asked who has them open.
    """

    def __init__(self, known: Sequence[KnownCard] = ()) -> None:
        """Nothing is looked at yet."""
        self.known: tuple[KnownCard, ...] = tuple(known)
        self.found: dict[CardId, PciCard] = {}
        self.watched: frozenset[str] = frozenset()
        self.problem: Reason | None = None

    async def look(self, connection: Connection, claimed: Iterable[str]) -> None:
        """Look again. What cannot be read stays as it was last, and is a problem."""
        watched = frozenset(claimed)
        try:
            found = await requests.cards(connection, watched)
            names = await requests.models(connection, self._nameless(found))
        except Unreachable as err:
            self.problem = err.reason
            return
        self.problem = None
        self.watched = watched
        known, self.found = match(self.known, found, names)
        self.known = tuple(known)

    def _nameless(self, found: Iterable[PciCard]) -> list[str]:
        """Cards of which nobody has asked yet what people call them."""
        named = {(card.address, card.ids) for card in self.known if card.model}
        return [
            str(card.address)
            for card in found
            if (str(card.address), card.ids) not in named
        ]
