"""A watch: one JSON line for each change that concerns it, until its time is over."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
import json
from typing import Any

from aiohttp import web

from ..clock import Clock
from .faults import ClusterFaults
from .resources import Resource
from .status import ApiFailure
from .store import Change, Object, Store

LONGEST_S = 1800.0
_TRUE = {"1", "true", "True"}


class Watch:
    """Serves one watch request. `concerns` is its selectors."""

    def __init__(
        self,
        request: web.Request,
        resource: Resource,
        concerns: Callable[[Object], bool],
        store: Store,
    ) -> None:
        self._request = request
        self._resource = resource
        self._concerns = concerns
        self._store = store
        self._response = web.StreamResponse(
            headers={"Content-Type": "application/json"}
        )
        self._response.enable_chunked_encoding()
        query = request.query
        self._bookmarks = query.get("allowWatchBookmarks") in _TRUE
        self._initial = query.get("sendInitialEvents") in _TRUE
        self._version = int(query.get("resourceVersion") or 0)
        self._timeout_s = float(query.get("timeoutSeconds") or LONGEST_S)

    async def serve(
        self, clock: Clock, faults: ClusterFaults, bookmark_s: float
    ) -> web.StreamResponse:
        """Send events; `timeoutSeconds` is real time, as on the wire."""
        with suppress(ConnectionError):
            await self._response.prepare(self._request)
            await self._serve(clock, faults, bookmark_s)
            await self._response.write_eof()
        return self._response

    async def _serve(
        self, clock: Clock, faults: ClusterFaults, bookmark_s: float
    ) -> None:
        with self._store.listening() as changes:
            try:
                await self._begin()
            except ApiFailure as failure:
                await self._say("ERROR", failure.answer.body)
                return
            try:
                async with asyncio.timeout(self._timeout_s):
                    await self._go_on(changes, faults, clock.real_s(bookmark_s))
            except TimeoutError:
                while not changes.empty():
                    await self._minded(changes.get_nowait())
                await self._bookmark()

    async def _begin(self) -> None:
        """Catch up from the version that the client knows, or show all there is."""
        if self._version and not self._initial:
            for change in self._store.since(self._resource.plural, self._version):
                await self._pass_on(change)
            return
        for item in self._store.items(self._resource.plural):
            if self._concerns(item):
                await self._say("ADDED", item)
        self._version = self._store.version
        if self._initial:
            await self._bookmark({"k8s.io/initial-events-end": "true"})

    async def _go_on(
        self,
        changes: asyncio.Queue[Change | None],
        faults: ClusterFaults,
        bookmark_s: float,
    ) -> None:
        while True:
            try:
                async with asyncio.timeout(bookmark_s):
                    change = await changes.get()
            except TimeoutError:
                await faults.answering.wait()
                await self._bookmark()
                continue
            if change is None:
                return
            await faults.answering.wait()
            await self._minded(change)

    async def _minded(self, change: Change | None) -> None:
        if change and change.plural == self._resource.plural:
            await self._pass_on(change)

    async def _pass_on(self, change: Change) -> None:
        """An object that comes into view is ADDED, one that leaves it DELETED."""
        if change.version <= self._version:
            return
        self._version = change.version
        before = change.before is not None and self._concerns(change.before)
        after = not change.deleted and self._concerns(change.after)
        if (kind := _KINDS[before, after]) is not None:
            await self._say(kind, change.after)

    async def _bookmark(self, annotations: dict[str, str] | None = None) -> None:
        if not self._bookmarks:
            return
        self._version = max(self._version, self._store.version)
        meta: Object = {"resourceVersion": str(self._version)}
        if annotations:
            meta["annotations"] = annotations
        item = {
            "kind": self._resource.kind,
            "apiVersion": self._resource.api_version,
            "metadata": meta,
        }
        await self._say("BOOKMARK", item)

    async def _say(self, kind: str, item: Any) -> None:
        line = json.dumps({"type": kind, "object": item}, separators=(",", ":"))
        await self._response.write(line.encode() + b"\n")


_KINDS = {
    (False, False): None,
    (False, True): "ADDED",
    (True, True): "MODIFIED",
    (True, False): "DELETED",
}
