"""How many cards the pods of a node can get, and why there are fewer than expected."""

from collections.abc import Mapping
from typing import Any

from ..handoff.reason import Reason

RESOURCES = (
    "nvidia.com/gpu",
    "nvidia.com/gpu.shared",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
)
"""Whole cards, as device plugins call them; MIG slices are none."""


def count_gpus(
    node: Mapping[str, Any], expected: int
) -> tuple[int | None, Reason | None]:
    """Count allocatable cards; None where no device plugin has registered."""
    name = node["metadata"]["name"]
    slots = _slots(node, "allocatable")
    if slots is None:
        return None, Reason.of("gpus_not_registered", node=name, expected=expected)
    replicas = _replicas(node)
    cards = min(slots // replicas, _told_count(node) or slots)
    if cards >= expected:
        return cards, None
    if cards == 0:
        return 0, Reason.of("gpus_none", node=name, expected=expected)
    unhealthy = ((_slots(node, "capacity") or 0) - slots) // replicas
    key = "gpus_unhealthy" if unhealthy > 0 else "gpus_too_few"
    return cards, Reason.of(
        key, node=name, got=cards, expected=expected, unhealthy=unhealthy
    )


def _slots(node: Mapping[str, Any], part: str) -> int | None:
    amounts = (node.get("status") or {}).get(part) or {}
    found = [_whole(amounts.get(resource)) for resource in RESOURCES]
    known = [amount for amount in found if amount is not None]
    return sum(known) if known else None


def _replicas(node: Mapping[str, Any]) -> int:
    """Time-slicing multiplies what is allocatable, renamed to gpu.shared or not."""
    return _label(node, "nvidia.com/gpu.replicas") or 1


def _told_count(node: Mapping[str, Any]) -> int:
    """The number of cards as feature discovery tells it; 0 where it says nothing of use."""
    sliced = _text(node, "nvidia.com/mig.strategy") not in ("", "none")
    return 0 if sliced else _label(node, "nvidia.com/gpu.count")


def _label(node: Mapping[str, Any], key: str) -> int:
    return _whole(_text(node, key)) or 0


def _text(node: Mapping[str, Any], key: str) -> str:
    return str((node["metadata"].get("labels") or {}).get(key, ""))


def _whole(amount: object) -> int | None:
    text = str(amount)
    return int(text) if text.isdecimal() else None
