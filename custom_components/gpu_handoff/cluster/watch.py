"""A list of objects that a watch keeps as the server has it."""

from collections.abc import Callable, Mapping
import random
import time
from typing import Any

from ..handoff.reason import HandoffError, Reason
from .backoff import Backoff
from .client import Api
from .errors import ApiError

WATCH_S = (240, 300)
"""A watch is asked for as long as this; the server ends it then."""

_GONE = 410
_DICE = random.SystemRandom()

type Item = Mapping[str, Any]


class Watched:
    """Lists, watches on from there, and lists anew where history is lost.

    `items` are by namespace/name. `following`: a watch says what changes. `trouble` is why
    the server cannot be heard. `heard_at`: monotonic second of its last word. `on_change` is
    called after each change of any of these that may matter to somebody.
    """

    def __init__(
        self,
        api: Api,
        path: str,
        field_selector: str,
        on_change: Callable[[], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is asked before `run` or `list`."""
        self.items: dict[str, Item] = {}
        self.listed = False
        self.following = False
        self.trouble: Reason | None = None
        self.heard_at = float("-inf")
        self.backoff = Backoff()
        self._api = api
        self._path = path
        self._query = {"fieldSelector": field_selector} if field_selector else {}
        self._on_change = on_change
        self._clock = clock
        self._version = ""

    async def run(self) -> None:
        """Keep the list for ever."""
        try:
            while True:
                try:
                    await self._ask()
                    await self._follow_on()
                except _HistoryLostError:
                    pass
                except HandoffError as error:
                    self._lost(error.reason)
                await self.backoff.pause()
        finally:
            self.following = False

    async def list(self) -> None:
        """Ask for everything now; raises Unreachable."""
        try:
            await self._ask()
        except HandoffError as error:
            self._lost(error.reason)
            raise
        self._heard()

    def put(self, item: Item) -> None:
        """Take over what the server says of one object, unless newer is known."""
        if not self._is_old(item):
            self.items[key_of(item)] = item
            self._on_change()

    def drop(self, item: Item) -> None:
        """Forget an object, unless a newer one of its name is known."""
        if not self._is_old(item) and self.items.pop(key_of(item), None) is not None:
            self._on_change()

    async def _ask(self) -> None:
        answer = await self._api.get(self._path, self._query)
        self._version = str((answer.get("metadata") or {}).get("resourceVersion", ""))
        items = answer.get("items") or ()
        self.items = {key_of(item): item for item in items if _is_object(item)}
        self.listed = True
        self.heard_at = self._clock()
        self._on_change()

    async def _follow_on(self) -> None:
        while True:
            heard = await self._follow()
            if heard:
                self.backoff.reset()
            else:
                await self.backoff.pause()

    async def _follow(self) -> bool:
        """Follow one watch to its end; tells whether anything was heard."""
        for_s = _DICE.randint(*WATCH_S)
        query = {
            **self._query,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": str(for_s),
        }
        heard = False
        try:
            async with self._api.watch(self._path, query, for_s=for_s) as events:
                self.following = True
                self._heard()
                async for event in events:
                    self._take(event)
                    heard = True
        except ApiError as error:
            if error.status == _GONE:
                raise _HistoryLostError from error
            raise
        return heard

    def _take(self, event: Mapping[str, Any]) -> None:
        kind, item = event.get("type"), event.get("object")
        if not isinstance(item, dict):
            return
        if kind == "ERROR":
            words = str(item.get("message") or "")
            raise self._api.refusal("WATCH", self._path, item.get("code") or 0, words)
        version = (item.get("metadata") or {}).get("resourceVersion")
        self._version = version or self._version
        self.following = True
        self._heard()
        change = {"ADDED": self.put, "MODIFIED": self.put, "DELETED": self.drop}
        if kind in change and _is_object(item):
            change[kind](item)

    def _heard(self) -> None:
        self.heard_at = self._clock()
        if self.trouble is not None:
            self.trouble = None
            self._on_change()

    def _lost(self, reason: Reason) -> None:
        self.following = False
        if reason != self.trouble:
            self.trouble = reason
            self._on_change()

    def _is_old(self, item: Item) -> bool:
        """Whether what is known is newer: two answers may overtake each other."""
        known = self.items.get(key_of(item))
        return known is not None and _age(item) < _age(known)


class _HistoryLostError(Exception):
    """What happened since the last list is not known any more."""


def key_of(item: Item) -> str:
    """Name an object within its list."""
    meta = item["metadata"]
    return f"{meta.get('namespace', '')}/{meta['name']}"


def _is_object(item: object) -> bool:
    """Whether it has a name; a bookmark has none, and junk may have none."""
    meta = item.get("metadata") if isinstance(item, dict) else None
    return isinstance(meta, dict) and "name" in meta


def _age(item: Item) -> int:
    version = str(item["metadata"].get("resourceVersion", ""))
    return int(version) if version.isdecimal() else 0
