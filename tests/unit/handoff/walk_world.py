"""The walk's environment: a tower, its node and its people, small enough to be enumerated."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    Fate,
    GamingVm,
    GpuNode,
    House,
    Mark,
    NodeView,
    Power,
    TowerView,
    VmId,
)

from .worlds import NODE, OFF, RUNNING, WANTS, card, pod, vm

STALE, NEW_BOOT, NO_CARDS, USABLE = range(4)
"""How far a node that runs has come since its machine was started."""

FOR_EVER_AGO, JUST_NOW = -3e6, 3e6
STARTS = frozenset({ActKind.START, ActKind.RESUME, ActKind.WAKE})
ANSWERS = {True: Agent.CONNECTED, False: Agent.SILENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """One machine; `agent`: whether it answers. `word`: what a person said last of it."""

    power: Power = OFF
    agent: bool = False
    word: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Env:
    """All that is true outside of the heart. Boot ids are "now" and "old": only that counts."""

    machines: tuple[tuple[VmId, Machine], ...]
    schedulable: bool = True
    mark: VmId | None = None
    mark_boot: str = "now"
    stage: int = USABLE
    pods: Fate | None = None
    tower: bool = True
    cluster: bool = True
    card_open: bool = False

    def __getitem__(self, vm_id: VmId) -> Machine:
        return dict(self.machines)[vm_id]

    @property
    def foreign_cordon(self) -> bool:
        """Whether somebody else's cordon stands."""
        return not self.schedulable and self.mark is None

    def having(self, vm_id: VmId, **facts: object) -> Env:
        """The same, but for one machine."""
        changed = {**dict(self.machines), vm_id: replace(self[vm_id], **facts)}
        return replace(self, machines=tuple(changed.items()))

    def rivals(self, vm_id: VmId) -> list[VmId]:
        """Who else has a card that this machine needs."""
        return [
            other
            for other, machine in self.machines
            if other != vm_id
            and machine.power is not OFF
            and WANTS[other] & WANTS[vm_id]
        ]

    def boots(self, vm_id: VmId) -> Env:
        """The machine comes on, if the hypervisor lets it."""
        if self[vm_id].power is not OFF or self.rivals(vm_id) or self.card_open:
            return self
        on = self.having(vm_id, power=RUNNING, agent=False)
        return replace(on, stage=STALE, pods=None) if vm_id == NODE else on

    def goes_off(self, vm_id: VmId) -> Env:
        """The machine is off; its pods are gone with it."""
        off = self.having(vm_id, power=OFF, agent=False)
        return replace(off, pods=None) if vm_id == NODE else off


def start_of(*players: VmId) -> Env:
    """The node runs, nobody plays."""
    on = Machine(power=RUNNING, agent=True)
    return Env(machines=((NODE, on), *((player, Machine()) for player in players)))


def house_of(env: Env, **options: object) -> House:
    """Who is who among these machines."""
    gaming = [vm_id for vm_id, _ in env.machines if vm_id != NODE]
    return House(
        gaming={vm_id: GamingVm(vm_id=vm_id) for vm_id in gaming},
        nodes={NODE: GpuNode(vm_id=NODE)},
        **options,
    )


@cache
def tower_of(machines: tuple[tuple[VmId, Machine], ...], card_open: bool) -> TowerView:
    """What the tower says of its machines."""
    opened = ("Xorg",) if card_open else ()
    return TowerView(
        vms={i: vm(i, m.power, agent=ANSWERS[m.agent]) for i, m in machines},
        cards={i: card(i, opened_by=opened) for i in sorted(WANTS[NODE])},
    )


@cache
def view_of(
    schedulable: bool, mark: VmId | None, boot: str, stage: int, pods: Fate | None
) -> NodeView:
    """What the cluster says of its node."""
    by_us = mark and Mark(operation=mark, vm_id=mark, boot_id=boot)
    return NodeView(
        name="gpu1",
        ready=stage is not NEW_BOOT,
        schedulable=schedulable,
        boot_id="now",
        mark=by_us or None,
        lease_changed_at=FOR_EVER_AGO if stage is STALE else JUST_NOW,
        gpus=2 if stage in (STALE, USABLE) else 0,
        pods=(pod(pods, why=Reason.of("pod_budget")),) if pods else (),
    )


def node_of(env: Env) -> NodeView:
    """What the cluster says of its node now."""
    return view_of(env.schedulable, env.mark, env.mark_boot, env.stage, env.pods)


def obeyed(env: Env, kind: ActKind, vm_id: VmId, asked_by: VmId) -> Env:
    """The world once an act of ours had its effect."""
    power = env[vm_id].power
    match kind:
        case ActKind.START:
            return env.boots(vm_id)
        case ActKind.RESUME if power is Power.PAUSED:
            return env.having(vm_id, power=RUNNING, agent=True)
        case ActKind.WAKE if power is Power.SLEEPING:
            return env.having(vm_id, power=RUNNING)
        case ActKind.SHUT_DOWN_BY_AGENT | ActKind.SHUT_DOWN_BY_ACPI:
            return env.goes_off(vm_id) if power is RUNNING else env
        case ActKind.CORDON if env.cluster and env.schedulable:
            return replace(env, schedulable=False, mark=asked_by, mark_boot="now")
        case ActKind.UNCORDON if env.cluster and env.mark:
            return replace(env, schedulable=True, mark=None, mark_boot="now")
        case ActKind.EVICT if env.cluster and env.pods is Fate.EVICT:
            return replace(env, pods=None)
    return env


def by_themselves(env: Env) -> Iterator[tuple[str, Env]]:
    """What goes on without anybody, sooner or later; here a well-behaved world differs not."""
    if not env.tower:
        yield "the tower is back", replace(env, tower=True)
    if not env.cluster:
        yield "the cluster is back", replace(env, cluster=True)
    if env.card_open:
        yield "the host closes the card", replace(env, card_open=False)
    for vm_id, machine in env.machines:
        if machine.power is Power.STOPPING:
            yield f"{vm_id} is off", env.goes_off(vm_id)
        if machine.power is RUNNING and not machine.agent:
            yield f"{vm_id}'s agent answers", env.having(vm_id, agent=True)
    if env[NODE].power is RUNNING and env.stage in (NEW_BOOT, NO_CARDS):
        yield "the node comes on", replace(env, stage=env.stage + 1)


def by_people(env: Env, allowed: frozenset[str]) -> Iterator[tuple[str, Env]]:
    """What people and mishaps may do, as far as this walk allows it."""
    changes = {
        "tower": replace(env, tower=False),
        "cluster": replace(env, cluster=False),
        "open": replace(env, card_open=env[NODE].power is OFF),
        "uncordon": replace(env, schedulable=True),
        "cordon": replace(env, schedulable=False),
    }
    yield from ((name, changes[name]) for name in changes if name in allowed)
    if env[NODE].power is RUNNING and env.schedulable and env.stage is USABLE:
        for fate in (Fate.EVICT, Fate.BLOCKED):
            if fate in allowed:
                yield f"pod to {fate}", replace(env, pods=fate)
    for vm_id, machine in env.machines:
        for word, before, after in BY_HAND:
            if word in allowed and machine.power is before:
                yield f"{word} {vm_id}", _by_hand(env, vm_id, after)


def _by_hand(env: Env, vm_id: VmId, after: Power) -> Env:
    if after is OFF:
        return env.goes_off(vm_id)
    if env[vm_id].power is OFF:
        on = env.boots(vm_id)
        return on if on is env else on.having(vm_id, word="on")
    return env.having(vm_id, power=after)


BY_HAND = (
    ("start", OFF, RUNNING),
    ("stop", RUNNING, Power.STOPPING),
    ("think better of it", Power.STOPPING, RUNNING),
    ("cut", RUNNING, OFF),
    ("crash", RUNNING, Power.CRASHED),
    ("destroy", Power.CRASHED, OFF),
    ("pause", RUNNING, Power.PAUSED),
    ("sleep", RUNNING, Power.SLEEPING),
    ("lose sight of", RUNNING, Power.UNKNOWN),
    ("see", Power.UNKNOWN, RUNNING),
)
