"""Our own cordon, as it stands on the node: an annotation that says whose it is."""

from collections.abc import Mapping
import json
from typing import Any

from ..handoff.world import Mark

ANNOTATION = "gpu-handoff/cordoned-by"
BEFORE = "schedulable_before"


def is_cordoned(node: Mapping[str, Any]) -> bool:
    """Whether nothing new is scheduled there."""
    return bool((node.get("spec") or {}).get("unschedulable"))


def read_mark(node: Mapping[str, Any]) -> Mark | None:
    """Read the mark of a node; a damaged one is still ours, with nothing in it."""
    text = _annotation(node)
    if text is None:
        return None
    said = _read(text)
    return Mark(
        operation=str(said.get("operation", "")),
        vm_id=str(said.get("vm_id", "")),
        boot_id=str(said.get("boot_id", "")),
    )


def cordon_patch(node: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """Set cordon and mark at once, and only if the node is still as it was read."""
    words = {
        "operation": mark.operation,
        "vm_id": mark.vm_id,
        "boot_id": mark.boot_id,
        BEFORE: True,
    }
    return _patch(node, {"unschedulable": True}, json.dumps(words))


def uncordon_patch(node: Mapping[str, Any]) -> dict[str, Any]:
    """Undo both at once; a cordon that stood before ours stays."""
    ours = _read(_annotation(node) or "").get(BEFORE, True) is not False
    return _patch(node, {"unschedulable": None} if ours else {}, None)


def _annotation(node: Mapping[str, Any]) -> str | None:
    annotations = node["metadata"].get("annotations") or {}
    text: str | None = annotations.get(ANNOTATION)
    return text


def _read(text: str) -> Mapping[str, Any]:
    """Read the annotation; what a later version may have added is left alone."""
    try:
        said = json.loads(text)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def _patch(
    node: Mapping[str, Any], spec: Mapping[str, Any], annotation: str | None
) -> dict[str, Any]:
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "annotations": {ANNOTATION: annotation},
        },
        "spec": spec,
    }
