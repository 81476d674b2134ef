"""One node's kubelet: its lease, its status, its pods; as alive as its machine."""

import asyncio
from collections.abc import Callable
import uuid

from ..clock import Clock
from ..tasks import Tasks
from . import deletion, node_object, pod_object
from .knobs import ClusterKnobs
from .node_object import LEASES, Machine
from .resources import BY_PLURAL
from .store import Change, Object, Store, micro_timestamp, timestamp

_UNREACHABLE = "node.kubernetes.io/unreachable"


class Kubelet:
    """`on`: the machine runs. A frozen machine is off, but comes back without a boot."""

    def __init__(
        self, machine: Machine, store: Store, clock: Clock, knobs: ClusterKnobs
    ) -> None:
        self.machine = machine
        self.on = False
        self._store = store
        self._clock = clock
        self._knobs = knobs
        self._alive = Tasks()
        self._dead = Tasks()
        self._pods: dict[str, asyncio.Task[None]] = {}

    def register(self) -> None:
        """Be there as if it had been for long."""
        self._store.create(
            BY_PLURAL["nodes"], node_object.node(self.machine, gpus_ready=True)
        )
        self._store.create(BY_PLURAL["leases"], node_object.lease(self.machine.name))

    def be_missed(self) -> None:
        """Have been off for long."""
        self._store.change("nodes", self.machine.name, _unknown)

    def go_on(self) -> None:
        """Run, without a boot: at the simulator's start, or after a pause."""
        self.on = True
        self._alive.start(self._serve())

    def boot(self, gpus: int) -> None:
        """Start up: Ready after a while, the cards later still."""
        self.on = True
        self.machine.boot_id = str(uuid.uuid4())
        self.machine.gpus = gpus
        self._alive.start(self._boot())

    async def stop(self) -> None:
        """Stop in the middle of everything; only the lease's age tells."""
        if not self.on:
            return
        self.on = False
        self._pods.clear()
        await self._alive.close()
        self._dead.start(self._be_missed())

    async def close(self) -> None:
        await self._alive.close()
        await self._dead.close()

    def changed(self, change: Change) -> None:
        if change.plural == "pods" and self.on and not change.deleted:
            self._look_after(change.after)

    async def _boot(self) -> None:
        await self._clock.sleep(self._knobs.ready_s)
        await self._dead.close()
        self._post(gpus_ready=False)
        self._restart_pods()
        self._alive.start(self._plug_in())
        await self._serve()

    async def _plug_in(self) -> None:
        await self._clock.sleep(self._knobs.gpu_s)
        self._post(gpus_ready=True)

    async def _serve(self) -> None:
        await self._dead.close()
        self._store.change("nodes", self.machine.name, _not_missed)
        for item in self._store.items("pods"):
            self._look_after(item)
        while True:
            self._store.change("leases", self.machine.name, _renew, LEASES)
            await self._clock.sleep(self._knobs.lease_s)

    async def _be_missed(self) -> None:
        await self._clock.sleep(self._knobs.grace_s)
        self.be_missed()

    def _post(self, *, gpus_ready: bool) -> None:
        status = node_object.status(self.machine, gpus_ready=gpus_ready)

        def edit(item: Object) -> None:
            item["status"] = status

        self._store.change("nodes", self.machine.name, edit)

    def _restart_pods(self) -> None:
        """What was here before the boot starts again; GPU pods find no GPU and fail."""
        for item in self._mine():
            if pod_object.is_leaving(item) or pod_object.is_finished(item):
                continue
            edit = _reject if pod_object.gpus(item) else _restarted
            self._change(item, edit)

    def _mine(self) -> list[Object]:
        return [it for it in self._store.items("pods") if self._is_mine(it)]

    def _is_mine(self, item: Object) -> bool:
        return bool(item["spec"].get("nodeName") == self.machine.name)

    def _look_after(self, item: Object) -> None:
        uid = item["metadata"]["uid"]
        if not self._is_mine(item):
            return
        if pod_object.is_leaving(item):
            work, key = self._end_pod(item), f"end {uid}"
        elif item["status"].get("phase") == "Pending":
            work, key = self._start_pod(item), f"start {uid}"
        else:
            return
        if key in self._pods:
            work.close()
        else:
            self._pods[key] = self._alive.task(work)

    async def _start_pod(self, item: Object) -> None:
        delay = (item["metadata"].get("annotations") or {}).get("sim/start-s")
        await self._clock.sleep(float(delay or self._knobs.pod_start_s))
        self._change(item, _running)

    async def _end_pod(self, item: Object) -> None:
        grace_s = float(item["metadata"].get("deletionGracePeriodSeconds", 0))
        stop_s = self._knobs.pod_stop_s
        await self._clock.sleep(grace_s if stop_s is None else min(grace_s, stop_s))
        self._change(item, _ended)
        deletion.finish(self._store, item)

    def _change(self, item: Object, edit: Callable[[Object], None]) -> None:
        meta = item["metadata"]
        current = self._store.find("pods", meta["name"], meta["namespace"])
        if current and current["metadata"]["uid"] == meta["uid"]:
            edit(current)
            self._store.update("pods", current)


def _renew(item: Object) -> None:
    item["spec"]["renewTime"] = micro_timestamp()


def _unknown(item: Object) -> None:
    item["status"]["conditions"] = node_object.conditions_unknown()
    taints = item["spec"].setdefault("taints", [])
    taints += [
        {"key": _UNREACHABLE, "effect": effect, "timeAdded": timestamp()}
        for effect in ("NoSchedule", "NoExecute")
    ]


def _not_missed(item: Object) -> None:
    if not node_object.is_ready(item):
        item["status"]["conditions"] = node_object.conditions_ok()
    if taints := item["spec"].get("taints"):
        left = [it for it in taints if it["key"] != _UNREACHABLE]
        item["spec"].pop("taints")
        if left:
            item["spec"]["taints"] = left


def _running(item: Object) -> None:
    never = (item["metadata"].get("annotations") or {}).get("sim/never-ready")
    ready = "False" if never else "True"
    item["status"]["phase"] = "Running"
    item["status"]["startTime"] = timestamp()
    for kind in ("PodReadyToStartContainers", "Initialized"):
        pod_object.set_condition(item, pod_object.condition(kind, "True"))
    for kind in ("ContainersReady", "Ready"):
        pod_object.set_condition(item, pod_object.condition(kind, ready))
    item["status"]["containerStatuses"] = [
        {
            "name": "c",
            "state": {"running": {"startedAt": timestamp()}},
            "lastState": {},
            "ready": not never,
            "restartCount": 0,
            "image": "registry.invalid/c",
            "imageID": "registry.invalid/c@sha256:sim",
            "started": True,
        }
    ]


def _restarted(item: Object) -> None:
    for container in item["status"].get("containerStatuses") or ():
        container["restartCount"] += 1


def _ended(item: Object) -> None:
    for kind in ("ContainersReady", "Ready"):
        pod_object.set_condition(item, pod_object.condition(kind, "False"))


def _reject(item: Object) -> None:
    item["status"]["phase"] = "Failed"
    item["status"]["reason"] = "UnexpectedAdmissionError"
    item["status"]["message"] = (
        "Pod was rejected: Allocate failed due to no healthy devices present; "
        "cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"
    )
    _ended(item)
