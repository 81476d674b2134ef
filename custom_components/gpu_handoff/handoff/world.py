"""What is measured: the machines and cards of a tower, and its nodes in the cluster."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .reason import Reason

type VmId = str
"""A machine's own stable id (the UUID that its hypervisor knows it by), lower case."""

type CardId = str
"""Our own id of a card; it outlives a renumbered bus."""


class Power(StrEnum):
    """The state of a machine. Only `OFF` frees its cards."""

    OFF = "off"
    RUNNING = "running"
    PAUSED = "paused"
    SLEEPING = "sleeping"
    STOPPING = "stopping"
    CRASHED = "crashed"
    UNKNOWN = "unknown"


class Agent(StrEnum):
    """The guest agent's channel, as the hypervisor sees it."""

    CONNECTED = "connected"
    SILENT = "silent"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class Vm:
    """One machine of the tower.

    `wants`: the cards in its definition. `holds`: the cards that its running instance has;
    empty when it is off. `because`: the hypervisor's word for how the state came about.
    """

    vm_id: VmId
    name: str
    power: Power
    agent: Agent = Agent.NONE
    because: str = ""
    wants: frozenset[CardId] = frozenset()
    holds: frozenset[CardId] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One card, with all functions of its slot.

    `host_driver`: the host's own driver that has it, None if set aside for machines or
    unbound. `opened_by`: what on the host has it open now. `dead`: why it is lost until the
    host is restarted. `missing`: it was known and is not on the bus any more.
    """

    card_id: CardId
    model: str
    address: str
    host_driver: str | None = None
    opened_by: tuple[str, ...] = ()
    dead: Reason | None = None
    missing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerView:
    """A tower at one moment. `boot_id` changes when the host was restarted."""

    vms: Mapping[VmId, Vm]
    cards: Mapping[CardId, Card]
    boot_id: str = ""

    def holders(self, card_id: CardId) -> tuple[Vm, ...]:
        """The machines that have the card now (more than one is not possible for long)."""
        return tuple(vm for vm in self.vms.values() if card_id in vm.holds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Our cordon, as it stands on the node itself: who set it, and what was before."""

    operation: str
    vm_id: VmId
    boot_id: str


class Fate(StrEnum):
    """What a drain does to a pod."""

    EVICT = "evict"
    IGNORE = "ignore"
    LEAVING = "leaving"
    BLOCKED = "blocked"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pod:
    """A pod on the node, judged as `kubectl drain` judges it.

    `why`: for BLOCKED why no eviction may be sent at all; for EVICT what the server answered
    last (a budget, say); for LEAVING what holds it. `final`: no waiting helps. `retry_at`:
    monotonic second before which no further eviction is sent.
    """

    namespace: str
    name: str
    uid: str
    fate: Fate
    why: Reason | None = None
    final: bool = False
    retry_at: float = 0.0

    @property
    def full_name(self) -> str:
        """Namespace and name as kubectl prints them."""
        return f"{self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeView:
    """A GPU node as the cluster sees it.

    `mark`: our own cordon, if it stands. `lease_changed_at`: the monotonic second at which
    its lease was last *seen to change* (None: not yet). `gpus`: cards that pods can get;
    `gpus_why`: why there are fewer than expected, once known. `volumes`: volumes of drained
    pods that are still attached.
    """

    name: str
    ready: bool
    schedulable: bool
    boot_id: str
    mark: Mark | None = None
    lease_changed_at: float | None = None
    gpus: int | None = None
    gpus_why: Reason | None = None
    pods: tuple[Pod, ...] = ()
    volumes: tuple[str, ...] = ()


class ActKind(StrEnum):
    """Everything that is ever done to the world. Killing a machine is not among it."""

    CORDON = "cordon"
    EVICT = "evict"
    UNCORDON = "uncordon"
    SHUT_DOWN_BY_AGENT = "shut_down_by_agent"
    SHUT_DOWN_BY_ACPI = "shut_down_by_acpi"
    START = "start"
    RESUME = "resume"
    WAKE = "wake"


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """The last time an act was sent: when (monotonic), and what came of it.

    `returned_at` is None while it runs. `failure` is its error, if it said one: a hint for a
    person, never proof of the outcome.
    """

    at: float
    returned_at: float | None = None
    failure: Reason | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GamingVm:
    """A machine that people play on. It needs the cards in its definition."""

    vm_id: VmId


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuNode:
    """A machine that borrows cards. `in_cluster`: a cluster is configured for it."""

    vm_id: VmId
    in_cluster: bool = True


class DrainPolicy(StrEnum):
    """What happens when the drain's deadline passes."""

    RESTORE = "restore"
    GO_ON = "go_on"


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """Who is who on this tower, and how long each phase may take."""

    gaming: Mapping[VmId, GamingVm]
    nodes: Mapping[VmId, GpuNode]
    deadlines_s: Mapping[str, float] = field(default_factory=dict)
    drain_policy: DrainPolicy = DrainPolicy.RESTORE
    give_back_by_itself: bool = True
    agent_resend_s: float = 30.0
    acpi_after_s: float = 60.0
    volumes_wait_s: float = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """All that is known at one moment.

    `tower` is None while the tower cannot be asked, and `tower_why` says why. A node of the
    house that is in a cluster and has no entry in `nodes` cannot be seen now: `nodes_why`.
    `sent` is what was done so far, by act and machine.
    """

    house: House
    tower: TowerView | None = None
    tower_why: Reason | None = None
    nodes: Mapping[VmId, NodeView] = field(default_factory=dict)
    nodes_why: Mapping[VmId, Reason] = field(default_factory=dict)
    sent: Mapping[tuple[ActKind, VmId], Sent] = field(default_factory=dict)
