"""Volumes of drained pods: the node must let go of them before it stops."""

import asyncio
from collections.abc import Callable, Iterable
import logging

from ..handoff.reason import HandoffError
from . import paths
from .client import Api
from .pods import RawPod, claims_of
from .watch import Watched

_LOGGER = logging.getLogger(__name__)


class Attachments:
    """Watches the cluster's volume attachments, only while a drain has volumes to free."""

    def __init__(self, api: Api, node_name: str, on_change: Callable[[], None]) -> None:
        """Nothing is asked before there is something to expect."""
        self._api = api
        self._node_name = node_name
        self._watched = Watched(api, paths.ATTACHMENTS, "", on_change)
        self._expected: dict[str, str] = {}
        self._wanted = asyncio.Event()
        self._done = asyncio.Event()

    @property
    def names(self) -> tuple[str, ...]:
        """The claims whose volumes are attached yet; none where we may not look."""
        if not self._expected or self._watched.trouble:
            return ()
        specs = [item.get("spec") or {} for item in self._watched.items.values()]
        attached = {
            (spec.get("source") or {}).get("persistentVolumeName")
            for spec in specs
            if spec.get("nodeName") == self._node_name
        }
        names = [name for pv, name in self._expected.items() if pv in attached]
        return tuple(sorted(names))

    async def expect(self, pods: Iterable[RawPod]) -> None:
        """Remember the volumes of pods that are about to go. Never raises HandoffError."""
        claims = {claim for pod in pods for claim in claims_of(pod)}
        found = await asyncio.gather(*(self._volume_of(*claim) for claim in claims))
        news = {
            volume: f"{namespace}/{name}"
            for (namespace, name), volume in zip(claims, found, strict=True)
            if volume
        }
        if not news.keys() <= self._expected.keys():
            self._expected |= news
            await self.ask()
            self._wanted.set()

    async def ask(self) -> None:
        """Ask once, where no watch tells. Never raises HandoffError."""
        if not self._expected or self._watched.following:
            return
        try:
            await self._watched.list()
        except HandoffError as error:
            _LOGGER.debug("Volume attachments cannot be seen: %s", error)

    def forget(self) -> None:
        """The drain is over."""
        self._expected.clear()
        self._wanted.clear()
        self._done.set()

    async def run(self) -> None:
        """Watch for ever, while there is something to expect."""
        while True:
            await self._wanted.wait()
            self._done.clear()
            watching = asyncio.create_task(self._watched.run(), name="attachments")
            try:
                await self._done.wait()
            finally:
                watching.cancel()
                await asyncio.gather(watching, return_exceptions=True)

    async def _volume_of(self, namespace: str, name: str) -> str:
        try:
            claim = await self._api.get(paths.claim(namespace, name))
        except HandoffError as error:
            _LOGGER.debug("Claim %s/%s cannot be seen: %s", namespace, name, error)
            return ""
        return str((claim.get("spec") or {}).get("volumeName") or "")
