"""Asking the tower and the cluster, at the same time, what is there now."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any

from .ports import ClusterPort, TowerPort
from .reason import HandoffError, Reason
from .world import ActKind, House, NodeView, Sent, VmId, World


async def measure(
    house: House,
    tower: TowerPort,
    clusters: Mapping[VmId, ClusterPort],
    sent: Mapping[tuple[ActKind, VmId], Sent],
    *,
    fresh: bool,
) -> World:
    """Build the world; a side that does not answer is missing in it, with its reason.

    `sent` is copied before anything is asked: an act that returns while the answers are on
    their way must not be judged by answers from before its end.
    """
    sent = dict(sent)
    seen: list[tuple[Any, Reason | None]] = await asyncio.gather(
        _ask(tower.measure(fresh=fresh)),
        *(_ask(cluster.measure()) for cluster in clusters.values()),
    )
    (tower_view, tower_why), *views = seen
    nodes: dict[VmId, NodeView] = {}
    nodes_why: dict[VmId, Reason] = {}
    for node_id, (view, why) in zip(clusters, views, strict=True):
        if view is not None:
            nodes[node_id] = view
        elif why is not None:
            nodes_why[node_id] = why
    return World(
        house=house,
        tower=tower_view,
        tower_why=tower_why,
        nodes=nodes,
        nodes_why=nodes_why,
        sent=sent,
    )


async def _ask[T](question: Coroutine[Any, Any, T]) -> tuple[T | None, Reason | None]:
    try:
        return await question, None
    except HandoffError as err:
        return None, err.reason
