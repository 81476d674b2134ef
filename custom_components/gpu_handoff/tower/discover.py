"""Looking around on a host for the first time: what is there, and who may be who."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
import re

from ..handoff.reason import Reason
from ..handoff.world import CardId, Power, TowerView, Vm, VmId
from . import requests
from .bus import Bus
from .card_identity import KnownCard
from .commands import HostContext
from .errors import HandoffError, Unreachable
from .hello import Hello, read_hello
from .snapshot import take_snapshot
from .ssh import Connection
from .virsh import Refresh

_LIKE_A_NODE = re.compile(r"node|k3s|k8s|kube|worker|cluster", re.IGNORECASE)


class Role(StrEnum):
    """What a machine may be to us."""

    GPU_NODE = "gpu_node"
    GAMING = "gaming"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundDomain:
    """A machine that was found, and what we would take it for."""

    vm_id: VmId
    name: str
    cards: frozenset[CardId]
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A host that was looked at. `context` is how its virsh is called."""

    machine_id: str
    hostname: str
    context: HostContext
    view: TowerView
    known_cards: tuple[KnownCard, ...]
    roles: dict[VmId, Role]
    problems: tuple[Reason, ...] = ()

    @property
    def uri(self) -> str:
        """The libvirt URI that answered."""
        return self.context.uri

    @property
    def domains(self) -> tuple[FoundDomain, ...]:
        """The machines, each with a proposal of what it is."""
        return tuple(
            FoundDomain(
                vm_id=vm.vm_id,
                name=vm.name,
                cards=vm.wants,
                role=self.roles[vm.vm_id],
            )
            for vm in self.view.vms.values()
        )


async def look_around(connection: Connection) -> Found:
    """Find machines and cards on a host. Raises HandoffError with what is missing.

    Leaves the connection with the context that worked.
    """
    hello = read_hello((await connection.run("hello")).stdout)
    if not hello.virsh:
        raise Unreachable("virsh_not_found", cause=hello.hostname)
    if not hello.machine_id:
        raise HandoffError("no_machine_id", host=connection.credentials.host)
    refresh = await _refresh_somehow(connection, hello)
    if not refresh.names:
        raise HandoffError("no_domains", host=hello.hostname, uri=refresh.uri)
    bus = Bus()
    await bus.look(connection, ())
    snapshot = take_snapshot(refresh, bus.known, bus.found)
    return Found(
        machine_id=hello.machine_id,
        hostname=hello.hostname,
        context=connection.context,
        view=snapshot.view,
        known_cards=bus.known,
        roles=propose_roles(snapshot.view),
        problems=snapshot.problems + ((bus.problem,) if bus.problem else ()),
    )


async def _refresh_somehow(connection: Connection, hello: Hello) -> Refresh:
    """As it is set; else through a socket that is there; else with sudo."""
    refused: Unreachable | None = None
    for context in _ways(connection.context, hello):
        if refused and not _helps(context, refused):
            continue
        connection.context = context
        try:
            return await requests.refresh(connection, frozenset())
        except Unreachable as err:
            refused = err
    if refused is None or refused.reason.key != "libvirt_permission":
        raise refused or Unreachable("libvirt_failed", cause="")
    if hello.powerless_sudo and not hello.sudo:
        path = hello.powerless_sudo
        raise Unreachable("wrong_sudo", path=path) from refused
    raise Unreachable("libvirt_permission", user=hello.user) from refused


def _ways(context: HostContext, hello: Hello) -> Iterator[HostContext]:
    """Every way to call virsh that this host may need, the plainest first."""
    plain = replace(context, virsh=hello.virsh, nowait=hello.nowait)
    sockets = [
        replace(plain, uri=f"qemu+unix:///system?socket={socket}")
        for socket in hello.sockets
        if plain.uri == "qemu:///system"
    ]
    yield plain
    yield from sockets
    if hello.sudo and hello.uid != 0 and not plain.sudo:
        for way in (plain, *sockets):
            yield replace(way, sudo=hello.sudo)


def _helps(context: HostContext, refused: Unreachable) -> bool:
    """Whether another way may get past what was said to the last one."""
    match refused.reason.key:
        case "libvirt_not_running":
            return not context.sudo
        case "libvirt_permission":
            return bool(context.sudo)
    return False


def propose_roles(view: TowerView) -> dict[VmId, Role]:
    """The machine with most cards, if it shares them all, lends them; the others play."""
    with_cards = [vm for vm in view.vms.values() if vm.wants]
    roles = dict.fromkeys(view.vms, Role.NONE)
    roles |= {vm.vm_id: Role.GAMING for vm in with_cards}
    if lender := _lender(with_cards):
        roles[lender.vm_id] = Role.GPU_NODE
    return roles


def _lender(with_cards: list[Vm]) -> Vm | None:
    """Where several are alike, a name or a running machine decides; else nobody is."""

    def weight(vm: Vm) -> tuple[int, bool, bool]:
        like_a_node = bool(_LIKE_A_NODE.search(vm.name))
        return len(vm.wants), like_a_node, vm.power is Power.RUNNING

    sharing = [
        vm
        for vm in with_cards
        if all(
            any(card in other.wants for other in with_cards if other is not vm)
            for card in vm.wants
        )
    ]
    ranked = sorted(sharing, key=weight, reverse=True)
    if not ranked or (len(ranked) > 1 and weight(ranked[0]) == weight(ranked[1])):
        return None
    return ranked[0]
