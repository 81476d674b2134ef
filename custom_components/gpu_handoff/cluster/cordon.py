"""Changing the node's cordon, which others change too."""

from collections.abc import Callable, Mapping
from typing import Any

from ..handoff.reason import Unreachable
from ..handoff.world import Mark
from . import paths
from .client import Api
from .errors import ApiError
from .mark import cordon_patch, is_cordoned, read_mark, uncordon_patch

TRIES = 6
_NOT_FOUND, _CONFLICT = 404, 409

type Node = Mapping[str, Any]
type _Change = Callable[[Node], Node | None]


async def cordon(api: Api, name: str, mark: Mark, known: Node | None) -> Node:
    """Cordon a node with our mark and return it; a cordon of somebody else's stays bare."""

    def change(node: Node) -> Node | None:
        standing = read_mark(node)
        foreign = is_cordoned(node) and standing is None
        done = is_cordoned(node) and standing == mark
        return None if foreign or done else cordon_patch(node, mark)

    return await _apply(api, name, change, known)


async def uncordon(api: Api, name: str, known: Node | None) -> Node:
    """Undo our own cordon only, and return the node."""

    def change(node: Node) -> Node | None:
        return None if read_mark(node) is None else uncordon_patch(node)

    return await _apply(api, name, change, known)


async def _apply(api: Api, name: str, change: _Change, known: Node | None) -> Node:
    """Change what is known of the node; read it anew where somebody was quicker."""
    path = paths.node(name)
    try:
        for _ in range(TRIES):
            node = known or await api.get(path)
            patch = change(node)
            if patch is None and known is None:
                return node
            known = None
            if patch is None:
                continue
            reply = await api.send("PATCH", path, body=patch)
            if reply.status != _CONFLICT:
                changed: Node = api.body_of("PATCH", path, reply)
                return changed
    except ApiError as error:
        if error.status == _NOT_FOUND:
            raise Unreachable("node_not_found", node=name) from error
        raise
    raise Unreachable("node_busy", node=name)
