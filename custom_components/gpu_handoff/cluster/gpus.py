"""How many cards of a node pods can get, and why they may be fewer than there are."""

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


def count_gpus(
    node: Mapping[str, Any], expected: int
) -> tuple[int | None, Reason | None]:
    """Count allocatable cards; None where no device plugin has registered.

    Time-slicing multiplies what is allocatable by the replicas that the node's label
    tells (NVIDIA's device plugin, also where it renames the resource to gpu.shared).
    """
    name = node["metadata"]["name"]
    allocatable = node.get("status", {}).get("allocatable") or {}
    slots = [_whole(allocatable[key]) for key in RESOURCES if key in allocatable]
    if not slots:
        return None, Reason.of("gpus_not_registered", node=name)
    labels = node["metadata"].get("labels") or {}
    replicas = max(1, _whole(labels.get("nvidia.com/gpu.replicas", "1")))
    cards = sum(slots) // replicas
    if cards >= expected:
        return cards, None
    key = "gpus_unhealthy" if cards else "gpus_none"
    return cards, Reason.of(key, node=name, got=cards, expected=expected)


def _whole(text: object) -> int:
    return int(str(text)) if str(text).isdigit() else 0
