"""Machines and cards, put together."""

from custom_components.gpu_handoff.handoff.world import Agent, Power
from custom_components.gpu_handoff.tower.card_identity import match
from custom_components.gpu_handoff.tower.pci import read_cards
from custom_components.gpu_handoff.tower.snapshot import (
    Snapshot,
    claimed_addresses,
    take_snapshot,
)
from custom_components.gpu_handoff.tower.virsh import read_refresh

from .cast import (
    ALICE,
    BOB,
    BOOT_ID,
    CARD1,
    CARD2,
    CARDS,
    NODE,
    Machine,
    domain,
    household,
    refresh_text,
)


def snapshot(machines: list[Machine], cards: str = CARDS) -> Snapshot:
    known, found = match([CARD1, CARD2], read_cards(cards))
    return take_snapshot(read_refresh(refresh_text(machines)), known, found)


def test_a_running_machine_holds_what_its_live_definition_has() -> None:
    view = snapshot(household()).view
    assert view.boot_id == BOOT_ID
    assert view.vms[NODE].power is Power.RUNNING
    assert view.vms[NODE].agent is Agent.CONNECTED
    assert view.vms[NODE].holds == {"card1", "card2"}
    assert [vm.name for vm in view.holders("card1")] == ["gpu-node"]


def test_a_machine_that_is_off_wants_its_cards_and_holds_none() -> None:
    alice = snapshot(household()).view.vms[ALICE]
    assert alice.power is Power.OFF
    assert alice.because == "shutdown"
    assert alice.wants == {"card1"}
    assert alice.holds == frozenset()


def test_a_crashed_machine_keeps_its_cards() -> None:
    """Its QEMU lives on after a panic, and only a person can end it."""
    machines = household()
    machines[0] = Machine(NODE, "lender", state=5, reason=0)
    machines[1] = Machine(ALICE, "gaming-red", CARD1, state=6, reason=1)
    machines[2] = Machine(BOB, "gaming-blue", CARD2, state=5, reason=3)
    vms = snapshot(machines).view.vms
    assert (vms[ALICE].power, vms[ALICE].because) == (Power.CRASHED, "panicked")
    assert vms[ALICE].holds == {"card1"}
    assert (vms[BOB].power, vms[BOB].because) == (Power.OFF, "crashed")
    assert vms[BOB].holds == frozenset()
    assert (vms[NODE].power, vms[NODE].because) == (Power.OFF, "")


def test_a_machine_in_an_unknown_state_may_hold_its_cards() -> None:
    machines = household()
    machines[1].state = 9
    alice = snapshot(machines).view.vms[ALICE]
    assert alice.power is Power.UNKNOWN
    assert alice.holds == {"card1"}


def test_a_machine_that_came_back_with_fewer_cards_still_wants_them_all() -> None:
    machines = household()
    machines[0].live = domain(NODE, "gpu-node", ["0000:02:00.0", "0000:02:00.1"])
    node = snapshot(machines).view.vms[NODE]
    assert node.holds == {"card2"}
    assert node.wants == {"card1", "card2"}


def test_one_function_of_a_card_is_a_claim_on_the_card() -> None:
    machines = household()
    machines[1].inactive = domain(ALICE, "gaming-alice", ["0000:01:00.1"])
    assert snapshot(machines).view.vms[ALICE].wants == {"card1"}


def test_a_device_that_is_no_card_is_no_card() -> None:
    machines = household()
    machines[1].inactive = domain(ALICE, "gaming-alice", ["0000:41:10.2"])
    assert snapshot(machines).view.vms[ALICE].wants == frozenset()


def test_broken_xml_costs_one_machine_its_cards_and_nothing_else() -> None:
    machines = household()
    machines[1].inactive = machines[1].live = "<domain><name>\n"
    taken = snapshot(machines)
    assert [r.key for r in taken.problems] == ["domain_xml_broken"]
    assert taken.problems[0].placeholders["vm"] == "gaming-alice"
    assert taken.view.vms[ALICE].power is Power.OFF
    assert taken.view.vms[ALICE].wants == frozenset()
    assert taken.view.vms[NODE].holds == {"card1", "card2"}


def test_where_only_the_live_xml_is_broken_the_definition_stands_in() -> None:
    machines = household()
    machines[0].live = "<domain><name>\n"
    node = snapshot(machines).view.vms[NODE]
    assert node.holds == {"card1", "card2"}


def test_a_transient_machine_has_only_live_xml() -> None:
    machines = household()
    machines[0].inactive = ""
    assert snapshot(machines).view.vms[NODE].wants == {"card1", "card2"}


def test_a_machine_of_which_nothing_was_said_is_there_and_unknown() -> None:
    refresh = read_refresh(refresh_text(household(), asked=[NODE]))
    view = take_snapshot(refresh, [], {}).view
    assert view.vms[ALICE].power is Power.UNKNOWN
    assert view.vms[ALICE].agent is Agent.NONE


def test_a_card_that_left_the_bus_is_missing_and_still_wanted() -> None:
    only_second = CARDS[CARDS.index("function=0000:02:00.0") :]
    view = snapshot(household(), only_second).view
    assert view.cards["card1"].missing
    assert view.cards["card1"].model == "RTX 4090"
    assert view.vms[ALICE].wants == {"card1"}
    assert not view.cards["card2"].missing


def test_a_card_that_the_host_has_says_so() -> None:
    text = CARDS.replace("driver=vfio-pci", "driver=nvidia", 1)
    opened = text + "open=/dev/nvidia0 7 Xorg\n"
    opened = opened.replace("group=10\n", "group=10\nnode=/dev/nvidia0\n", 1)
    card = snapshot(household(), opened).view.cards["card1"]
    assert card.host_driver == "nvidia"
    assert card.opened_by == ("Xorg (7)",)
    assert card.dead is None


def test_a_lost_card_is_dead_and_named() -> None:
    text = CARDS.replace("subsystem_device=0x87d5", "vendor=0xffff")
    known, found = match([], read_cards(text))
    view = take_snapshot(read_refresh(""), known, found).view
    dead = [card.dead for card in view.cards.values() if card.dead]
    assert [reason.key for reason in dead] == ["card_dead"]


def test_the_cards_that_machines_may_take_are_known_by_address() -> None:
    assert claimed_addresses(snapshot(household()).view) == {
        "0000:01:00.0",
        "0000:02:00.0",
    }
    assert claimed_addresses(snapshot([]).view) == set()
