"""What a domain's XML says of its agent and of the host's devices that it claims."""

from dataclasses import dataclass
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import fromstring

from ..handoff.world import Agent
from .pci_address import PciAddress, number

_AGENT = "org.qemu.guest_agent.0"


class BrokenXml(ValueError):
    """It is not the XML of a domain; the text says where it breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainXml:
    """A domain's claims on its host.

    `functions`: the host's PCI functions, with whether libvirt rebinds them by itself
    (managed). `mdevs`: mediated devices, which are no cards of ours.
    """

    uuid: str
    name: str
    agent: Agent
    functions: dict[PciAddress, bool]
    mdevs: tuple[str, ...] = ()


def read_domain(text: str) -> DomainXml:
    """Read a domain's XML, live or inactive. Raises BrokenXml."""
    try:
        root: Element = fromstring(text)
    except (ParseError, DefusedXmlException, ValueError) as err:
        raise BrokenXml(str(err)) from err
    if root.tag != "domain":
        msg = f"<{root.tag}> instead of <domain>"
        raise BrokenXml(msg)
    try:
        functions = dict(_functions(root))
    except ValueError as err:
        raise BrokenXml(str(err)) from err
    return DomainXml(
        uuid=(root.findtext("uuid") or "").strip().lower(),
        name=root.findtext("name") or "",
        agent=_agent(root),
        functions=functions,
        mdevs=tuple(
            address.get("uuid", "")
            for hostdev in root.iterfind("devices/hostdev[@type='mdev']")
            for address in hostdev.iterfind("source/address")
        ),
    )


def _functions(root: Element) -> list[tuple[PciAddress, bool]]:
    """The address beside <source> is the guest's own; only the one inside is the host's."""
    return [
        (_address(address), claim.get("managed") == "yes")
        for path in (
            "devices/hostdev[@type='pci']",
            "devices/interface[@type='hostdev']",
        )
        for claim in root.iterfind(path)
        for address in claim.iterfind("source/address")
    ]


def _address(element: Element) -> PciAddress:
    return PciAddress(
        number(element.get("domain")),
        number(element.get("bus")),
        number(element.get("slot")),
        number(element.get("function")),
    )


def _agent(root: Element) -> Agent:
    """The channel's state stands in live XML only; without it the agent is silent."""
    for target in root.iterfind("devices/channel/target"):
        if target.get("name") == _AGENT:
            connected = target.get("state") == "connected"
            return Agent.CONNECTED if connected else Agent.SILENT
    return Agent.NONE
