"""A made-up PCI bus: two graphics cards with their audio functions, as files of sysfs."""

from dataclasses import dataclass
from pathlib import Path
import struct


@dataclass(frozen=True)
class Function:
    """One function; a bridge has the bus behind it."""

    address: str
    vendor: int
    device: int
    pci_class: int
    group: int
    driver: str
    bus_behind: int = 0


FUNCTIONS = (
    Function("0000:00:01.0", 0x8086, 0x1901, 0x060400, 1, "pcieport", 1),
    Function("0000:00:02.0", 0x8086, 0x1905, 0x060400, 2, "pcieport", 2),
    Function("0000:01:00.0", 0x10DE, 0x2684, 0x030000, 10, "vfio-pci"),
    Function("0000:01:00.1", 0x10DE, 0x22BA, 0x040300, 10, "vfio-pci"),
    Function("0000:02:00.0", 0x10DE, 0x2204, 0x030000, 11, "vfio-pci"),
    Function("0000:02:00.1", 0x10DE, 0x1AEF, 0x040300, 11, "vfio-pci"),
)


def make_bus(root: Path) -> None:
    """Write the bus, its IOMMU groups and /dev/vfio below `root`."""
    for driver in ("vfio-pci", "pcieport"):
        for name in ("bind", "unbind", "new_id", "remove_id"):
            _write(root / "pci/drivers" / driver / name, "")
    _write(root / "pci/drivers_probe", "")
    for function in FUNCTIONS:
        _make_function(root, function)
    _write(root / "vfio/vfio", "")


def _make_function(root: Path, function: Function) -> None:
    folder = root / "pci/devices" / function.address
    pci_id = f"{function.vendor:04X}:{function.device:04X}"
    override = function.driver if function.driver == "vfio-pci" else "(null)"
    files = {
        "class": f"0x{function.pci_class:06x}\n",
        "vendor": f"0x{function.vendor:04x}\n",
        "device": f"0x{function.device:04x}\n",
        "subsystem_vendor": "0x0000\n",
        "subsystem_device": "0x0000\n",
        "numa_node": "-1\n",
        "driver_override": f"{override}\n",
        "reset": "",
        "resource": "0x0 0x0 0x0\n",
        "uevent": f"DRIVER={function.driver}\nPCI_CLASS={function.pci_class:X}\n"
        f"PCI_ID={pci_id}\nPCI_SLOT_NAME={function.address}\n",
    }
    for name, text in files.items():
        _write(folder / name, text)
    (folder / "config").write_bytes(_config(function))
    links = {
        folder / "driver": f"/sys/bus/pci/drivers/{function.driver}",
        folder / "iommu_group": f"/sys/kernel/iommu_groups/{function.group}",
        folder / "subsystem": "/sys/bus/pci",
    }
    members = root / "iommu_groups" / str(function.group) / "devices"
    members.mkdir(parents=True, exist_ok=True)
    links[members / function.address] = f"/sys/bus/pci/devices/{function.address}"
    for link, target in links.items():
        link.symlink_to(target)
    _write(root / "vfio" / str(function.group), "")


def _config(function: Function) -> bytes:
    """PCI configuration space: a PCI Express capability with FLR, and power management."""
    space = bytearray(256)
    struct.pack_into("<HH", space, 0, function.vendor, function.device)
    struct.pack_into("<I", space, 8, (function.pci_class << 8) | 0xA1)
    if function.bus_behind:
        space[0x0E] = 1
        space[0x18:0x1B] = bytes((0, function.bus_behind, function.bus_behind))
    space[6] |= 0x10
    space[0x34] = 0x40
    space[0x40], space[0x41] = 0x10, 0x80
    port_type = 4 if function.bus_behind else 0
    struct.pack_into("<H", space, 0x42, 2 | port_type << 4)
    struct.pack_into("<I", space, 0x44, 1 << 28)
    space[0x80] = 0x01
    struct.pack_into("<H", space, 0x82, 3)
    return bytes(space)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
