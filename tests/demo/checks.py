"""Whether the world is as it should be: asked of the tower and the cluster themselves."""

from collections.abc import Mapping
from typing import Any

from .tower import ALICE, GPU_NODE, Tower

MARK = "gpu-handoff/cordoned-by"
GPUS = "nvidia.com/gpu"


def boot_id(node: Mapping[str, Any]) -> str:
    """Of the machine that the node's kubelet last ran on."""
    return str(node["status"]["nodeInfo"]["bootID"])


async def wrong_while_playing(tower: Tower) -> list[str]:
    """What is not as it should be after a handover."""
    node = await tower.node()
    return _failed(
        {
            "Alice's machine runs": await tower.power(ALICE) == "running",
            "the GPU node is off": await tower.power(GPU_NODE) == "shut off",
            "the node is cordoned": bool(node["spec"].get("unschedulable")),
            "the cordon is ours": MARK in _annotations(node),
        }
    )


async def wrong_after_return(tower: Tower, boot_id_before: str) -> list[str]:
    """What is not as it should be after a return."""
    node = await tower.node()
    ready = {
        condition["type"]: condition["status"]
        for condition in node["status"]["conditions"]
    }
    return _failed(
        {
            "Alice's machine is off": await tower.power(ALICE) == "shut off",
            "the GPU node runs": await tower.power(GPU_NODE) == "running",
            "the node is Ready": ready.get("Ready") == "True",
            "the node was booted anew": boot_id(node) != boot_id_before,
            "both cards are allocatable": node["status"]["allocatable"].get(GPUS)
            == "2",
            "the node is schedulable": not node["spec"].get("unschedulable"),
            "our cordon's mark is gone": MARK not in _annotations(node),
        }
    )


def _annotations(node: Mapping[str, Any]) -> Mapping[str, str]:
    found: Mapping[str, str] = node["metadata"].get("annotations") or {}
    return found


def _failed(checks: Mapping[str, bool]) -> list[str]:
    return [what for what, holds in checks.items() if not holds]
