"""PCI addresses, in every way in which people and programs write them."""

from dataclasses import dataclass
import re
from typing import Self, override

_TEXT = re.compile(
    r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", re.IGNORECASE
)


@dataclass(frozen=True, slots=True, order=True)
class PciAddress:
    """One function of one slot."""

    domain: int
    bus: int
    slot: int
    function: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read `0000:0a:00.0`, with or without the domain. Raises ValueError."""
        match = _TEXT.fullmatch(text.strip())
        if match is None:
            msg = f"not a PCI address: {text!r}"
            raise ValueError(msg)
        domain, bus, slot, function = match.groups(default="0")
        return cls(int(domain, 16), int(bus, 16), int(slot, 16), int(function, 16))

    @property
    def slot_text(self) -> str:
        """The slot, which is one card: `0000:0a:00`."""
        return f"{self.domain:04x}:{self.bus:02x}:{self.slot:02x}"

    @override
    def __str__(self) -> str:
        """Write it as Linux does: `0000:0a:00.0`."""
        return f"{self.slot_text}.{self.function:x}"


def number(text: str | None) -> int:
    """Read a number as libvirt's XML has it: hex with 0x, octal with a leading 0, decimal.

    A missing attribute is 0. Raises ValueError.
    """
    text = (text or "0").strip().lower()
    if text.startswith("0x"):
        return int(text, 16)
    if len(text) > 1 and text.startswith("0"):
        return int(text, 8)
    return int(text, 10)
