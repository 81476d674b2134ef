"""One GPU node as the heart sees it: watched, cordoned, drained, given back."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
import logging
import time
from typing import Any

from ..handoff.reason import Reason, Unreachable
from ..handoff.world import Fate, Mark, NodeView, Pod
from . import paths
from .client import Api
from .errors import ApiError
from .evictions import Verdict, evict
from .gpus import count_gpus
from .mark import cordon_patch, read_mark, uncordon_patch
from .nodes import is_ready
from .pods import DrainOptions, claims_of, judge
from .volumes import still_attached, volumes_of
from .watch import Watched

_LOGGER = logging.getLogger(__name__)

_CONFLICT = 409
_TRIES = 5
_VOLUMES_EVERY_S = 2.0


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
        """Nothing is asked yet. `on_change` is called when something changed."""
        self.node_name = node_name
        self._api = api
        self._expected_gpus = expected_gpus
        self._options = options or DrainOptions()
        self._on_change = on_change
        self._clock = clock
        self._node = self._watched(paths.NODES, f"metadata.name={node_name}")
        self._lease = self._watched(paths.LEASES, f"metadata.name={node_name}")
        self._pods = self._watched(paths.PODS, f"spec.nodeName={node_name}")
        self._renewed: str | None = None
        self._lease_changed_at: float | None = None
        self._verdicts: dict[str, tuple[float, Verdict]] = {}
        self._volumes: set[str] = set()
        self._volume_watch: asyncio.Task[None] | None = None
        self._away = False

    @property
    def view(self) -> NodeView | None:
        """The node, if it is seen now."""
        live = all(part.live for part in self._parts)
        return self._build() if live and self._object else None

    @property
    def problem(self) -> Reason | None:
        """Why the node cannot be seen."""
        for part in self._parts:
            if part.trouble is not None:
                return part.trouble
        if self._node.live and not self._object:
            return Reason.of("node_not_found", node=self.node_name)
        return None

    async def run(self) -> None:
        """Keep watching for ever."""
        async with asyncio.TaskGroup() as group:
            for part in self._parts:
                group.create_task(part.run())

    async def close(self) -> None:
        """End what runs; the API is its owner's to close."""
        if self._volume_watch is not None:
            self._volume_watch.cancel()
            await asyncio.gather(self._volume_watch, return_exceptions=True)

    async def measure(self) -> NodeView:
        """Tell what the cluster knows: from the watches where they live, else by asking."""
        if self.view is None:
            stale = [part for part in self._parts if not part.live]
            await asyncio.gather(*(part.list() for part in stale))
        if self.view is None:
            raise Unreachable("node_not_found", node=self.node_name)
        return self.view

    async def cordon(self, mark: Mark) -> None:
        """Make the node unschedulable and mark it as ours; a foreign cordon stays as it is."""
        await self._patch(
            lambda node: (
                None
                if node.get("spec", {}).get("unschedulable")
                else cordon_patch(node, mark)
            )
        )

    async def uncordon(self) -> None:
        """Undo our own cordon only."""
        await self._patch(
            lambda node: None if read_mark(node) is None else uncordon_patch(node)
        )
        self._verdicts.clear()
        self._volumes.clear()

    async def evict(self) -> None:
        """Send one eviction for each pod that is due, none while a pod is BLOCKED."""
        await self.measure()
        now = self._clock()
        judged = [(pod, self._judge(pod)) for pod in self._pods.items.values()]
        if any(seen.fate is Fate.BLOCKED for _, seen in judged):
            return
        due = [
            pod
            for pod, seen in judged
            if seen.fate is Fate.EVICT and not seen.final and seen.retry_at <= now
        ]
        await self._note_volumes(due)
        verdicts = await asyncio.gather(*(evict(self._api, pod) for pod in due))
        for pod, verdict in zip(due, verdicts, strict=True):
            self._verdicts[pod["metadata"]["uid"]] = (self._clock(), verdict)
        self._on_change()

    def _watched(self, path: str, selector: str) -> Watched:
        return Watched(self._api, path, selector, self._changed)

    @property
    def _parts(self) -> tuple[Watched, Watched, Watched]:
        return self._node, self._lease, self._pods

    @property
    def _object(self) -> Mapping[str, Any] | None:
        return self._node.items.get(f"/{self.node_name}")

    def _changed(self) -> None:
        self._note_lease()
        self._log_once()
        self._on_change()

    def _note_lease(self) -> None:
        """A lease is fresh when it is seen to change; its own time means nothing to us."""
        lease = self._lease.items.get(f"kube-node-lease/{self.node_name}")
        renewed = lease.get("spec", {}).get("renewTime") if lease else None
        if renewed is None or renewed == self._renewed:
            return
        if self._renewed is not None:
            self._lease_changed_at = self._clock()
        self._renewed = renewed

    def _log_once(self) -> None:
        trouble = self.problem
        if trouble is not None and not self._away:
            self._away = True
            _LOGGER.warning("The cluster of %s: %s", self.node_name, trouble.key)
        elif self._away and trouble is None and self.view is not None:
            self._away = False
            _LOGGER.info("The cluster of %s answers again", self.node_name)

    def _build(self) -> NodeView:
        node = dict(self._object or {})
        gpus, gpus_why = count_gpus(node, self._expected_gpus)
        return NodeView(
            name=self.node_name,
            ready=is_ready(node),
            schedulable=not node.get("spec", {}).get("unschedulable", False),
            boot_id=node.get("status", {}).get("nodeInfo", {}).get("bootID", ""),
            mark=read_mark(node),
            lease_changed_at=self._lease_changed_at,
            gpus=gpus,
            gpus_why=gpus_why,
            pods=tuple(self._judge(pod) for pod in self._pods.items.values()),
            volumes=tuple(sorted(self._volumes)),
        )

    def _judge(self, pod: Mapping[str, Any]) -> Pod:
        meta = pod["metadata"]
        fate, why = judge(pod, self._options)
        at, verdict = self._verdicts.get(meta["uid"], (0.0, Verdict()))
        asked = fate is Fate.EVICT
        retry_at = at + verdict.retry_in_s if asked and verdict.retry_in_s else 0.0
        return Pod(
            namespace=meta.get("namespace", "default"),
            name=meta["name"],
            uid=meta["uid"],
            fate=fate,
            why=why or (verdict.why if asked else None),
            final=asked and verdict.final,
            retry_at=retry_at,
        )

    async def _patch(
        self, change: Callable[[Mapping[str, Any]], dict[str, Any] | None]
    ) -> None:
        """Read, change, write; anew while somebody else was quicker."""
        for _ in range(_TRIES):
            node = await self._api.get(paths.node(self.node_name))
            patch = change(node)
            if patch is None:
                self._node.put(node)
                return
            try:
                self._node.put(await self._api.patch(paths.node(self.node_name), patch))
            except ApiError as err:
                if err.status != _CONFLICT:
                    raise
            else:
                return
        raise Unreachable("node_busy", node=self.node_name)

    async def _note_volumes(self, pods: Sequence[Mapping[str, Any]]) -> None:
        claims = [claim for pod in pods for claim in claims_of(pod)]
        self._volumes |= await volumes_of(self._api, claims)
        running = self._volume_watch is not None and not self._volume_watch.done()
        if self._volumes and not running:
            self._volume_watch = asyncio.create_task(
                self._watch_volumes(), name="attached volumes"
            )

    async def _watch_volumes(self) -> None:
        while self._volumes:
            await asyncio.sleep(_VOLUMES_EVERY_S)
            left = await still_attached(self._api, self.node_name, self._volumes)
            if left != self._volumes:
                self._volumes = left
                self._on_change()
