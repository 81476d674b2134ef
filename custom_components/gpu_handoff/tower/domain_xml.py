"""What a domain's XML says of its agent and of the host's devices that it claims."""

from dataclasses import dataclass
from functools import lru_cache
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from ..handoff.world import Agent
from .pci_address import PciAddress, number

_AGENT = "org.qemu.guest_agent.0"
_CLAIMS = (
    "devices/hostdev[@type='pci']",
    "devices/interface[@type='hostdev']",
    "devices/disk[@type='nvme']",
)


class BrokenXml(ValueError):
    """It is not the XML of a domain; the text says where it breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PciClaim:
    """One function of the host that a domain takes for itself.

    `managed`: libvirt rebinds it by itself. `shows_rom`: the guest's firmware is given an
    option ROM.
    """

    address: PciAddress
    managed: bool
    shows_rom: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainXml:
    """A domain's claims on its host. `mdevs` are mediated devices: no cards of ours."""

    uuid: str
    name: str
    agent: Agent
    claims: tuple[PciClaim, ...]
    mdevs: tuple[str, ...] = ()


@lru_cache(maxsize=128)
def read_domain(text: str) -> DomainXml:
    """Read a domain's XML, live or inactive. Raises BrokenXml."""
    try:
        root: Element = fromstring(text, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError) as err:
        raise BrokenXml(str(err)) from err
    if root.tag != "domain":
        msg = f"<{root.tag}> instead of <domain>"
        raise BrokenXml(msg)
    try:
        claims = tuple(_claims(root))
    except ValueError as err:
        raise BrokenXml(str(err)) from err
    return DomainXml(
        uuid=(root.findtext("uuid") or "").strip().lower(),
        name=root.findtext("name") or "",
        agent=_agent(root),
        claims=claims,
        mdevs=tuple(
            address.get("uuid", "")
            for hostdev in root.iterfind("devices/hostdev[@type='mdev']")
            for address in hostdev.iterfind("source/address")
        ),
    )


def _claims(root: Element) -> list[PciClaim]:
    """The address beside <source> is the guest's own; the one inside is the host's."""
    return [
        PciClaim(
            address=_address(address),
            managed=device.get("managed") == "yes",
            shows_rom=_shows_rom(device.find("rom")),
        )
        for path in _CLAIMS
        for device in root.iterfind(path)
        for address in device.iterfind("source/address")
    ]


def _address(element: Element) -> PciAddress:
    return PciAddress(
        number(element.get("domain")),
        number(element.get("bus")),
        number(element.get("slot")),
        number(element.get("function")),
    )


def _shows_rom(rom: Element | None) -> bool:
    """Without a word the card's own ROM is shown; a file of one's own is a ROM too."""
    if rom is None:
        return True
    return rom.get("enabled") != "no" and rom.get("bar") != "off"


def _agent(root: Element) -> Agent:
    """The channel's state stands in live XML only; without it the agent is silent."""
    for target in root.iterfind("devices/channel/target"):
        if target.get("name") == _AGENT:
            connected = target.get("state") == "connected"
            return Agent.CONNECTED if connected else Agent.SILENT
    return Agent.NONE
