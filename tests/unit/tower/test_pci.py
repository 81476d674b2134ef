"""The host's display cards."""

import pytest

from custom_components.gpu_handoff.tower.pci import read_cards, read_models
from custom_components.gpu_handoff.tower.pci_address import PciAddress, number

from .cast import CARDS, NAMES

TURING = """\
function=0000:16:00.0
driver=vfio-pci
group=21
class=0x030000
vendor=0x10de
device=0x1e89
subsystem_vendor=0x1b4c
subsystem_device=0x12ed
function=0000:16:00.1
driver=vfio-pci
group=21
class=0x040300
function=0000:16:00.2
driver=xhci_hcd
group=21
class=0x0c0330
function=0000:16:00.3
driver=-
group=21
class=0x0c8000
function=0000:15:00.0
driver=pcieport
group=21
class=0x060400
function=0000:86:00.0
driver=vfio-pci
group=40
class=0x030200
vendor=0x10de
device=0x15f8
"""


def test_a_card_is_every_function_of_its_slot() -> None:
    cards = {card.address.slot_text: card for card in read_cards(TURING)}
    functions = [f.address.function for f in cards["0000:16:00"].functions]
    assert functions == [0, 1, 2, 3]


def test_a_3d_controller_is_a_card_too() -> None:
    tesla = read_cards(TURING)[1]
    assert str(tesla.address) == "0000:86:00.0"
    assert tesla.functions[0].facts["class"] == "0x030200"


def test_a_host_driver_on_a_member_spoils_the_group_and_nothing_else_does() -> None:
    turing, tesla = read_cards(TURING)
    assert [str(address) for address in turing.spoilers] == ["0000:16:00.2"]
    assert tesla.spoilers == ()


def test_a_card_set_aside_for_machines_has_no_host_driver() -> None:
    assert [card.host_driver for card in read_cards(CARDS)] == [None, None]


def test_an_unbound_card_has_no_host_driver() -> None:
    cards = read_cards(CARDS.replace("driver=vfio-pci", "driver=-"))
    assert cards[0].host_driver is None


HOST_CARD = """\
function=0000:01:00.0
driver=nvidia
group=-
class=0x030000
vendor=0x10de
device=0x2684
node=/dev/dri/card0
node=/dev/nvidia0
console=(M) frame buffer device
open=/dev/nvidia0 812 nvidia-persiste
open=/dev/nvidia0 812 nvidia-persiste
open=/dev/nvidia1 900 Xorg
open=/dev/dri/card0 950 sway session
"""


def test_who_has_a_card_open_is_named_once_with_the_console() -> None:
    card = read_cards(HOST_CARD)[0]
    assert card.host_driver == "nvidia"
    assert card.group is None
    assert card.opened_by == (
        "nvidia-persiste (812)",
        "sway session (950)",
        "(M) frame buffer device",
    )


def test_a_card_that_reads_as_all_ones_is_lost() -> None:
    card = read_cards(HOST_CARD.replace("vendor=0x10de", "vendor=0xffff"))[0]
    assert card.lost
    assert not read_cards(HOST_CARD)[0].lost


def test_junk_between_the_lines_costs_nothing() -> None:
    junk = "a line\n=\nnode=/dev/early\nfunction=not an address\n"
    assert read_cards(junk + CARDS) == read_cards(CARDS)
    assert read_cards("") == []


def test_ids_are_vendor_device_and_subsystem() -> None:
    cards = read_cards(CARDS)
    assert [card.ids for card in cards] == [
        "10de:2684:1043:88e2",
        "10de:2204:1043:87d5",
    ]


def test_a_card_has_the_name_that_people_know() -> None:
    models = read_models(
        NAMES + '0000:03:00.0 "VGA" "AMD" "Navi 31"\njunk\n0000:04:00.0 "VGA"\n'
    )
    assert {str(address): model for address, model in models.items()} == {
        "0000:01:00.0": "RTX 4090",
        "0000:02:00.0": "RTX 3090",
        "0000:03:00.0": "Navi 31",
    }


@pytest.mark.parametrize(
    ("text", "value"),
    [("10", 10), ("012", 10), ("0x0a", 10), ("0X0A", 10), ("0", 0), (None, 0)],
)
def test_numbers_are_read_as_libvirt_reads_them(text: str | None, value: int) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("0000:0a:00.0", "0000:0a:00.0"),
        ("0A:00.1", "0000:0a:00.1"),
        ("10000:e1:1f.7", "10000:e1:1f.7"),
        ("00000000:0A:00.0", "0000:0a:00.0"),
    ],
)
def test_an_address_is_written_as_linux_does(text: str, address: str) -> None:
    assert str(PciAddress.parse(text)) == address


@pytest.mark.parametrize("text", ["", "0a:00", "0000:0a:00.8", "x", "0a:00.0 --all"])
def test_what_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not a PCI address"):
        PciAddress.parse(text)
