"""The simulated cluster: its objects, its controllers, its kubelets and its API server."""

import asyncio
from typing import Any

from aiohttp import web

from ..clock import Clock
from ..tasks import Tasks
from . import (
    budgets,
    node_object,
    pki,
    scheduler,
    taints,
    volumes,
    workloads,
)
from .access import OUR_RIGHTS, Access, User
from .api import ApiServer
from .contents import Contents
from .knobs import ClusterKnobs
from .kubelet import Kubelet
from .loop import Loop
from .node_object import GPU, Machine
from .settled import is_settled
from .store import Store

LOOPBACK = "127.0.0.1"
TOKEN = "simulated-service-account-token"


class SimCluster(Contents):
    """`knobs`, `faults` and `access` may be turned at will while it runs."""

    def __init__(
        self, clock: Clock, tasks: Tasks, *, certificates: pki.Pki | None = None
    ) -> None:
        self.knobs = ClusterKnobs()
        self.access = Access()
        self.access.tokens[TOKEN] = User(
            "system:serviceaccount:gpu-handoff:gpu-handoff", OUR_RIGHTS
        )
        self.store = Store()
        self.volumes = volumes.Volumes(self.store, clock, tasks, self.knobs)
        self.budgets = budgets.Budgets(self.store)
        self.kubelets: dict[str, Kubelet] = {}
        self.port = 0
        self._certificates = certificates
        self._clock = clock
        self._tasks = tasks
        self._api = ApiServer(self.store, self.access, clock, self.knobs)
        self.faults = self._api.faults
        self._runner: web.AppRunner | None = None
        self._silent: asyncio.Server | None = None

    @property
    def certificates(self) -> pki.Pki:
        if self._certificates is None:
            raise RuntimeError("the cluster has not started")
        return self._certificates

    @property
    def audit(self) -> list[dict[str, Any]]:
        """Every request so far."""
        return [entry.as_dict() for entry in self._api.audit]

    def clear_audit(self) -> None:
        self._api.audit.clear()

    def add_node(self, machine: Machine, *, on: bool) -> Kubelet:
        """Register a node; `on`: it has run for long."""
        kubelet = Kubelet(machine, self.store, self._clock, self.knobs)
        self.kubelets[machine.name] = kubelet
        self.store.on_change.append(kubelet.changed)
        kubelet.register()
        if on:
            kubelet.go_on()
        else:
            kubelet.be_missed()
        return kubelet

    async def start(self) -> None:
        """Start the controllers and the API server."""
        if self._certificates is None:
            self._certificates = await asyncio.to_thread(pki.make_pki)
        self._start_controllers()
        await self.come_up()

    async def come_up(self) -> None:
        """Serve, on the port of before if there was one."""
        context = await asyncio.to_thread(pki.server_context, self.certificates)
        self._runner = web.AppRunner(
            self._api.application(),
            access_log=None,
            shutdown_timeout=1.0,
            handler_cancellation=True,
        )
        await self._runner.setup()
        site = web.TCPSite(
            self._runner,
            LOOPBACK,
            self.port,
            ssl_context=context,
            reuse_address=True,
        )
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def go_down(self) -> None:
        """Stop as a server that is asked to: watches end cleanly, then nobody listens."""
        self.store.hang_up()
        self.faults.hang = False
        if self._runner:
            await self._runner.cleanup()
            self._runner = None

    async def restart(self) -> None:
        """Go down and come back with an empty watch cache: old versions are gone."""
        await self.go_down()
        self.store.forget()
        await self.come_up()

    async def fall_silent(self) -> None:
        """Take connections and never say a word, not even of TLS."""
        await self.go_down()
        self._silent = await asyncio.start_server(_say_nothing, LOOPBACK, self.port)

    async def speak_again(self) -> None:
        """End `fall_silent`."""
        await self._end_silence()
        await self.come_up()

    async def close(self) -> None:
        await self._end_silence()
        await self.go_down()
        for kubelet in self.kubelets.values():
            await kubelet.close()

    async def reset(self) -> None:
        """Undo every fault; nothing of a person's is left, and no node is cordoned."""
        if self._silent:
            await self.speak_again()
        elif self._runner is None:
            await self.come_up()
        self.faults.undo()
        self.access.forbidden.clear()
        self.access.refuse_everybody = False
        self.budgets.paused = False
        for namespace in self.store.items("namespaces"):
            self.delete_content(namespace["metadata"]["name"])
        for name in self.nodes:
            self.store.change("nodes", name, _untouched)
        self.clear_audit()

    def is_usable(self, node: str, gpus: int) -> bool:
        item = self.store.get("nodes", node)
        allocatable = int(item["status"]["allocatable"].get(GPU, 0))
        return node_object.is_ready(item) and allocatable == gpus

    def cordon_by_hand(self, node: str, *, on: bool = True) -> None:
        """What `kubectl cordon` or `uncordon` does."""

        def edit(item: dict[str, Any]) -> None:
            if on:
                item["spec"]["unschedulable"] = True
            else:
                item["spec"].pop("unschedulable", None)

        self.store.change("nodes", node, edit)

    async def settled(self) -> None:
        """Wait until every pod that has a node runs and every budget is counted."""
        while not is_settled(self.store):
            await self._clock.sleep(self.knobs.budget_s)

    def _start_controllers(self) -> None:
        making = workloads.Workloads(self.store)
        self.store.on_change.append(making.changed)
        works = (
            (taints.Taints(self.store).work, taints.MINDS, self._step_s),
            (making.work, workloads.MINDS, self._step_s),
            (scheduler.Scheduler(self.store).work, scheduler.MINDS, self._step_s),
            (self.volumes.work, volumes.MINDS, self._step_s),
            (self.budgets.work, budgets.MINDS, lambda: self.knobs.budget_s),
        )
        for work, minds, delay_s in works:
            loop = Loop(work, minds=minds, clock=self._clock, delay_s=delay_s)
            self.store.on_change.append(loop.changed)
            loop.start(self._tasks)

    def _step_s(self) -> float:
        return self.knobs.step_s

    async def _end_silence(self) -> None:
        if self._silent:
            self._silent.close()
            self._silent.close_clients()
            await self._silent.wait_closed()
            self._silent = None


def _untouched(item: dict[str, Any]) -> None:
    item["spec"].pop("unschedulable", None)
    item["metadata"].pop("annotations", None)


async def _say_nothing(
    reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
) -> None:
    await reader.read()
