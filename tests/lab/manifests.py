"""Kubernetes objects that tests put into the lab's cluster."""

from collections.abc import Mapping
from typing import Any

READY_AFTER = {"lab/ready-delay": "1500ms"}
"""A pod is not ready at once: evictions of one budget that meet are tried again by the
server itself after half a second, and a quicker replacement would hide the budget."""


def deployment(
    name: str,
    *,
    replicas: int,
    gpus: int,
    grace_s: int,
    labels: dict[str, str],
    on_node: str | None,
) -> dict[str, Any]:
    """A deployment whose pods would rather run on one node; nothing really runs in them."""
    container: dict[str, Any] = {"name": "c", "image": f"image.invalid/{name}"}
    if gpus:
        container["resources"] = {"limits": {"nvidia.com/gpu": str(gpus)}}
    spec: dict[str, Any] = {
        "terminationGracePeriodSeconds": grace_s,
        "containers": [container],
    }
    if on_node:
        spec["affinity"] = {"nodeAffinity": _prefer(on_node)}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels, "annotations": READY_AFTER},
                "spec": spec,
            },
        },
    }


def budget(
    name: str,
    match_labels: Mapping[str, str],
    min_available: int | None,
    max_unavailable: int | None,
) -> dict[str, Any]:
    """A disruption budget."""
    spec: dict[str, Any] = {"selector": {"matchLabels": dict(match_labels)}}
    if min_available is not None:
        spec["minAvailable"] = min_available
    if max_unavailable is not None:
        spec["maxUnavailable"] = max_unavailable
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": name},
        "spec": spec,
    }


def _prefer(node: str) -> dict[str, Any]:
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    term = {"weight": 100, "preference": {"matchFields": [field]}}
    return {"preferredDuringSchedulingIgnoredDuringExecution": [term]}
