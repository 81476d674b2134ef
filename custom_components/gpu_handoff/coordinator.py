"""Brings the tower, the cluster and the heart of one config entry to Home Assistant."""

import asyncio
from collections.abc import Callable
import logging

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, callback
from homeassistant.exceptions import ConfigEntryAuthFailed, ConfigEntryNotReady
from homeassistant.helpers.update_coordinator import DataUpdateCoordinator

from .cluster.client import Api
from .cluster.cluster_node import ClusterNode
from .cluster.pods import DrainOptions
from .connections import api_of, context_of, credentials_of
from .const import CONF_CARDS, CONF_PROTECT, DOMAIN
from .errors import translation_of
from .handoff.loop import Reconciler
from .handoff.operation import HandoffEvent
from .handoff.reason import HandoffError
from .handoff.wishbook import unmet
from .handoff.world import TowerView, VmId
from .house import house_of, node_names, titles
from .journal_store import JournalStore
from .state import HandoffState
from .tower.card_identity import KnownCard
from .tower.errors import HostKeyChanged, LoginRefused
from .tower.ssh import Connection
from .tower.tower import Tower

_LOGGER = logging.getLogger(__name__)

type HandoffConfigEntry = ConfigEntry[HandoffCoordinator]


class HandoffCoordinator(DataUpdateCoordinator[HandoffState]):
    """Pushes a new state whenever anything has changed; nothing is polled here."""

    config_entry: HandoffConfigEntry

    def __init__(self, hass: HomeAssistant, entry: HandoffConfigEntry) -> None:
        """Make everything; nothing is connected yet."""
        super().__init__(hass, _LOGGER, config_entry=entry, name=DOMAIN)
        self._connection = Connection(
            credentials_of(entry.data), context_of(entry.data)
        )
        self._api: Api | None = api_of(entry.data, self._connection)
        known = [KnownCard.from_dict(card) for card in entry.data.get(CONF_CARDS, ())]
        self.tower = Tower(
            self._connection, known_cards=known, on_change=self._world_changed
        )
        self.clusters = self._make_clusters(self._api) if self._api else {}
        self.heart = Reconciler(
            house=house_of(entry),
            tower=self.tower,
            clusters=self.clusters,
            journal=JournalStore(hass, entry.unique_id or entry.entry_id),
            on_change=self._push_soon,
            on_event=self._heard,
        )
        self._event_listeners: list[Callable[[HandoffEvent], None]] = []
        self._push_asked = False
        self._runners: list[asyncio.Task[None]] = []
        self.data = self._state()

    def _make_clusters(self, api: Api) -> dict[VmId, ClusterNode]:
        options = DrainOptions(protect=self.config_entry.options.get(CONF_PROTECT, ""))
        return {
            vm_id: ClusterNode(
                api,
                name,
                expected_gpus=0,
                on_change=self._world_changed,
                options=options,
            )
            for vm_id, name in node_names(self.config_entry).items()
            if name is not None
        }

    async def async_start(self) -> None:
        """Connect and begin to follow; raises what keeps the entry from being set up.

        An operation that is open is not left alone because the tower is silent: its cordon
        can be undone without it.
        """
        await self.heart.start()
        try:
            await self.tower.measure(fresh=True)
        except HandoffError as err:
            if not unmet(self.heart.wishes):
                await self.async_stop()
                again = isinstance(err, LoginRefused | HostKeyChanged)
                kind = ConfigEntryAuthFailed if again else ConfigEntryNotReady
                raise kind(**translation_of(err)) from err
        runners = {
            "heart": self.heart.run(),
            "tower": self.tower.run(),
            **{f"cluster {i}": node.run() for i, node in self.clusters.items()},
        }
        self._runners = [
            self.config_entry.async_create_background_task(
                self.hass, runner, f"{DOMAIN} {name}"
            )
            for name, runner in runners.items()
        ]
        self.async_push()

    def _expect_cards(self, tower: TowerView) -> None:
        """Tell each node how many cards it is given; one that cannot be read keeps its count."""
        for vm_id, cluster in self.clusters.items():
            vm = tower.vms.get(vm_id)
            if vm and vm.wants:
                cluster.expected_gpus = len(vm.wants)

    async def async_stop(self) -> None:
        """End what runs, then close what it ran on."""
        for runner in self._runners:
            runner.cancel()
        await asyncio.gather(*self._runners, return_exceptions=True)
        await self.heart.stop()
        for cluster in self.clusters.values():
            await cluster.close()
        if self._api is not None:
            await self._api.close()
        await self.tower.close()

    @callback
    def async_add_event_listener(
        self, listener: Callable[[HandoffEvent], None]
    ) -> Callable[[], None]:
        """Call back with everything that happens to operations."""
        self._event_listeners.append(listener)
        return lambda: self._event_listeners.remove(listener)

    @callback
    def _heard(self, event: HandoffEvent) -> None:
        for listener in list(self._event_listeners):
            listener(event)

    @callback
    def _world_changed(self) -> None:
        if self.tower.view is not None:
            self._expect_cards(self.tower.view)
        self.heart.wake()
        self._push_soon()

    @callback
    def _push_soon(self) -> None:
        """Several changes of one moment are one push."""
        if not self._push_asked:
            self._push_asked = True
            self.hass.loop.call_soon(self.async_push)

    @callback
    def async_push(self) -> None:
        """Show what is known now."""
        self._push_asked = False
        self._keep_cards()
        self.async_set_updated_data(self._state())

    def _keep_cards(self) -> None:
        """Keep which card is which; the entry's update listener ignores this."""
        cards = [card.as_dict() for card in self.tower.known_cards]
        entry = self.config_entry
        if cards and cards != entry.data.get(CONF_CARDS):
            data = {**entry.data, CONF_CARDS: cards}
            self.hass.config_entries.async_update_entry(entry, data=data)

    def _state(self) -> HandoffState:
        return HandoffState(
            house=self.heart.house,
            titles=titles(self.config_entry),
            tower=self.tower.view,
            tower_why=self.tower.problem,
            nodes={i: view for i, c in self.clusters.items() if (view := c.view)},
            nodes_why={i: why for i, c in self.clusters.items() if (why := c.problem)},
            operations=self.heart.operations,
            last=dict(self.heart.last),
        )
