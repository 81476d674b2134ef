"""The simulator as a stage for the contract suite, which also runs on the lab."""

from collections.abc import Mapping
from typing import Any

from .cluster.contents import NAMESPACE
from .cluster.pod_object import PodPlan
from .simulator import Simulator
from .tower.knobs import Knobs

SPEED = 20.0
_SETTLE_S = 60.0
_KNOBS: Mapping[str, str] = {
    "ga_delay": "agent_delay_s",
    "shutdown_delay": "shutdown_s",
    "crash_after": "crash_after_s",
    "off_after": "off_after_s",
}
"""The lab guest's kernel command line, and what it is here."""


class SimulatorStage:
    """One simulator, with the names that the lab has too."""

    namespace = NAMESPACE

    def __init__(self, simulator: Simulator) -> None:
        self.simulator = simulator

    @property
    def speed(self) -> float:
        """How much faster than real time everything here happens."""
        return self.simulator.clock.speed

    @property
    def ssh_host(self) -> str:
        return self.simulator.ssh_host

    @property
    def ssh_port(self) -> int:
        return self.simulator.ssh_port

    @property
    def username(self) -> str:
        return self.simulator.username

    @property
    def private_key(self) -> str:
        return self.simulator.client_private_key

    @property
    def host_key(self) -> str:
        return self.simulator.host_key

    @property
    def kubeconfig(self) -> str:
        return self.simulator.kubeconfig

    async def reset(self) -> None:
        await self.simulator.reset()

    async def virsh(self, *args: str) -> str:
        """Run virsh as a person does; both outputs as one text."""
        output = await self.simulator.tower.virsh(*args)
        return output.stdout + output.stderr

    async def set_knobs(self, vm_id: str, **knobs: Any) -> None:
        """Have the guest's next start behave so."""
        new = Knobs()
        for name, value in knobs.items():
            if name == "ga":
                new.agent = value != "off"
            elif name == "refuse_shutdown":
                new.refuse_shutdown = bool(int(value))
            else:
                setattr(new, _KNOBS[name], float(value))
        self.simulator.tower.vms[vm_id].knobs = new

    async def create_deployment(
        self,
        name: str,
        *,
        replicas: int = 1,
        gpus: int = 0,
        grace_s: int = 2,
        labels: Mapping[str, str] | None = None,
        on_node: str | None = "gpu1",
    ) -> None:
        """Make one, and wait until its pods run. They would rather run on `on_node`."""
        plan = PodPlan(labels=labels or {}, gpus=gpus, grace_s=grace_s, prefers=on_node)
        self.simulator.cluster.create_deployment(name, replicas=replicas, plan=plan)
        await self._settle()

    async def create_budget(
        self,
        name: str,
        match_labels: Mapping[str, str],
        *,
        min_available: int | None = None,
        max_unavailable: int | None = None,
    ) -> None:
        self.simulator.cluster.create_pdb(
            name,
            match_labels=match_labels,
            min_available=min_available,
            max_unavailable=max_unavailable,
        )
        await self._settle()

    async def delete_namespace_content(self) -> None:
        self.simulator.cluster.delete_content(self.namespace)

    async def cordon_by_hand(self) -> None:
        self.simulator.cluster.cordon_by_hand(self._node)

    async def node(self) -> dict[str, Any]:
        return self.simulator.cluster.nodes[self._node]

    async def audit(self) -> list[dict[str, Any]]:
        return self.simulator.cluster.audit

    async def power(self, vm_id: str) -> str:
        """The state in virsh's word."""
        return self.simulator.tower.vms[vm_id].power

    async def restart_libvirtd(self) -> None:
        tower = self.simulator.tower
        tower.stop_libvirt()
        await self.simulator.clock.sleep(1.0)
        tower.start_libvirt()

    async def stop_api(self) -> None:
        await self.simulator.cluster.go_down()

    async def start_api(self) -> None:
        """Come back as a restarted server: what was watched before is forgotten."""
        self.simulator.cluster.store.forget()
        await self.simulator.cluster.come_up()

    @property
    def _node(self) -> str:
        return self.simulator.house.node_name

    async def _settle(self) -> None:
        async with self.simulator.clock.timeout(_SETTLE_S):
            await self.simulator.cluster.settled()
