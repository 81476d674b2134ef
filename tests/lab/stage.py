"""The lab as a stage for the contract suite, which also runs on the simulator."""

import asyncio
from collections.abc import Callable, Mapping
import json
import time
from typing import Any

from . import manifests
from .cast import CAST, GPU_NODE, NODE_NAME, OTHER_NODE, Machine
from .lab import Lab

NAMESPACE = "default"
PATIENCE_S = 60
OFF = "shut off"
_BY_UUID = {machine.uuid: machine for machine in CAST}


class LabStage:
    """One running lab, with the names that the simulator has too."""

    namespace = NAMESPACE
    speed = 1.0

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._audited = 0
        self._knobbed: set[str] = set()

    @property
    def ssh_host(self) -> str:
        return "127.0.0.1"

    @property
    def ssh_port(self) -> int:
        return self.lab.ssh_port

    @property
    def username(self) -> str:
        return "root"

    @property
    def private_key(self) -> str:
        return self.lab.private_key

    @property
    def host_key(self) -> str:
        return self.lab.host_key

    @property
    def kubeconfig(self) -> str:
        return self.lab.kubeconfig

    async def start(self) -> None:
        """Bring the lab up; quick if it is."""
        await asyncio.to_thread(self.lab.up)

    async def stop(self) -> None:
        """End the lab."""
        await asyncio.to_thread(self.lab.down)

    async def reset(self) -> None:
        """Bring everything back to how it stood at the start."""
        await asyncio.to_thread(self._reset)

    def _reset(self) -> None:
        self.lab.up_api()
        for uuid in sorted(self._knobbed):
            self._end(_BY_UUID[uuid])
            self.lab.define(_BY_UUID[uuid])
        self._knobbed.clear()
        for machine in CAST[1:]:
            self._end(machine)
        node = self.lab.power(GPU_NODE)
        if node != "running":
            if node != OFF:
                self._end(GPU_NODE)
            self.lab.virsh("start", GPU_NODE.uuid)
        self._delete_content()
        self._kubectl("uncordon", NODE_NAME, OTHER_NODE)
        self._kubectl("annotate", "node", NODE_NAME, "gpu-handoff/cordoned-by-")
        self.lab.wait_for_node()
        self._audited = len(self.lab.control_plane.audit())

    def _end(self, machine: Machine) -> None:
        """End a guest for the next test; no test and no product does this to a player."""
        if self.lab.power(machine) != OFF:
            self.lab.virsh("destroy", machine.uuid)
        _until(lambda: self.lab.power(machine) == OFF, f"{machine.name} to be off")

    async def virsh(self, *args: str) -> str:
        """Run virsh as a person does; both outputs as one text."""
        return await asyncio.to_thread(self.lab.virsh, *args, check=False)

    async def power(self, vm_id: str) -> str:
        """The state in virsh's word."""
        return await asyncio.to_thread(self.lab.power, _BY_UUID[vm_id])

    async def set_knobs(self, vm_id: str, **knobs: Any) -> None:
        """Have the guest's next start behave so; a guest that runs is started anew."""
        machine = _BY_UUID[vm_id]
        self._knobbed.add(vm_id)
        await asyncio.to_thread(self.lab.define, machine, **knobs)

    async def create_deployment(
        self,
        name: str,
        *,
        replicas: int = 1,
        gpus: int = 0,
        grace_s: int = 2,
        labels: Mapping[str, str] | None = None,
        on_node: str | None = NODE_NAME,
    ) -> None:
        """Make one, and wait until its pods run, all on `on_node` if that is given."""
        deployment = manifests.deployment(
            name,
            replicas=replicas,
            gpus=gpus,
            grace_s=grace_s,
            labels=dict(labels or {"app": name}),
            on_node=on_node,
        )
        selector = ",".join(f"{k}={v}" for k, v in (labels or {"app": name}).items())
        await asyncio.to_thread(self._deploy, deployment, selector, replicas, on_node)

    def _deploy(
        self,
        deployment: dict[str, Any],
        selector: str,
        replicas: int,
        on_node: str | None,
    ) -> None:
        """The scheduler spreads pods: the other node is closed while these are placed."""
        if on_node == NODE_NAME:
            self._kubectl("cordon", OTHER_NODE)
        self._apply(deployment)
        _until(
            lambda: len(self._running(selector)) >= replicas, f"the pods of {selector}"
        )
        self._kubectl("uncordon", OTHER_NODE)

    async def create_budget(
        self,
        name: str,
        match_labels: Mapping[str, str],
        *,
        min_available: int | None = None,
        max_unavailable: int | None = None,
    ) -> None:
        """Make one, and wait until the server has worked it out."""
        budget = manifests.budget(name, match_labels, min_available, max_unavailable)
        await asyncio.to_thread(self._apply, budget)
        query = ("get", "pdb", name, "-o", "jsonpath={.status.observedGeneration}")
        await asyncio.to_thread(
            _until, lambda: self._kubectl(*query) == "1", f"the budget {name}"
        )

    async def delete_namespace_content(self) -> None:
        """Remove what tests made."""
        await asyncio.to_thread(self._delete_content)

    async def cordon_by_hand(self) -> None:
        """As a person does."""
        await asyncio.to_thread(self._kubectl, "cordon", NODE_NAME)

    async def node(self) -> dict[str, Any]:
        """The GPU node's object."""
        return await asyncio.to_thread(self.lab.node)

    async def audit(self) -> list[dict[str, Any]]:
        """Requests since the last reset, from the API server's own log."""
        entries = await asyncio.to_thread(self.lab.control_plane.audit)
        return [_request(entry) for entry in entries[self._audited :]]

    async def restart_libvirtd(self) -> None:
        """Restart the daemon; the machines run on."""
        await asyncio.to_thread(self.lab.restart_libvirtd)

    async def stop_api(self) -> None:
        """Stop the API server alone."""
        await asyncio.to_thread(self.lab.control_plane.stop_api)

    async def start_api(self) -> None:
        """Start it again."""
        await asyncio.to_thread(self.lab.control_plane.start_api)

    def _kubectl(self, *args: str) -> str:
        return self.lab.control_plane.kubectl(*args)

    def _apply(self, thing: dict[str, Any]) -> None:
        self.lab.control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(thing))

    def _delete_content(self) -> None:
        kinds = "deployments,daemonsets,jobs,poddisruptionbudgets"
        self._kubectl("delete", kinds, "--all", "-n", NAMESPACE, "--ignore-not-found")
        force = ("--all", "--force", "--grace-period=0", "--ignore-not-found")
        self._kubectl("delete", "pods", "-n", NAMESPACE, *force)

    def _running(self, selector: str) -> list[str]:
        listed = self._kubectl("get", "pods", "-l", selector, "-o", "json")
        return [
            pod["metadata"]["name"]
            for pod in json.loads(listed)["items"]
            if _is_ready(pod) and not pod["metadata"].get("deletionTimestamp")
        ]


def _is_ready(pod: dict[str, Any]) -> bool:
    conditions = pod["status"].get("conditions", ())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)


def _request(entry: dict[str, Any]) -> dict[str, Any]:
    reference = entry.get("objectRef") or {}
    return {
        "user": (entry.get("user") or {}).get("username"),
        "verb": entry["verb"],
        "resource": reference.get("resource"),
        "subresource": reference.get("subresource"),
        "namespace": reference.get("namespace"),
        "name": reference.get("name"),
        "body": entry.get("requestObject"),
        "code": (entry.get("responseStatus") or {}).get("code"),
        "at": entry["stageTimestamp"],
    }


def _until(true: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + PATIENCE_S
    while not true():
        if time.monotonic() > until:
            raise TimeoutError(f"waited {PATIENCE_S} s for {what}")
        time.sleep(0.1)
