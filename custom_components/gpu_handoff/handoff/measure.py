"""Asking the tower and the cluster, at the same time, what is there now."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

from .ports import ClusterPort, TowerPort
from .reason import HandoffError, Reason
from .world import ActKind, House, Sent, VmId, World


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
    tower_answer, *answers = await asyncio.gather(
        _ask(partial(tower.measure, fresh=fresh)),
        *(_ask(cluster.measure) for cluster in clusters.values()),
    )
    nodes = dict(zip(clusters, answers, strict=True))
    silent = isinstance(tower_answer, Reason)
    return World(
        house=house,
        tower=None if silent else tower_answer,
        tower_why=tower_answer if silent else None,
        nodes={i: a for i, a in nodes.items() if not isinstance(a, Reason)},
        nodes_why={i: a for i, a in nodes.items() if isinstance(a, Reason)},
        sent=sent,
    )


async def _ask(question: Callable[[], Awaitable[Any]]) -> Any:
    """Give the answer, or the reason why there is none."""
    try:
        return await question()
    except HandoffError as err:
        return err.reason
