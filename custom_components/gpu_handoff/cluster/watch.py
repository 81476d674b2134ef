"""A list of objects that a watch keeps up to date."""

import asyncio
from collections.abc import Callable, Mapping
import random
from typing import Any

from ..handoff.reason import HandoffError, Reason
from .client import Api
from .errors import ApiError

WATCH_S = 300
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30.0
_GONE = 410


class Watched:
    """Lists, watches, and lists anew where history was lost.

    `live` says whether `items` (by namespace/name) is what the server has. `on_change` is
    called after each change; `trouble` is why it is not live.
    """

    def __init__(
        self,
        api: Api,
        path: str,
        field_selector: str,
        on_change: Callable[[], None],
    ) -> None:
        """Nothing is asked before `run`."""
        self.items: dict[str, dict[str, Any]] = {}
        self.live = False
        self.trouble: Reason | None = None
        self._api = api
        self._path = path
        self._query = {"fieldSelector": field_selector}
        self._on_change = on_change
        self._version = ""

    async def run(self) -> None:
        """Keep the list for ever."""
        pause_s = _FIRST_PAUSE_S
        while True:
            try:
                await self.list()
                pause_s = _FIRST_PAUSE_S
                while await self._watch():
                    pass
            except HandoffError as err:
                self._lost(err.reason)
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)

    async def list(self) -> None:
        """Ask for everything now. Raises Unreachable."""
        answer = await self._api.get(self._path, self._query)
        self._version = answer["metadata"]["resourceVersion"]
        items = {key_of(item): item for item in answer.get("items") or ()}
        changed = items != self.items or not self.live
        self.items, self.live, self.trouble = items, True, None
        if changed:
            self._on_change()

    def put(self, item: Mapping[str, Any]) -> None:
        """Take over an object that the server has just answered with."""
        if key_of(item) in self.items:
            self.items[key_of(item)] = dict(item)
            self._on_change()

    async def _watch(self) -> bool:
        """Follow until the watch ends; False if the list must be read anew."""
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(WATCH_S),
        }
        try:
            async for event in self._api.watch(self._path, query, for_s=WATCH_S):
                if event.get("type") == "ERROR":
                    return self._refused(event.get("object") or {})
                self._take(event)
        except ApiError as err:
            if err.status == _GONE:
                return False
            raise
        return True

    def _refused(self, status: Mapping[str, Any]) -> bool:
        """Say what an error event means; 410 comes inside HTTP 200."""
        if status.get("code") == _GONE:
            return False
        raise ApiError(
            "cluster_refused",
            status=int(status.get("code") or 0),
            code=str(status.get("code")),
            cause=str(status.get("message") or "")[:200],
            verb="watch",
            resource=self._path.rpartition("/")[2],
        )

    def _take(self, event: Mapping[str, Any]) -> None:
        item = event.get("object") or {}
        self._version = item.get("metadata", {}).get("resourceVersion", self._version)
        match event.get("type"):
            case "ADDED" | "MODIFIED":
                self.items[key_of(item)] = item
            case "DELETED":
                self.items.pop(key_of(item), None)
            case _:
                return
        self._on_change()

    def _lost(self, reason: Reason) -> None:
        changed = self.live or reason != self.trouble
        self.live, self.trouble = False, reason
        if changed:
            self._on_change()


def key_of(item: Mapping[str, Any]) -> str:
    """Name an object within its list."""
    meta = item["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"
