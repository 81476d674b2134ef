"""Every object of the cluster, with resource versions and the history that watches need."""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
import uuid

from ..clock import now
from . import status
from .resources import Resource

type Object = dict[str, Any]

HISTORY = 2000


@dataclass(frozen=True, slots=True)
class Change:
    """One write. `before` is None at a creation, `after` at a deletion holds the last state."""

    version: int
    plural: str
    before: Object | None
    after: Object
    deleted: bool = False


class Store:
    """Objects are given out as copies and come back whole."""

    def __init__(self) -> None:
        self.version = 1
        self.oldest = 1
        self._objects: dict[str, dict[tuple[str, str], Object]] = {}
        self._history: deque[Change] = deque(maxlen=HISTORY)
        self._listeners: set[asyncio.Queue[Change | None]] = set()
        self.on_change: list[Callable[[Change], None]] = []

    def items(self, plural: str, namespace: str | None = None) -> list[Object]:
        """All objects, by namespace and name."""
        return [
            deepcopy(item)
            for (where, _), item in sorted(self._objects.get(plural, {}).items())
            if namespace in (None, where)
        ]

    def find(
        self, plural: str, name: str, namespace: str | None = None
    ) -> Object | None:
        item = self._objects.get(plural, {}).get((namespace or "", name))
        return deepcopy(item)

    def get(self, plural: str, name: str, namespace: str | None = None) -> Object:
        if (item := self.find(plural, name, namespace)) is None:
            raise status.not_found(plural, name)
        return item

    def create(self, resource: Resource, item: Object) -> Object:
        """Add an object; fills in what a server fills in."""
        meta = item.setdefault("metadata", {})
        if "name" not in meta and "generateName" in meta:
            meta["name"] = meta["generateName"] + uuid.uuid4().hex[:5]
        if self.find(resource.plural, meta["name"], meta.get("namespace")):
            raise status.already_exists(resource.plural, meta["name"])
        meta["uid"] = str(uuid.uuid4())
        meta["creationTimestamp"] = timestamp()
        if resource.plural in _WITH_GENERATION:
            meta["generation"] = 1
        return self._write(resource.plural, None, item)

    def update(self, plural: str, item: Object) -> Object:
        """Replace an object; nothing happens if nothing changes."""
        meta = item["metadata"]
        before = self.get(plural, meta["name"], meta.get("namespace"))
        asked = meta.get("resourceVersion")
        if asked and asked != before["metadata"]["resourceVersion"]:
            raise status.conflict(plural, meta["name"])
        meta["resourceVersion"] = before["metadata"]["resourceVersion"]
        if item == before:
            return item
        if plural in _WITH_GENERATION and item.get("spec") != before.get("spec"):
            meta["generation"] = meta.get("generation", 1) + 1
        return self._write(plural, before, item)

    def change(
        self,
        plural: str,
        name: str,
        edit: Callable[[Object], None],
        namespace: str | None = None,
    ) -> Object:
        """Read, edit in place, write back."""
        item = self.get(plural, name, namespace)
        edit(item)
        return self.update(plural, item)

    def delete(self, plural: str, name: str, namespace: str | None = None) -> Object:
        """Remove an object for good."""
        item = self.get(plural, name, namespace)
        del self._objects[plural][namespace or "", name]
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self._tell(Change(self.version, plural, item, item, deleted=True))
        return item

    def since(self, plural: str, version: int) -> list[Change]:
        """What happened after a version; fails if that is forgotten."""
        if version < self.oldest:
            raise status.too_old_watch(version, self.version)
        return [
            change
            for change in self._history
            if change.version > version and change.plural == plural
        ]

    def forget(self) -> None:
        """Forget all history, as a restarted or compacted server has."""
        self.version += 1
        self.oldest = self.version
        self._history.clear()

    def hang_up(self) -> None:
        """End every watch."""
        for listener in self._listeners:
            listener.put_nowait(None)

    @contextmanager
    def listening(self) -> Iterator[asyncio.Queue[Change | None]]:
        queue: asyncio.Queue[Change | None] = asyncio.Queue()
        self._listeners.add(queue)
        try:
            yield queue
        finally:
            self._listeners.discard(queue)

    def _write(self, plural: str, before: Object | None, item: Object) -> Object:
        self.version += 1
        meta = item["metadata"]
        meta["resourceVersion"] = str(self.version)
        stored = deepcopy(item)
        key = (meta.get("namespace") or "", meta["name"])
        self._objects.setdefault(plural, {})[key] = stored
        self._tell(Change(self.version, plural, before, stored))
        return item

    def _tell(self, change: Change) -> None:
        if len(self._history) == HISTORY:
            self.oldest = self._history[0].version
        self._history.append(change)
        for listener in self._listeners:
            listener.put_nowait(change)
        for tell in self.on_change:
            tell(change)


_WITH_GENERATION = {
    "poddisruptionbudgets",
    "pods",
    "deployments",
    "replicasets",
    "daemonsets",
}


def timestamp(after_s: float = 0.0) -> str:
    """Seconds, as metadata has them."""
    return _iso(now() + timedelta(seconds=after_s), "seconds")


def micro_timestamp() -> str:
    """Microseconds, as a lease has them."""
    return _iso(now(), "microseconds")


def _iso(moment: datetime, precision: str) -> str:
    return moment.isoformat(timespec=precision).replace("+00:00", "Z")
