"""One GPU node as the heart sees it: watched, cordoned, drained, given back."""

import asyncio
from collections.abc import Callable, Mapping
import logging
import time
from typing import Any

from ..handoff.reason import Reason, Unreachable
from ..handoff.world import Mark, NodeView
from . import cordon as cordons, paths
from .client import Api
from .drain import Drain
from .gpus import count_gpus
from .lease import Lease
from .mark import is_cordoned, read_mark
from .nodes import boot_id_of, is_ready
from .pods import DrainOptions
from .volumes import Attachments
from .watch import Watched

STALE_S = 40.0
"""Watches that have said nothing for longer are not believed without asking."""

_LOGGER = logging.getLogger(__name__)


class ClusterNode:
    """Implements the heart's ClusterPort over one API server."""

    def __init__(
        self,
        api: Api,
        node_name: str,
        *,
        expected_gpus: int,
        on_change: Callable[[], None],
        options: DrainOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is asked yet. `on_change` is called when view or problem changed."""
        self.node_name = node_name
        self.expected_gpus = expected_gpus
        self.view: NodeView | None = None
        self.problem: Reason | None = None
        self._api = api
        self._on_change = on_change
        self._clock = clock
        here = f"metadata.name={node_name}"
        self._node = self._watched(paths.NODES, here)
        self._lease_list = self._watched(paths.LEASES, here)
        self._pods = self._watched(paths.PODS, f"spec.nodeName={node_name}")
        self._parts = (self._node, self._lease_list, self._pods)
        self._lease = Lease()
        self._attachments = Attachments(api, node_name, self._look)
        self._drain = Drain(api, options or DrainOptions(), self._attachments, clock)
        self._asking = asyncio.Lock()
        self._watching: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Keep watching until cancelled or closed."""
        watching = self._watching = asyncio.create_task(self._watch())
        try:
            await asyncio.wait((watching,))
        finally:
            await self.close()
        if not watching.cancelled():
            watching.result()

    async def close(self) -> None:
        """End what runs; the API is its owner's to close."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def measure(self) -> NodeView:
        """Tell what the cluster knows: from the watches while they live, else by asking."""
        async with self._asking:
            if not self._is_fresh():
                await self._ask()
        await self._attachments.ask()
        self._look()
        if self.view is None:
            raise Unreachable("node_not_found", node=self.node_name)
        return self.view

    async def cordon(self, mark: Mark) -> None:
        """Make the node unschedulable and mark it ours; a foreign cordon stays as it is."""
        known = self._known
        if known is None or read_mark(known) != mark:
            self._drain.forget()
        node = await cordons.cordon(self._api, self.node_name, mark, known)
        self._node.put(node)

    async def uncordon(self) -> None:
        """Undo our own cordon only."""
        node = await cordons.uncordon(self._api, self.node_name, self._known)
        self._drain.forget()
        self._node.put(node)

    async def evict(self) -> None:
        """Send one eviction for each pod that is due, none while a pod is BLOCKED."""
        await self.measure()
        try:
            await self._drain.evict(tuple(self._pods.items.values()))
        finally:
            self._look()

    def _watched(self, path: str, selector: str) -> Watched:
        return Watched(self._api, path, selector, self._look, clock=self._clock)

    async def _watch(self) -> None:
        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(part.run())
            group.create_task(self._attachments.run())

    async def _ask(self) -> None:
        asked = (part.list() for part in self._parts)
        for trouble in await asyncio.gather(*asked, return_exceptions=True):
            if trouble is not None:
                raise trouble
        for part in self._parts:
            part.backoff.cut_short()

    def _is_fresh(self) -> bool:
        heard_at = max(part.heard_at for part in self._parts)
        recent = self._clock() - heard_at < STALE_S
        return recent and all(part.following for part in self._parts)

    @property
    def _known(self) -> Mapping[str, Any] | None:
        return self._node.items.get(f"/{self.node_name}")

    def _look(self) -> None:
        """See what the parts hold now; tell if that is news."""
        lease = self._lease_list.items.get(f"kube-node-lease/{self.node_name}") or {}
        self._lease.see(
            (lease.get("spec") or {}).get("renewTime"),
            self._clock(),
            self._lease_list.trouble,
        )
        before = self.view, self.problem
        self.problem = self._trouble()
        self.view = self._seen() if self.problem is None else None
        self._log(before[1], self.problem)
        if before != (self.view, self.problem):
            self._on_change()

    def _trouble(self) -> Reason | None:
        for part in self._parts:
            if part.trouble is not None:
                return part.trouble
        if self._node.listed and self._known is None:
            return Reason.of("node_not_found", node=self.node_name)
        return None

    def _log(self, before: Reason | None, now: Reason | None) -> None:
        """Say it once when the node goes out of sight, and once when it is back."""
        if before is None and now is not None:
            words = now.key, dict(now.placeholders)
            _LOGGER.warning("Node %s cannot be seen: %s %s", self.node_name, *words)
        elif before is not None and now is None:
            _LOGGER.info("Node %s can be seen again", self.node_name)

    def _seen(self) -> NodeView | None:
        node = self._known
        if node is None or not all(part.listed for part in self._parts):
            return None
        gpus, gpus_why = count_gpus(node, self.expected_gpus)
        return NodeView(
            name=self.node_name,
            ready=is_ready(node),
            schedulable=not is_cordoned(node),
            boot_id=boot_id_of(node),
            mark=read_mark(node),
            lease_changed_at=self._lease.changed_at,
            gpus=gpus,
            gpus_why=gpus_why,
            pods=self._drain.pods(self._pods.items.values()),
            volumes=self._attachments.names,
        )
