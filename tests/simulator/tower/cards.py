"""What the `cards` and `names` scripts print of this host's bus."""

from collections.abc import Iterator, Sequence

from ..house import PciFunction
from .host import Host
from .pci import PciBus

_SET_ASIDE = {"vfio-pci", "pci-stub", "pciback"}


def cards(bus: PciBus, host: Host, asked: Sequence[str]) -> str:
    """All functions of the display slots and of their IOMMU groups; who has them open."""
    lines = [line for function in _chosen(bus) for line in _function(bus, function)]
    drivers = {bus.driver(address) for address in asked if address in bus.functions}
    if drivers - _SET_ASIDE - {None}:
        lines += [f"open={it.node} {it.pid} {it.command}" for it in host.opened]
    return "".join(f"{line}\n" for line in lines)


def names(bus: PciBus, host: Host, asked: Sequence[str]) -> str:
    """`lspci -D -mm` for each address."""
    if not host.has_lspci:
        return ""
    return "".join(
        _lspci(bus.functions[address]) for address in asked if address in bus.functions
    )


def _chosen(bus: PciBus) -> list[PciFunction]:
    displays = [it for it in bus.functions.values() if it.is_display]
    slots = {it.address.rpartition(".")[0] for it in displays}
    groups = {it.group for it in displays if it.group is not None}
    return sorted(
        (
            it
            for it in bus.functions.values()
            if it.address.rpartition(".")[0] in slots or it.group in groups
        ),
        key=lambda it: it.address,
    )


def _function(bus: PciBus, function: PciFunction) -> Iterator[str]:
    driver = bus.driver(function.address)
    yield f"function={function.address}"
    yield f"driver={driver or '-'}"
    yield f"group={'-' if function.group is None else function.group}"
    yield f"class=0x{function.class_code}"
    yield f"vendor=0x{function.vendor}"
    yield f"device=0x{function.device}"
    yield f"subsystem_vendor=0x{function.subsystem_vendor}"
    yield f"subsystem_device=0x{function.subsystem_device}"
    yield f"power_state={bus.power_state(function.address)}"
    if function.is_display:
        yield f"boot_vga={int(function.boot_vga)}"
    if driver not in _SET_ASIDE and driver is not None:
        yield from (f"node={node}" for node in function.device_nodes)
        if function.console:
            yield f"console={function.console}"


def _lspci(function: PciFunction) -> str:
    return (
        f'{function.address} "{function.class_text}" "{function.vendor_text}" '
        f'"{function.device_text}" -ra1 -p00 "" ""\n'
    )
