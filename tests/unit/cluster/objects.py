"""Small Kubernetes objects, in the shapes that a real API server gives."""

import asyncio
from collections.abc import Callable
from typing import Any

NODE = "gpu1"


def node(
    *,
    gpus: str | None = "2",
    ready: str = "True",
    boot_id: str = "boot-1",
    labels: dict[str, str] | None = None,
    **spec: Any,
) -> dict[str, Any]:
    """A node of the cluster."""
    amounts = {"cpu": "8"} | ({"nvidia.com/gpu": gpus} if gpus is not None else {})
    return {
        "metadata": {"name": NODE, "labels": labels or {}},
        "spec": spec,
        "status": {
            "capacity": amounts,
            "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": ready}],
            "nodeInfo": {"bootID": boot_id, "systemUUID": "1" * 8},
        },
    }


def lease(renewed: str) -> dict[str, Any]:
    """The node's lease."""
    return {
        "metadata": {"name": NODE, "namespace": "kube-node-lease"},
        "spec": {"renewTime": renewed},
    }


def pod(
    name: str,
    *,
    namespace: str = "games",
    owner: str | None = "ReplicaSet",
    phase: str = "Running",
    labels: dict[str, str] | None = None,
    volumes: list[dict[str, Any]] | None = None,
    **meta: Any,
) -> dict[str, Any]:
    """A pod on the node."""
    owners = [{"kind": owner, "name": "o", "controller": True}] if owner else []
    return {
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": f"uid-{name}",
            "labels": labels or {},
            "ownerReferences": owners,
            **meta,
        },
        "spec": {"nodeName": NODE, "volumes": volumes or []},
        "status": {"phase": phase},
    }


def budget(
    name: str,
    selector: dict[str, Any] | None,
    *,
    namespace: str = "games",
    **status: Any,
) -> dict[str, Any]:
    """A disruption budget that its controller has looked at."""
    return {
        "metadata": {"name": name, "namespace": namespace, "generation": 1},
        "spec": {} if selector is None else {"selector": selector},
        "status": {
            "observedGeneration": 1,
            "disruptionsAllowed": 0,
            "currentHealthy": 1,
            "desiredHealthy": 1,
            "expectedPods": 1,
            **status,
        },
    }


async def until(condition: Callable[[], Any], within_s: float = 5.0) -> None:
    """Let the loop run until something is so."""
    async with asyncio.timeout(within_s):
        while not condition():
            await asyncio.sleep(0.002)
