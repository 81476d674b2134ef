"""A refresh and the cards of the bus, put together to one view of the tower."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..handoff.reason import Reason
from ..handoff.world import Agent, Card, CardId, Power, TowerView, Vm
from .card_identity import KnownCard
from .domain_xml import BrokenXml, DomainXml, read_domain
from .pci import PciCard
from .pci_address import PciAddress
from .virsh import Refresh


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """The view, and what could not be read: that costs itself only."""

    view: TowerView
    problems: tuple[Reason, ...] = ()


def take_snapshot(
    refresh: Refresh, known: Sequence[KnownCard], found: Mapping[CardId, PciCard]
) -> Snapshot:
    """Build the view; `found` are the cards on the bus now, by our own id."""
    claims = _card_by_function(found)
    problems: list[Reason] = []
    vms = {}
    for uuid, name in refresh.names.items():
        power, because = refresh.states.get(uuid, (Power.UNKNOWN, ""))
        defined = _read(refresh.inactive.get(uuid, ""), name, problems)
        live = _read(refresh.live.get(uuid, ""), name, problems) or defined
        shown = live if power is not Power.OFF else defined or live
        vms[uuid] = Vm(
            vm_id=uuid,
            name=name,
            power=power,
            because=because,
            agent=shown.agent if shown else Agent.NONE,
            wants=_cards_of(defined or live, claims),
            holds=_cards_of(None if power is Power.OFF else live, claims),
        )
    cards = {card.card_id: _card(card, found.get(card.card_id)) for card in known}
    view = TowerView(vms=vms, cards=cards, boot_id=refresh.boot_id)
    return Snapshot(view=view, problems=tuple(dict.fromkeys(problems)))


def _read(text: str, name: str, problems: list[Reason]) -> DomainXml | None:
    if not text:
        return None
    try:
        return read_domain(text)
    except BrokenXml as err:
        problems.append(Reason.of("domain_xml_broken", vm=name, cause=err))
        return None


def _card_by_function(found: Mapping[CardId, PciCard]) -> dict[PciAddress, CardId]:
    return {
        function.address: card_id
        for card_id, card in found.items()
        for function in card.functions
    }


def _cards_of(
    domain: DomainXml | None, claims: Mapping[PciAddress, CardId]
) -> frozenset[CardId]:
    """The cards of which a domain claims at least one function."""
    functions: Iterable[PciAddress] = domain.functions if domain else ()
    return frozenset(claims[address] for address in functions if address in claims)


def _card(known: KnownCard, found: PciCard | None) -> Card:
    if found is None:
        return Card(
            card_id=known.card_id,
            model=known.model,
            address=known.address,
            missing=True,
        )
    dead = Reason.of("card_dead", card=known.model, address=known.address)
    return Card(
        card_id=known.card_id,
        model=known.model,
        address=known.address,
        host_driver=found.host_driver,
        opened_by=found.opened_by,
        dead=dead if found.lost else None,
    )
