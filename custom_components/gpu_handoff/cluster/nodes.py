"""Finding the node that a machine is, among a cluster's nodes."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from . import paths
from .client import Api
from .gpus import count_gpus


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundNode:
    """A node of the cluster. `gpus` is None where no device plugin has registered."""

    name: str
    system_uuid: str
    ready: bool
    gpus: int | None


async def find_nodes(api: Api) -> list[FoundNode]:
    """List the nodes. Raises Unreachable."""
    listed = await api.get(paths.NODES)
    return [_found(node) for node in listed.get("items") or ()]


def _found(node: dict[str, Any]) -> FoundNode:
    return FoundNode(
        name=node["metadata"]["name"],
        system_uuid=node.get("status", {}).get("nodeInfo", {}).get("systemUUID", ""),
        ready=is_ready(node),
        gpus=count_gpus(node, 0)[0],
    )


def is_ready(node: dict[str, Any]) -> bool:
    """Whether the node's own condition says so; that alone proves little."""
    conditions = node.get("status", {}).get("conditions") or ()
    return any(
        c.get("type") == "Ready" and c.get("status") == "True" for c in conditions
    )


def node_of(vm_id: str, nodes: Iterable[FoundNode]) -> FoundNode | None:
    """The node whose firmware tells the machine's UUID, in either byte order."""
    return next((node for node in nodes if same_machine(vm_id, node.system_uuid)), None)


def same_machine(vm_id: str, system_uuid: str) -> bool:
    """Compare UUIDs; SMBIOS stores the first three fields little-endian."""
    try:
        ours, theirs = UUID(vm_id), UUID(system_uuid)
    except ValueError:
        return False
    return theirs in (ours, UUID(bytes_le=ours.bytes))
