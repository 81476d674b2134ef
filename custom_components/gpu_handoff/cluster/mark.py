"""Our own cordon, as it stands on the node: an annotation that says whose it is."""

from collections.abc import Mapping
import json
from typing import Any

from ..handoff.world import Mark

ANNOTATION = "gpu-handoff/cordoned-by"


def read_mark(node: Mapping[str, Any]) -> Mark | None:
    """Read the mark of a node object; a damaged one is still ours, with nothing in it."""
    text = (node.get("metadata", {}).get("annotations") or {}).get(ANNOTATION)
    if text is None:
        return None
    try:
        said = json.loads(text)
        words = {name: str(said.get(name, "")) for name in Mark.__dataclass_fields__}
    except ValueError, AttributeError:
        words = dict.fromkeys(Mark.__dataclass_fields__, "")
    return Mark(**words)


def cordon_patch(node: Mapping[str, Any], mark: Mark) -> dict[str, Any]:
    """Both at once, and only if the node is still as it was read."""
    text = json.dumps(
        {"operation": mark.operation, "vm_id": mark.vm_id, "boot_id": mark.boot_id}
    )
    return _patch(node, unschedulable=True, annotation=text)


def uncordon_patch(node: Mapping[str, Any]) -> dict[str, Any]:
    """Undo both at once."""
    return _patch(node, unschedulable=None, annotation=None)


def _patch(
    node: Mapping[str, Any], *, unschedulable: bool | None, annotation: str | None
) -> dict[str, Any]:
    return {
        "metadata": {
            "resourceVersion": node["metadata"]["resourceVersion"],
            "annotations": {ANNOTATION: annotation},
        },
        "spec": {"unschedulable": unschedulable},
    }
