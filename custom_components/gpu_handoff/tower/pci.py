"""The host's display cards, read from what the `cards` request prints."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from .pci_address import PciAddress

SET_ASIDE = frozenset({"vfio-pci", "pci-stub", "pciback"})
"""Drivers that only keep a function for a machine."""

_SPOILS_NO_GROUP = SET_ASIDE | {"pcieport"}


@dataclass(slots=True, kw_only=True)
class PciFunction:
    """One function; `driver` is None where nothing is bound."""

    address: PciAddress
    driver: str | None = None
    group: str | None = None
    facts: dict[str, str] = field(default_factory=dict)
    nodes: list[str] = field(default_factory=list)
    console: str | None = None

    @property
    def display(self) -> bool:
        """Whether this is a GPU: VGA (0300), 3D (0302) or another display class."""
        return self.facts.get("class", "").startswith("0x03")

    @property
    def ids(self) -> str:
        """vendor:device:subsystem vendor:subsystem device, in hex without 0x."""
        names = ("vendor", "device", "subsystem_vendor", "subsystem_device")
        return ":".join(self.facts.get(name, "").removeprefix("0x") for name in names)


@dataclass(frozen=True, slots=True, kw_only=True)
class PciCard:
    """A slot with a GPU in it, with all its functions.

    `spoilers`: members of its IOMMU group that a host's own driver has, which keeps the
    group from being given to a machine. `opened_by`: who on the host has it open now.
    """

    address: PciAddress
    ids: str
    functions: tuple[PciFunction, ...]
    group: str | None
    spoilers: tuple[PciAddress, ...] = ()
    opened_by: tuple[str, ...] = ()

    @property
    def host_driver(self) -> str | None:
        """The host's own driver that has the GPU, if one has."""
        main = next(f for f in self.functions if f.address == self.address)
        return None if main.driver in SET_ASIDE else main.driver

    @property
    def lost(self) -> bool:
        """Whether the card answers nothing any more: only a restart of the host helps."""
        return any(f.facts.get("vendor") == "0xffff" for f in self.functions)


def read_cards(text: str) -> list[PciCard]:
    """Read the request's answer; lines that mean nothing to us are left out."""
    functions, opened = _read(text)
    slots: dict[str, list[PciFunction]] = {}
    for function in functions:
        slots.setdefault(function.address.slot_text, []).append(function)
    return [
        _card(members, functions, opened)
        for members in slots.values()
        if any(function.display for function in members)
    ]


def _read(text: str) -> tuple[list[PciFunction], list[tuple[str, str]]]:
    functions: list[PciFunction] = []
    opened: list[tuple[str, str]] = []
    for key, value in _pairs(text):
        if key == "function":
            try:
                functions.append(PciFunction(address=PciAddress.parse(value)))
            except ValueError:
                continue
        elif key == "open":
            device, _, process = value.partition(" ")
            pid, _, command = process.partition(" ")
            opened.append((device, f"{command} ({pid})"))
        elif functions:
            _note(functions[-1], key, value)
    return functions, opened


def _pairs(text: str) -> Iterator[tuple[str, str]]:
    for line in text.splitlines():
        key, is_pair, value = line.partition("=")
        if is_pair:
            yield key, value.strip()


def _note(function: PciFunction, key: str, value: str) -> None:
    match key:
        case "driver":
            function.driver = None if value == "-" else value
        case "group":
            function.group = None if value == "-" else value
        case "node":
            function.nodes.append(value)
        case "console":
            function.console = value
        case _:
            function.facts[key] = value


def _card(
    members: list[PciFunction],
    functions: list[PciFunction],
    opened: list[tuple[str, str]],
) -> PciCard:
    main = next(function for function in members if function.display)
    nodes = {node for function in members for node in function.nodes}
    openers = [process for device, process in opened if device in nodes]
    consoles = [function.console for function in members if function.console]
    return PciCard(
        address=main.address,
        ids=main.ids,
        functions=tuple(members),
        group=main.group,
        spoilers=tuple(
            function.address
            for function in functions
            if function.group == main.group is not None
            and function.driver is not None
            and function.driver not in _SPOILS_NO_GROUP
            and not function.facts.get("class", "").startswith("0x0604")
        ),
        opened_by=tuple(dict.fromkeys(openers + consoles)),
    )


def read_models(text: str) -> dict[PciAddress, str]:
    """Read the `names` request (lspci -D -mm): what people call each card."""
    models: dict[PciAddress, str] = {}
    for line in text.splitlines():
        address, _, rest = line.partition(" ")
        words = rest.split('"')[1::2]
        try:
            models[PciAddress.parse(address)] = _short(words[2])
        except ValueError, IndexError:
            continue
    return models


def _short(device: str) -> str:
    """`GA106 [GeForce RTX 3050]` is a GeForce RTX 3050 to people."""
    _, bracket, marketing = device.partition("[")
    return marketing.rstrip("]").strip() if bracket else device.strip()
