"""Finding the node that a machine is, among a cluster's nodes."""

from collections.abc import Iterable, Mapping
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
    """List the nodes; raises Unreachable."""
    listed = await api.get(paths.NODES)
    return [_found(node) for node in listed.get("items") or ()]


def node_of(vm_id: str, nodes: Iterable[FoundNode]) -> FoundNode | None:
    """Pick the node whose firmware tells the machine's UUID, in either byte order."""
    return next((node for node in nodes if same_machine(vm_id, node.system_uuid)), None)


def same_machine(vm_id: str, system_uuid: str) -> bool:
    """Compare UUIDs; SMBIOS stores the first three fields little-endian."""
    try:
        ours, theirs = UUID(vm_id), UUID(system_uuid)
    except ValueError:
        return False
    return theirs in (ours, UUID(bytes_le=ours.bytes))


def is_ready(node: Mapping[str, Any]) -> bool:
    """Whether the node's own condition says so; that alone proves little."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    return any(
        c.get("type") == "Ready" and c.get("status") == "True" for c in conditions
    )


def boot_id_of(node: Mapping[str, Any]) -> str:
    """Tell which boot of the machine the node object speaks of."""
    return str(_info(node).get("bootID") or "")


def _info(node: Mapping[str, Any]) -> Mapping[str, Any]:
    return (node.get("status") or {}).get("nodeInfo") or {}


def _found(node: Mapping[str, Any]) -> FoundNode:
    return FoundNode(
        name=node["metadata"]["name"],
        system_uuid=str(_info(node).get("systemUUID") or ""),
        ready=is_ready(node),
        gpus=count_gpus(node, 0)[0],
    )
