"""A libvirt host as the heart sees it: measured when something happens, and on demand."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
import contextlib
import logging
import random

from ..handoff.reason import Reason
from ..handoff.world import ActKind, CardId, TowerView, VmId
from . import requests
from .bus import Bus
from .card_identity import KnownCard
from .errors import Unreachable
from .events import EventKind, read_event
from .follow import ROTATE_S, follow
from .snapshot import Snapshot, claimed_addresses, take_snapshot
from .ssh import Connection
from .virsh import Refresh

_LOGGER = logging.getLogger(__name__)

_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 60.0
_LATE_RESYNC_S = 1.0
_QUIET_S = 0.3


class Tower:
    """Implements the heart's TowerPort over one SSH connection.

    `view` is what was measured last; while `problem` says why the host does not answer, it
    is history. `problems` is what could not be read although the host answers.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        on_change: Callable[[], None],
        known_cards: Sequence[KnownCard] = (),
        safety_refresh_s: float = 300.0,
        rotate_s: float = ROTATE_S,
    ) -> None:
        """Nothing is asked yet. `on_change` is called when something here changed."""
        self.view: TowerView | None = None
        self.problem: Reason | None = None
        self.problems: tuple[Reason, ...] = ()
        self._connection = connection
        self._on_change = on_change
        self._safety_refresh_s = safety_refresh_s
        self._rotate_s = rotate_s
        self._bus = Bus(known_cards)
        self._lock = asyncio.Lock()
        self._asked = 0
        self._answered = 0
        self._with_cards = False
        self._following = False
        self._happened = asyncio.Event()
        self._cards_may_differ = False
        self._pause_s = _FIRST_PAUSE_S
        self._late_resync: asyncio.TimerHandle | None = None

    @property
    def known_cards(self) -> tuple[KnownCard, ...]:
        """Every card that was ever seen here, to be kept and given back after a restart."""
        return self._bus.known

    async def run(self) -> None:
        """Follow the host's events for ever, through whatever happens to the connection."""
        refresher = asyncio.create_task(self._keep_fresh(), name="tower refresh")
        try:
            while True:
                try:
                    await follow(
                        self._connection, self._begun, self._heard, self._rotate_s
                    )
                except Unreachable as err:
                    self._lost(err.reason)
                self._following = False
                await asyncio.sleep(self._pause_s * random.uniform(0.5, 1.0))  # noqa: S311
                self._pause_s = min(self._pause_s * 2, _LONGEST_PAUSE_S)
        finally:
            self._following = False
            if self._late_resync:
                self._late_resync.cancel()
            refresher.cancel()
            await asyncio.gather(refresher, return_exceptions=True)

    async def measure(self, *, fresh: bool) -> TowerView:
        """Tell what is there now; the cache answers while the host's events are heard."""
        busy = self._happened.is_set() or self._lock.locked()
        if self.view is not None and self._following and not (fresh or busy):
            return self.view
        return await self._refresh(with_cards=fresh)

    async def act(self, kind: ActKind, vm_id: VmId) -> None:
        """Give an order to a machine."""
        await requests.order(self._connection, kind, vm_id)

    async def let_go(self, cards: Iterable[CardId]) -> None:
        """Close what we have open on these cards: nothing of ours opens one."""

    async def close(self) -> None:
        """Close the connection."""
        await self._connection.close()

    async def _begun(self) -> None:
        """Events are heard from now on; what happened before is measured.

        virsh says that it is connected some milliseconds before it listens to every event,
        so it is measured once more a moment later.
        """
        await self._refresh(with_cards=True)
        self._following = True
        self._pause_s = _FIRST_PAUSE_S
        loop = asyncio.get_running_loop()
        if self._late_resync:
            self._late_resync.cancel()
        self._late_resync = loop.call_later(_LATE_RESYNC_S, self._happened.set)

    def _heard(self, line: str) -> None:
        vms = self.view.vms.values() if self.view else ()
        event = read_event(line, {vm.name: vm.vm_id for vm in vms})
        if event is None:
            return
        self._cards_may_differ |= event.kind is not EventKind.AGENT
        self._happened.set()

    async def _keep_fresh(self) -> None:
        """Measure at once when something happened, and now and then when nothing did.

        A machine that comes or goes changes who has its cards on the host: those are looked
        at when it is quiet again.
        """
        pause_s = _FIRST_PAUSE_S
        while True:
            quiet_s = _QUIET_S if self._cards_may_differ else self._safety_refresh_s
            happened = await self._happens_within(quiet_s)
            if not self._following:
                self._happened.clear()
                continue
            try:
                await self._refresh(with_cards=not happened)
                pause_s = _FIRST_PAUSE_S
            except Unreachable:
                await asyncio.sleep(pause_s)
                pause_s = min(pause_s * 2, _LONGEST_PAUSE_S)
                self._happened.set()

    async def _happens_within(self, seconds: float) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._happened.wait()
        return self._happened.is_set()

    async def _refresh(self, *, with_cards: bool) -> TowerView:
        """Ask the host; whoever asks while an answer is on its way gets the next one."""
        self._asked += 1
        ticket = self._asked
        self._with_cards |= with_cards
        async with self._lock:
            if self._answered >= ticket and self.view is not None:
                return self.view
            asked = self._asked
            with_cards, self._with_cards = self._with_cards, False
            self._happened.clear()
            try:
                snapshot = await self._ask(with_cards=with_cards)
            except Unreachable as err:
                self._with_cards |= with_cards
                self._lost(err.reason)
                raise
            self._answered = asked
            self._came(snapshot)
        return snapshot.view

    async def _ask(self, *, with_cards: bool) -> Snapshot:
        known = frozenset(self.view.vms) if self.view else frozenset[VmId]()
        if not with_cards:
            seen = await requests.refresh(self._connection, known)
            return take_snapshot(seen, self._bus.known, self._bus.found)
        self._cards_may_differ = False
        looking = asyncio.create_task(self._look(self.view))
        try:
            seen = await requests.refresh(self._connection, known)
            await looking
        finally:
            looking.cancel()
            await asyncio.gather(looking, return_exceptions=True)
        return await self._with_all_watched(seen)

    async def _with_all_watched(self, seen: Refresh) -> Snapshot:
        """A card that was not known to be claimed when it was looked at needs a second look."""
        snapshot = take_snapshot(seen, self._bus.known, self._bus.found)
        if claimed_addresses(snapshot.view) <= self._bus.watched or self._bus.problem:
            return snapshot
        await self._look(snapshot.view)
        return take_snapshot(seen, self._bus.known, self._bus.found)

    async def _look(self, view: TowerView | None) -> None:
        claimed = claimed_addresses(view) if view else set[str]()
        await self._bus.look(self._connection, claimed)

    def _came(self, snapshot: Snapshot) -> None:
        if self.problem is not None:
            host = self._connection.credentials.host
            _LOGGER.info("The tower %s answers again", host)
        trouble = (self._bus.problem,) if self._bus.problem else ()
        before = (self.view, self.problem, self.problems)
        self.view, self.problem = snapshot.view, None
        self.problems = (*snapshot.problems, *trouble)
        if before != (self.view, self.problem, self.problems):
            self._on_change()

    def _lost(self, reason: Reason) -> None:
        if self.problem is None:
            host = self._connection.credentials.host
            said = (reason.key, dict(reason.placeholders))
            _LOGGER.warning("The tower %s does not answer: %s %s", host, *said)
        changed = reason != self.problem
        self.problem = reason
        if changed:
            self._on_change()
