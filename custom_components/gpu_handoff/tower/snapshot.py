"""A refresh and the cards of the bus, put together to one view of the tower."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..handoff.reason import Reason
from ..handoff.world import Agent, Card, CardId, Power, TowerView, Vm
from .card_identity import KnownCard
from .domain_xml import BrokenXml, DomainXml, read_domain
from .pci import PciCard
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
    card_in = _card_by_slot(known, found)
    problems: dict[str, Reason] = {}
    vms: dict[str, Vm] = {}
    for vm_id, name in refresh.names.items():
        power, because = refresh.states.get(vm_id, (Power.UNKNOWN, ""))
        defined = _read(refresh.inactive.get(vm_id), name, problems)
        running = _read(refresh.live.get(vm_id), name, problems)
        shown = running or defined
        vms[vm_id] = Vm(
            vm_id=vm_id,
            name=name,
            power=power,
            because=because,
            agent=shown.agent if shown else Agent.NONE,
            wants=_cards_of(defined or running, card_in),
            holds=_cards_of(None if power is Power.OFF else shown, card_in),
        )
    cards = {card.card_id: _card(card, found.get(card.card_id)) for card in known}
    view = TowerView(vms=vms, cards=cards, boot_id=refresh.boot_id)
    return Snapshot(view=view, problems=tuple(problems.values()))


def claimed_addresses(view: TowerView) -> set[str]:
    """The cards that some machine may take: who has them open on the host matters."""
    claimed = frozenset[CardId]().union(*(vm.wants for vm in view.vms.values()))
    return {view.cards[card].address for card in claimed if card in view.cards}


def _read(text: str | None, name: str, problems: dict[str, Reason]) -> DomainXml | None:
    if not text:
        return None
    try:
        return read_domain(text)
    except BrokenXml as err:
        problems[name] = Reason.of("domain_xml_broken", vm=name, cause=err)
        return None


def _card_by_slot(
    known: Sequence[KnownCard], found: Mapping[CardId, PciCard]
) -> dict[str, CardId]:
    """Which card is in a slot; one that is missing still has the slot it was last in."""
    last = {_slot(card.address): card.card_id for card in known}
    return last | {card.address.slot_text: card_id for card_id, card in found.items()}


def _slot(address: str) -> str:
    return address.rpartition(".")[0]


def _cards_of(
    domain: DomainXml | None, card_in: Mapping[str, CardId]
) -> frozenset[CardId]:
    """The cards of which a domain claims at least one function."""
    slots = [claim.address.slot_text for claim in domain.claims] if domain else []
    return frozenset(card_in[slot] for slot in slots if slot in card_in)


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
