"""The thread between a machine of the tower and its node in the cluster."""

import asyncio

from .cluster.kubelet import Kubelet
from .tasks import Tasks
from .tower.guest import Guest
from .tower.pci import PciBus


class Link:
    """The node lives as its machine does: it boots with it, freezes and dies with it."""

    def __init__(self, guest: Guest, kubelet: Kubelet, bus: PciBus) -> None:
        self._guest = guest
        self._kubelet = kubelet
        self._bus = bus
        self._seen_run = guest.domain_id
        self._woken = asyncio.Event()
        guest.on_change.append(self._woken.set)

    def start(self, tasks: Tasks) -> None:
        tasks.start(self._run())

    async def _run(self) -> None:
        while True:
            await self._woken.wait()
            self._woken.clear()
            await self._follow()

    async def _follow(self) -> None:
        guest, kubelet = self._guest, self._kubelet
        if not guest.running:
            await kubelet.stop()
        elif guest.domain_id != self._seen_run:
            await kubelet.stop()
            self._seen_run = guest.domain_id
            kubelet.boot(self._bus.displays(guest.holds))
        elif not kubelet.on:
            kubelet.go_on()
