"""A libvirt host as the heart sees it: measured when something happens, and on demand."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
import logging
import random
import time

from ..handoff.reason import HandoffError, Reason
from ..handoff.world import ActKind, CardId, TowerView, VmId
from . import requests
from .card_identity import KnownCard
from .errors import Unreachable
from .events import read_event
from .follow import follow
from .pci import PciCard
from .snapshot import take_snapshot
from .ssh import Connection

_LOGGER = logging.getLogger(__name__)

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_CARDS_FRESH_S = 5.0


class Tower:
    """Implements the heart's TowerPort over one SSH connection."""

    def __init__(
        self,
        connection: Connection,
        *,
        on_change: Callable[[], None],
        known_cards: Sequence[KnownCard] = (),
        safety_refresh_s: float = 300.0,
    ) -> None:
        """Nothing is asked yet. `on_change` is called when view or problem changed."""
        self.view: TowerView | None = None
        self.problem: Reason | None = None
        self.problems: tuple[Reason, ...] = ()
        self.known_cards = list(known_cards)
        self._connection = connection
        self._on_change = on_change
        self._safety_refresh_s = safety_refresh_s
        self._found: dict[CardId, PciCard] = {}
        self._cards_at = float("-inf")
        self._lock = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._following = False
        self._dirty = asyncio.Event()

    async def run(self) -> None:
        """Follow the host's events for ever, through whatever happens to the connection."""
        pause_s = _FIRST_PAUSE_S
        refresher = asyncio.create_task(self._keep_fresh(), name="tower refresh")
        try:
            while True:
                began = time.monotonic()
                try:
                    await follow(self._connection, self._begun, self._heard)
                except HandoffError as err:
                    self._lost(err.reason)
                self._following = False
                if time.monotonic() - began > _LONGEST_PAUSE_S:
                    pause_s = _FIRST_PAUSE_S
                await asyncio.sleep(pause_s * random.uniform(0.5, 1.0))  # noqa: S311
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
        finally:
            self._following = False
            refresher.cancel()
            await asyncio.gather(refresher, return_exceptions=True)

    async def measure(self, *, fresh: bool) -> TowerView:
        """Tell what is there now; the cache answers while the host's events are heard."""
        current = self.view is not None and self._following and not self._dirty.is_set()
        if self.view is not None and current and not fresh:
            return self.view
        return await self._refresh()

    async def act(self, kind: ActKind, vm_id: VmId) -> None:
        """Give an order to a machine."""
        await requests.order(self._connection, kind, vm_id)

    async def let_go(self, cards: Iterable[CardId]) -> None:
        """Close what we have open on these cards: nothing of ours opens one."""

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _begun(self) -> None:
        """Events are heard from now on; what happened before is measured once."""
        await self._refresh()
        self._following = True
        asyncio.get_running_loop().call_later(1.0, self._dirty.set)

    def _heard(self, line: str) -> None:
        names = (
            {vm.name: vm_id for vm_id, vm in self.view.vms.items()} if self.view else {}
        )
        if read_event(line, names) is not None:
            self._dirty.set()

    async def _keep_fresh(self) -> None:
        """Measure at once when something happened, and now and then when nothing did."""
        while True:
            try:
                async with asyncio.timeout(self._safety_refresh_s):
                    await self._dirty.wait()
            except TimeoutError:
                self._cards_at = float("-inf")
            if not self._following:
                self._dirty.clear()
                continue
            try:
                await self._refresh()
            except HandoffError as err:
                self._lost(err.reason)
                await asyncio.sleep(_FIRST_PAUSE_S)

    async def _refresh(self) -> TowerView:
        """Ask the host; whoever asks while an answer is on its way gets the next one."""
        self._asked += 1
        ticket = self._asked
        async with self._lock:
            if self._answered >= ticket and self.view is not None:
                return self.view
            asked = self._asked
            self._dirty.clear()
            try:
                view = await self._ask()
            except Unreachable as err:
                self._lost(err.reason)
                raise
            self._answered = asked
        return view

    async def _ask(self) -> TowerView:
        known = frozenset(self.view.vms) if self.view else frozenset[VmId]()
        looking = time.monotonic()
        if looking - self._cards_at > _CARDS_FRESH_S:
            refresh, (self.known_cards, self._found) = await asyncio.gather(
                requests.refresh(self._connection, known),
                requests.cards(self._connection, self.known_cards),
            )
            self._cards_at = looking
        else:
            refresh = await requests.refresh(self._connection, known)
        snapshot = take_snapshot(refresh, self.known_cards, self._found)
        self.problems = snapshot.problems
        self._came(snapshot.view)
        return snapshot.view

    def _came(self, view: TowerView) -> None:
        if self.problem is not None:
            _LOGGER.info(
                "The tower %s answers again", self._connection.credentials.host
            )
        changed = view != self.view or self.problem is not None
        self.view, self.problem = view, None
        if changed:
            self._on_change()

    def _lost(self, reason: Reason) -> None:
        if self.problem is None:
            host = self._connection.credentials.host
            _LOGGER.warning("The tower %s does not answer: %s", host, reason.key)
        changed = reason != self.problem
        self.problem = reason
        if changed:
            self._on_change()
