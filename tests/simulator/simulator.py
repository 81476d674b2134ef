"""The whole house: a tower with its machines, and a cluster with the node that is one."""

from types import TracebackType
from typing import Self

from . import kubeconfig
from .clock import Clock
from .cluster.node_object import STYLES, Machine
from .cluster.pki import Pki
from .cluster.sim_cluster import TOKEN, SimCluster
from .house import House, default_house
from .link import Link
from .tasks import Tasks
from .tower import keys
from .tower.sim_tower import LOOPBACK, SimTower

_OTHER_UUID = "99999999-9999-4999-8999-999999999999"


class Simulator:
    """Runs in any event loop; everything ends when the block is left."""

    def __init__(
        self,
        speed: float = 1.0,
        house: House | None = None,
        *,
        certificates: Pki | None = None,
    ) -> None:
        self.house = house or default_house()
        self.clock = Clock(speed)
        self._tasks = Tasks()
        self.tower = SimTower(self.house, self.clock, self._tasks)
        self.cluster = SimCluster(self.clock, self._tasks, certificates=certificates)

    async def __aenter__(self) -> Self:
        try:
            await self.tower.accept()
            self._add_nodes()
            await self.cluster.start()
        except BaseException:
            await self._close()
            raise
        self.tower.host.kubeconfig = self.kubeconfig
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self._close()

    @property
    def ssh_host(self) -> str:
        return LOOPBACK

    @property
    def ssh_port(self) -> int:
        return self.tower.port

    @property
    def username(self) -> str:
        return self.tower.host.user

    @property
    def client_private_key(self) -> str:
        return self.tower.client_keys.private

    @property
    def encrypted_private_key(self) -> str:
        """Another key that is let in; `passphrase` opens it."""
        return self.tower.client_keys.encrypted

    @property
    def passphrase(self) -> str:
        return keys.PASSPHRASE

    @property
    def host_key(self) -> str:
        return self.tower.host_key

    @property
    def api_port(self) -> int:
        return self.cluster.port

    @property
    def server(self) -> str:
        return f"https://{LOOPBACK}:{self.api_port}"

    @property
    def token(self) -> str:
        """A service account that may do what a handover needs."""
        return TOKEN

    @property
    def kubeconfig(self) -> str:
        """An administrator's, with a client certificate."""
        certificates = self.cluster.certificates
        return kubeconfig.with_certificate(
            self.server,
            certificates.authority.certificate_pem,
            certificates.client.certificate_pem,
            certificates.client.key_pem,
        )

    def kubeconfig_with_token(self, token: str = TOKEN) -> str:
        authority = self.cluster.certificates.authority.certificate_pem
        return kubeconfig.with_token(self.server, authority, token)

    def facts(self) -> dict[str, str | int]:
        """Everything that a client needs, as plain data."""
        return {
            "ssh_host": self.ssh_host,
            "ssh_port": self.ssh_port,
            "username": self.username,
            "private_key": self.client_private_key,
            "host_key": self.host_key,
            "server": self.server,
            "kubeconfig": self.kubeconfig,
        }

    async def reset(self) -> None:
        """Bring everything back to how it stood at the start, without any fault."""
        await self.tower.reset(self.house.running_at_first)
        await self.cluster.reset()
        if (name := self.house.gpu_node) is None:
            return
        guest = self.tower.vms[name]
        cards = self.tower.bus.displays(guest.holds)
        while not self.cluster.is_usable(self.house.node_name, cards):
            await self.clock.sleep(0.1)

    def _add_nodes(self) -> None:
        house = self.house
        other = Machine(
            name=house.other_node,
            system_uuid=_OTHER_UUID,
            address="192.0.2.11",
            cpu="4",
        )
        self.cluster.add_node(other, on=True)
        if house.gpu_node is None:
            return
        guest = self.tower.vms[house.gpu_node]
        style = STYLES[self.cluster.knobs.uuid_style]
        machine = Machine(
            name=house.node_name,
            system_uuid=style(guest.uuid),
            address="192.0.2.10",
            gpus=self.tower.bus.displays(guest.plan.hostdevs),
        )
        kubelet = self.cluster.add_node(machine, on=guest.running)
        Link(guest, kubelet, self.tower.bus).start(self._tasks)

    async def _close(self) -> None:
        await self.cluster.close()
        await self.tower.close()
        await self._tasks.close()
