"""The simulated tower: its machines, its cards, and the SSH server in front of them."""

import asyncio
from collections.abc import Collection, Sequence
from itertools import count
import time

import asyncssh

from ..clock import Clock
from ..house import House, VmPlan
from ..tasks import Tasks
from . import keys
from .events import Events
from .faults import TowerFaults
from .guest import Guest
from .host import Host, Libvirt
from .knobs import Knobs
from .output import Output
from .pci import PciBus
from .sshd import Door
from .virsh import Virsh

LOOPBACK = "127.0.0.1"


class SimTower:
    """Everything of the host; `vms`, `host`, `bus` and `faults` may be turned at will."""

    def __init__(self, house: House, clock: Clock, tasks: Tasks) -> None:
        self.clock = clock
        self.tasks = tasks
        self.events = Events()
        self.host = Host()
        self.faults = TowerFaults()
        self.bus = PciBus(house.functions)
        self.vms: dict[str, Guest] = {}
        self.virsh_program = Virsh(self.vms, self.host)
        self.log: list[tuple[float, str, tuple[str, ...]]] = []
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self.client_keys = keys.ClientKeys()
        self.password: str | None = None
        self.port = 0
        self._ids = count(1)
        self._host_key = keys.make_host_key()
        self._listener: asyncssh.SSHAcceptor | None = None
        self._silent: asyncio.Server | None = None
        for plan in house.vms:
            self.define(plan)
        for uuid in house.running_at_first:
            self.vms[uuid].be_running()

    @property
    def host_key(self) -> str:
        """The server's public key, one OpenSSH line."""
        return keys.public_line(self._host_key)

    @property
    def authorized(self) -> frozenset[bytes]:
        return self.client_keys.authorized

    def define(self, plan: VmPlan) -> Guest:
        """Add a machine to the tower."""
        guest = Guest(
            plan,
            clock=self.clock,
            tasks=self.tasks,
            events=self.events,
            bus=self.bus,
            next_id=lambda: next(self._ids),
        )
        self.vms[plan.uuid] = guest
        return guest

    async def accept(self) -> None:
        """Listen, on the port of before if there was one."""
        self._listener = await asyncssh.listen(
            LOOPBACK,
            self.port,
            server_factory=lambda: Door(self),
            server_host_keys=[self._host_key],
            encoding=None,
            config=[],
            allow_scp=False,
            reuse_address=True,
        )
        self.port = self._listener.get_port()

    async def refuse(self) -> None:
        """Stop listening, and drop who is connected: as a host that goes down."""
        listener, self._listener = self._listener, None
        if listener:
            listener.close()
        await self.drop()
        if listener:
            await listener.wait_closed()

    async def fall_silent(self) -> None:
        """Take connections and never say a word: as a host that is frozen."""
        await self.refuse()
        self._silent = await asyncio.start_server(_say_nothing, LOOPBACK, self.port)

    async def speak_again(self) -> None:
        """End `fall_silent`."""
        if self._silent:
            self._silent.close()
            self._silent.close_clients()
            await self._silent.wait_closed()
            self._silent = None
        await self.accept()

    async def drop(self) -> None:
        """Cut every connection; the server goes on listening."""
        for connection in list(self.connections):
            connection.abort()
        await asyncio.sleep(0)

    async def change_host_key(self) -> None:
        """Come back on the same port with another host key, as a reinstalled host."""
        await self.refuse()
        self._host_key = keys.make_host_key()
        await self.accept()

    def stop_libvirt(self) -> None:
        """Stop the daemon: streams end with rc 1, machines go on."""
        self.host.libvirt = Libvirt.STOPPED
        self.events.hang_up()

    def start_libvirt(self) -> None:
        self.host.libvirt = Libvirt.RUNNING

    async def virsh(self, *args: str) -> Output:
        """A person's own hand on the host, as root, not quiet."""
        return await self.virsh_program.run([args], as_root=True, quiet=False)

    def note(self, verb: str, args: Sequence[str]) -> None:
        self.log.append((time.monotonic(), verb, tuple(args)))

    async def reset(self, running: Collection[str]) -> None:
        """Undo every fault and knob; have exactly these machines running."""
        self.faults = TowerFaults()
        self.host.libvirt = Libvirt.RUNNING
        if self._silent:
            await self.speak_again()
        elif self._listener is None:
            await self.accept()
        for guest in self.vms.values():
            guest.knobs = Knobs()
            if guest.active and (guest.uuid not in running or not guest.steady):
                guest.destroy()
        for uuid in running:
            if not self.vms[uuid].active:
                self.vms[uuid].be_running()
        self.log.clear()

    async def close(self) -> None:
        if self._silent:
            self._silent.close()
            self._silent.close_clients()
        await self.refuse()


async def _say_nothing(
    reader: asyncio.StreamReader, _writer: asyncio.StreamWriter
) -> None:
    await reader.read()
