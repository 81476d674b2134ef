"""The product's tower, cluster and heart at work on a stage, without Home Assistant."""

import asyncio
from collections.abc import Callable, Coroutine
import time
from typing import Any, Self

from custom_components.gpu_handoff.cluster.client import Api
from custom_components.gpu_handoff.cluster.cluster_node import ClusterNode
from custom_components.gpu_handoff.cluster.kubeconfig import read
from custom_components.gpu_handoff.handoff.loop import Reconciler
from custom_components.gpu_handoff.handoff.operation import HandoffEvent, Result
from custom_components.gpu_handoff.handoff.world import GamingVm, GpuNode, House
from custom_components.gpu_handoff.tower.discover import Found, look_around
from custom_components.gpu_handoff.tower.ssh import Connection, Credentials
from custom_components.gpu_handoff.tower.tower import Tower

from .stage import ALICE, BOB, CAROL, GPU_NODE, NODE, Stage

PATIENCE_S = 90


class Memory:
    """A journal in memory."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] | None = None

    async def load(self) -> dict[str, Any] | None:
        return self.kept

    async def save(self, data: dict[str, Any]) -> None:
        self.kept = data


class Crew:
    """Started and ended as one; `restart_heart` is what a restart of Home Assistant does."""

    found: Found
    tower: Tower
    node: ClusterNode
    heart: Reconciler

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.events: list[HandoffEvent] = []
        self.journal = Memory()
        self.house = House(
            gaming={vm: GamingVm(vm_id=vm) for vm in (ALICE, BOB, CAROL)},
            nodes={GPU_NODE: GpuNode(vm_id=GPU_NODE)},
        )
        self.connection = Connection(
            Credentials(
                host=stage.ssh_host,
                port=stage.ssh_port,
                username=stage.username,
                host_key=stage.host_key,
                private_key=stage.private_key,
            )
        )
        self.api = Api(read(stage.kubeconfig))
        self._tasks: list[asyncio.Task[None]] = []
        self._heart_task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self.found = await look_around(self.connection)
        self.tower = Tower(
            self.connection,
            known_cards=self.found.known_cards,
            on_change=self._wake,
        )
        self.node = ClusterNode(self.api, NODE, expected_gpus=2, on_change=self._wake)
        await self.start_heart()
        self._run(self.tower.run())
        self._run(self.node.run())
        await self.until(lambda: self.node.view is not None)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_heart()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.node.close()
        await self.api.close()
        await self.tower.close()

    async def start_heart(self) -> None:
        self.heart = Reconciler(
            house=self.house,
            tower=self.tower,
            clusters={GPU_NODE: self.node},
            journal=self.journal,
            on_event=self.events.append,
        )
        await self.heart.start()
        self._heart_task = asyncio.create_task(self.heart.run())

    async def stop_heart(self) -> None:
        if self._heart_task is not None:
            self._heart_task.cancel()
            await asyncio.gather(self._heart_task, return_exceptions=True)
        await self.heart.stop()

    async def hand_over(self, vm_id: str) -> Result:
        return await self.result(await self.heart.hand_over(vm_id))

    async def give_back(self, vm_id: str) -> Result:
        return await self.result(await self.heart.give_back(vm_id))

    async def result(self, operation: str) -> Result:
        async with asyncio.timeout(PATIENCE_S):
            return await self.heart.wait_for(operation)

    async def until(self, true: Callable[[], bool], patience_s: float = 60) -> None:
        """Wait until something holds."""
        until = time.monotonic() + patience_s
        while not true():
            assert time.monotonic() < until, "it did not come true"
            await asyncio.sleep(0.02)

    @property
    def phases(self) -> list[str]:
        """The phases that were passed, in order, each once in a row."""
        seen = [str(event.phase) for event in self.events]
        return [p for i, p in enumerate(seen) if i == 0 or seen[i - 1] != p]

    def _wake(self) -> None:
        if hasattr(self, "heart"):
            self.heart.wake()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))
