"""What a domain's XML claims of its host."""

import pytest

from custom_components.gpu_handoff.handoff.world import Agent
from custom_components.gpu_handoff.tower.domain_xml import BrokenXml, read_domain

from .cast import ALICE, domain, hostdev

DECIMAL_AND_OCTAL = """
<domain type='kvm'>
  <name>gaming-red</name>
  <uuid>5F0B5C1E-6D0E-4C57-9A3E-0C1D8F3B7A01</uuid>
  <devices>
    <hostdev mode='subsystem' type='pci' managed='yes'>
      <source><address bus='10' slot='0' function='0'/></source>
    </hostdev>
    <hostdev mode='subsystem' type='pci' managed='yes'>
      <source><address domain='0' bus='012' slot='0x0' function='1'/></source>
    </hostdev>
    <hostdev mode='subsystem' type='pci'>
      <source><address domain='0x0000' bus='0X0B' slot='0x1f' function='0x7'/></source>
    </hostdev>
  </devices>
</domain>
"""

MIXED = """
<domain type='kvm' id='4'>
  <name>gaming-blue</name>
  <uuid>6a1d2f30-9c3b-4f2e-8a54-77b0e1c2d302</uuid>
  <devices>
    <interface type='hostdev' managed='yes'>
      <mac address='52:54:00:00:41:02'/>
      <source>
        <address type='pci' domain='0x0000' bus='0x41' slot='0x10' function='0x2'/>
      </source>
      <address type='pci' domain='0x0000' bus='0x04' slot='0x00' function='0x0'/>
    </interface>
    <hostdev mode='subsystem' type='pci' managed='yes'>
      <driver name='vfio'/>
      <source><address domain='0x0000' bus='0x0a' slot='0x00' function='0x0'/></source>
      <address type='pci' domain='0x0000' bus='0x03' slot='0x00' function='0x0'/>
    </hostdev>
    <hostdev mode='subsystem' type='pci'>
      <driver model='vfio-pci'/>
      <source><address domain='0x0000' bus='0x0a' slot='0x00' function='0x1'/></source>
      <address type='pci' domain='0x0000' bus='0x03' slot='0x00' function='0x1'/>
    </hostdev>
    <hostdev mode='subsystem' type='mdev' managed='no' model='vfio-pci' display='off'>
      <source><address uuid='c2177883-0000-47f0-914d-32a22e3a8804'/></source>
      <address type='pci' domain='0x0000' bus='0x05' slot='0x00' function='0x0'/>
    </hostdev>
    <hostdev mode='subsystem' type='usb' managed='yes'>
      <source><vendor id='0x1234'/><product id='0xbeef'/></source>
      <address type='usb' bus='0' port='1'/>
    </hostdev>
    <hostdev mode='subsystem' type='scsi'>
      <source><adapter name='scsi_host0'/><address bus='0' target='0' unit='0'/></source>
    </hostdev>
  </devices>
</domain>
"""


def managed(text: str) -> dict[str, bool]:
    return {str(claim.address): claim.managed for claim in read_domain(text).claims}


def test_addresses_are_read_in_decimal_octal_and_hex() -> None:
    assert managed(DECIMAL_AND_OCTAL) == {
        "0000:0a:00.0": True,
        "0000:0a:00.1": True,
        "0000:0b:1f.7": False,
    }


def test_two_functions_written_differently_are_in_one_slot() -> None:
    slots = {c.address.slot_text for c in read_domain(DECIMAL_AND_OCTAL).claims}
    assert slots == {"0000:0a:00", "0000:0b:1f"}


def test_the_uuid_is_lower_case() -> None:
    uuid = "5f0b5c1e-6d0e-4c57-9a3e-0c1d8f3b7a01"
    assert read_domain(DECIMAL_AND_OCTAL).uuid == uuid


def test_only_host_side_addresses_are_claims() -> None:
    assert managed(MIXED) == {
        "0000:0a:00.0": True,
        "0000:0a:00.1": False,
        "0000:41:10.2": True,
    }


def test_a_mediated_device_is_no_pci_claim() -> None:
    assert read_domain(MIXED).mdevs == ("c2177883-0000-47f0-914d-32a22e3a8804",)


@pytest.mark.parametrize(
    ("rom", "shown"),
    [
        ("<rom enabled='no'/>", False),
        ("<rom bar='off'/>", False),
        ("", True),
        ("<rom file='/var/lib/libvirt/vgabios/card.rom'/>", True),
        ("<rom bar='on'/>", True),
    ],
)
def test_every_way_to_hide_a_cards_rom_is_known(rom: str, *, shown: bool) -> None:
    devices = hostdev("0000:0a:00.0", rom)
    text = f"<domain><devices>{devices}</devices></domain>"
    assert [claim.shows_rom for claim in read_domain(text).claims] == [shown]


@pytest.mark.parametrize(
    ("channel", "agent"),
    [
        (None, Agent.NONE),
        ("silent", Agent.SILENT),
        ("connected", Agent.CONNECTED),
    ],
)
def test_the_agents_channel_says_how_it_is(channel: str | None, agent: Agent) -> None:
    assert read_domain(domain(ALICE, "alice", agent=channel)).agent is agent


def test_another_channel_is_no_agent() -> None:
    text = domain(ALICE, "alice").replace(
        "org.qemu.guest_agent.0", "com.redhat.spice.0"
    )
    assert read_domain(text).agent is Agent.NONE


def test_a_disconnected_agent_is_silent() -> None:
    text = domain(ALICE, "a", agent="connected").replace(
        "'connected'", "'disconnected'"
    )
    assert read_domain(text).agent is Agent.SILENT


@pytest.mark.parametrize("name", ["--all", 'Bob\'s "PC"', "a <b> & c", "ゲーム carol"])
def test_a_name_is_read_as_it_is(name: str) -> None:
    assert read_domain(domain(ALICE, name)).name == name


BOMB = "<!DOCTYPE d [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;&a;'>]><domain>&b;</domain>"
OUTSIDE = "<!DOCTYPE d [<!ENTITY x SYSTEM 'file:///etc/passwd'>]><domain>&x;</domain>"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not xml",
        "<domain><name>x</domain>",
        "<domain>\x01</domain>",
        "<network/>",
        BOMB,
        OUTSIDE,
        domain(ALICE, "a", ["0000:01:00.0"]).replace("0x01", "0xZZ"),
        domain(ALICE, "a", ["0000:01:00.0"]).replace("0x01", "09"),
    ],
)
def test_what_is_no_domain_is_said_to_be_broken(text: str) -> None:
    with pytest.raises(BrokenXml):
        read_domain(text)
