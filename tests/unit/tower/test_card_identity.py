"""Which card is which, when the bus is renumbered."""

from custom_components.gpu_handoff.tower.card_identity import KnownCard, match
from custom_components.gpu_handoff.tower.pci import PciCard, read_cards, read_models

from .cast import CARD1, CARD2, CARDS, NAMES


def cards_at(*buses: str, device: str = "2684") -> list[PciCard]:
    """Equal cards on these buses."""
    text = "".join(
        f"function=0000:{bus}:00.0\nclass=0x030000\nvendor=0x10de\ndevice=0x{device}\n"
        "subsystem_vendor=0x1043\nsubsystem_device=0x88e2\n"
        for bus in buses
    )
    return read_cards(text)


def where(
    known: list[KnownCard], found: list[PciCard]
) -> tuple[dict[str, str], set[str]]:
    """The address of each card that was found, and the ids of those that were not."""
    updated, matched = match(known, found)
    addresses = {card_id: str(card.address) for card_id, card in matched.items()}
    return addresses, {c.card_id for c in updated} - set(addresses)


def twin(card_id: str, bus: str) -> KnownCard:
    return KnownCard(
        card_id=card_id, address=f"0000:{bus}:00.0", ids=CARD1.ids, model="RTX 4090"
    )


def test_cards_that_stay_where_they_are_stay_who_they_are() -> None:
    updated, matched = match([CARD1, CARD2], read_cards(CARDS))
    assert updated == [CARD1, CARD2]
    assert set(matched) == {"card1", "card2"}


def test_a_new_card_gets_an_id_of_our_own_and_its_name() -> None:
    updated, matched = match([], read_cards(CARDS), read_models(NAMES))
    assert [card.model for card in updated] == ["RTX 4090", "RTX 3090"]
    assert {card.card_id for card in updated} == set(matched)
    assert len(set(matched)) == 2
    assert not any("01:00" in card_id for card_id in matched)


def test_a_card_that_nobody_can_name_is_called_by_its_ids() -> None:
    updated, _ = match([], read_cards(CARDS))
    assert updated[0].model == "10de:2684"


def test_a_renumbered_bus_changes_no_identity() -> None:
    renumbered = CARDS.replace("0000:02:", "0000:03:").replace("0000:01:", "0000:02:")
    updated, matched = match([CARD1, CARD2], read_cards(renumbered))
    assert {card.card_id: card.address for card in updated} == {
        "card1": "0000:02:00.0",
        "card2": "0000:03:00.0",
    }
    assert set(matched) == {"card1", "card2"}


def test_two_equal_cards_are_told_apart_by_their_address() -> None:
    known = [twin("left", "01"), twin("right", "02")]
    assert where(known, cards_at("02", "01")) == (
        {"left": "0000:01:00.0", "right": "0000:02:00.0"},
        set(),
    )


def test_equal_cards_that_all_moved_keep_their_order() -> None:
    known = [twin("right", "02"), twin("left", "01")]
    assert where(known, cards_at("06", "05")) == (
        {"left": "0000:05:00.0", "right": "0000:06:00.0"},
        set(),
    )


def test_of_two_equal_cards_the_one_that_stayed_is_not_mistaken_for_the_other() -> None:
    known = [twin("left", "01"), twin("right", "02")]
    assert where(known, cards_at("02", "07")) == (
        {"right": "0000:02:00.0", "left": "0000:07:00.0"},
        set(),
    )


def test_a_card_that_is_gone_is_still_known() -> None:
    known = [twin("left", "01"), twin("right", "02")]
    assert where(known, cards_at("02")) == ({"right": "0000:02:00.0"}, {"left"})


def test_another_model_in_the_same_slot_is_another_card() -> None:
    updated, matched = match([CARD1], cards_at("01", device="2b85"))
    assert updated[0].card_id == "card1"
    assert len(updated) == 2
    assert "card1" not in matched


def test_a_known_card_can_be_kept_and_read_back() -> None:
    assert KnownCard.from_dict(CARD1.as_dict() | {"of a later version": 1}) == CARD1


def test_a_card_gets_its_name_when_somebody_knows_it() -> None:
    nameless = KnownCard(card_id="card1", address=CARD1.address, ids=CARD1.ids)
    updated, _ = match([nameless], read_cards(CARDS), read_models(NAMES))
    assert updated[0].model == "RTX 4090"
