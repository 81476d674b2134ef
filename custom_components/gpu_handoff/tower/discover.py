"""Looking around on a host for the first time: what is there, and who may be who."""

from dataclasses import dataclass, replace
from enum import StrEnum

from ..handoff.world import TowerView, VmId
from . import requests
from .card_identity import KnownCard
from .commands import HostContext
from .errors import Unreachable
from .hello import Hello, read_hello
from .snapshot import take_snapshot
from .ssh import Connection
from .virsh import Refresh

_TRY_SUDO_FOR = frozenset({"libvirt_permission", "session_daemon"})


class Role(StrEnum):
    """What a machine may be to us."""

    GPU_NODE = "gpu_node"
    GAMING = "gaming"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A host that was looked at; `context` is how its virsh is called."""

    machine_id: str
    hostname: str
    context: HostContext
    view: TowerView
    known_cards: tuple[KnownCard, ...]
    roles: dict[VmId, Role]


async def look_around(connection: Connection) -> Found:
    """Find machines and cards on a host. Raises HandoffError with what is missing."""
    hello = read_hello((await connection.run("hello")).stdout)
    if not hello.virsh:
        raise Unreachable("virsh_not_found")
    if not hello.machine_id:
        raise Unreachable("no_machine_id", host=connection.credentials.host)
    refresh = await _refresh_somehow(connection, hello)
    known, found = await requests.cards(connection, [])
    view = take_snapshot(refresh, known, found).view
    if not view.vms:
        raise Unreachable("no_domains", host=hello.hostname)
    return Found(
        machine_id=hello.machine_id,
        hostname=hello.hostname,
        context=connection.context,
        view=view,
        known_cards=tuple(known),
        roles=propose_roles(view),
    )


async def _refresh_somehow(connection: Connection, hello: Hello) -> Refresh:
    """As ourselves first; with sudo where that is not allowed and sudo can be had."""
    plain = replace(connection.context, virsh=hello.virsh, nowait=hello.nowait)
    connection.context = plain
    try:
        return await requests.refresh(connection, frozenset())
    except Unreachable as err:
        if plain.sudo or hello.uid == 0 or err.reason.key not in _TRY_SUDO_FOR:
            raise
        if not hello.sudo:
            raise _without_sudo(hello, err) from err
    connection.context = replace(plain, sudo=hello.sudo)
    try:
        return await requests.refresh(connection, frozenset())
    except Unreachable as err:
        if err.reason.key == "sudo_needs_password":
            raise Unreachable("libvirt_permission_no_sudo", user=hello.user) from err
        raise


def _without_sudo(hello: Hello, refused: Unreachable) -> Unreachable:
    if hello.powerless_sudo:
        return Unreachable(
            "wrong_sudo", path=hello.powerless_sudo, remedy="/run/wrappers/bin/sudo"
        )
    return refused


def propose_roles(view: TowerView) -> dict[VmId, Role]:
    """The machine with most cards, if it shares them all, lends them; others play."""
    with_cards = [vm for vm in view.vms.values() if vm.wants]
    most = max(with_cards, key=lambda vm: (len(vm.wants), vm.vm_id), default=None)
    roles = dict.fromkeys(view.vms, Role.NONE)
    for vm in with_cards:
        roles[vm.vm_id] = Role.GAMING
    if most is not None:
        rest = [vm.wants for vm in with_cards if vm is not most]
        shared = frozenset[str]().union(*rest)
        unique = all(len(wants) < len(most.wants) for wants in rest)
        if rest and unique and most.wants & shared:
            roles[most.vm_id] = Role.GPU_NODE
    return roles
