"""The host's PCI bus, and libvirt's rule that a card has one holder."""

from collections.abc import Iterable

from ..house import PciFunction
from .errors import LibvirtError


class PciBus:
    """Functions by address; who holds which, by the holder's name."""

    def __init__(self, functions: Iterable[PciFunction]) -> None:
        self.functions = {function.address: function for function in functions}
        self._holders: dict[str, str] = {}

    def holder(self, address: str) -> str | None:
        return self._holders.get(address)

    def driver(self, address: str) -> str | None:
        """The driver that is bound now: vfio-pci as long as a machine has it."""
        if address in self._holders:
            return "vfio-pci"
        return self.functions[address].driver

    def power_state(self, address: str) -> str:
        return "D3cold" if self.functions[address].dead else "D0"

    def kill(self, address: str) -> None:
        """All functions of a card fall into a sleep that only a reboot ends."""
        for function in self._slot(address):
            function.dead = True

    def remove(self, address: str) -> None:
        """The card falls off the bus."""
        for function in self._slot(address):
            del self.functions[function.address]

    def claim(self, addresses: Iterable[str], name: str) -> None:
        """Give functions to a machine, or raise what libvirt and QEMU say."""
        wanted = tuple(addresses)
        for address in wanted:
            self._check(address)
        for address in wanted:
            self._holders[address] = name

    def release(self, addresses: Iterable[str]) -> None:
        for address in addresses:
            self._holders.pop(address, None)

    def displays(self, addresses: Iterable[str]) -> int:
        """How many of them are cards (and not a card's audio or USB function)."""
        return sum(self.functions[address].is_display for address in addresses)

    def _slot(self, address: str) -> list[PciFunction]:
        slot = address.rpartition(".")[0]
        return [
            function
            for function in self.functions.values()
            if function.address.startswith(slot)
        ]

    def _check(self, address: str) -> None:
        if (function := self.functions.get(address)) is None:
            raise LibvirtError(
                f"Device {address} not found: could not access "
                f"/sys/bus/pci/devices/{address}/config: No such file or directory"
            )
        for member in self._group(function):
            if holder := self._holders.get(member):
                raise LibvirtError(
                    f"Requested operation is not valid: PCI device {member} "
                    f"is in use by driver QEMU, domain {holder}"
                )
        if function.dead:
            raise LibvirtError(
                f"internal error: Unknown PCI header type '127' for device '{address}'"
            )

    def _group(self, function: PciFunction) -> list[str]:
        if function.group is None:
            return [function.address]
        return sorted(
            other.address
            for other in self.functions.values()
            if other.group == function.group
        )
