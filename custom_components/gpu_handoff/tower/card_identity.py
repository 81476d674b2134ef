"""Which card is which: an id of our own that outlives a renumbered bus."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self
from uuid import uuid4

from .pci import PciCard
from .pci_address import PciAddress


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownCard:
    """A card that was seen once, with the evidence that it is this one."""

    card_id: str
    address: str
    ids: str
    model: str = ""
    gpu_uuid: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Write it for keeping."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Read it back; fields of a later version are left out."""
        names = ("card_id", "address", "ids", "model", "gpu_uuid")
        return cls(**{name: data[name] for name in names if name in data})


def match(
    known: Sequence[KnownCard],
    found: Iterable[PciCard],
    models: Mapping[PciAddress, str] | None = None,
) -> tuple[list[KnownCard], dict[str, PciCard]]:
    """Tell which found card is which known one, and make ids for new ones.

    Two equal cards are told apart by their address. A card that moved is known by its ids;
    equal ones that all moved keep their order on the bus. Returns all known cards, those
    that are missing now too, and the found ones by our own id.
    """
    models = models or {}
    left = {str(card.address): card for card in found}
    matched: dict[str, PciCard] = {}
    for card in known:
        at_home = left.get(card.address)
        if at_home is not None and at_home.ids == card.ids:
            matched[card.card_id] = left.pop(card.address)
    elsewhere = [card for card in known if card.card_id not in matched]
    for card in sorted(elsewhere, key=lambda moved: moved.address):
        alike = sorted(address for address in left if left[address].ids == card.ids)
        if alike:
            matched[card.card_id] = left.pop(alike[0])
    updated = [_refreshed(card, matched, models) for card in known]
    for new in left.values():
        card = KnownCard(
            card_id=uuid4().hex[:12],
            address=str(new.address),
            ids=new.ids,
            model=models.get(new.address, "") or new.ids[:9],
        )
        updated.append(card)
        matched[card.card_id] = new
    return updated, matched


def _refreshed(
    card: KnownCard, matched: Mapping[str, PciCard], models: Mapping[PciAddress, str]
) -> KnownCard:
    found = matched.get(card.card_id)
    if found is None:
        return card
    model = models.get(found.address) or card.model
    return replace(card, address=str(found.address), model=model)
