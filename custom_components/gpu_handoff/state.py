"""All that entities show, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .handoff.operation import OperationView, Result
from .handoff.phases import Phase
from .handoff.reason import Reason
from .handoff.wish import Want
from .handoff.world import Card, CardId, House, NodeView, Power, TowerView, Vm, VmId


class CardState(StrEnum):
    """Where a card is."""

    LENT = "lent"
    PLAYING = "playing"
    MOVING = "moving"
    FREE = "free"
    HOST = "host"
    NEEDS_REBOOT = "needs_reboot"
    MISSING = "missing"


class NodeState(StrEnum):
    """How a GPU node is."""

    OFF = "off"
    STARTING = "starting"
    STOPPING = "stopping"
    READY = "ready"
    CORDONED = "cordoned"
    DRAINING = "draining"
    NOT_READY = "not_ready"
    UNREACHABLE = "unreachable"
    RUNNING = "running"
    PAUSED = "paused"
    CRASHED = "crashed"


@dataclass(frozen=True, slots=True, kw_only=True)
class HandoffState:
    """The last of everything. `tower` stays as it was seen when `tower_why` says why not."""

    house: House
    titles: Mapping[VmId, str]
    tower: TowerView | None = None
    tower_why: Reason | None = None
    nodes: Mapping[VmId, NodeView] = field(default_factory=dict)
    nodes_why: Mapping[VmId, Reason] = field(default_factory=dict)
    operations: Mapping[VmId, OperationView] = field(default_factory=dict)
    last: Mapping[VmId, Result] = field(default_factory=dict)

    @property
    def tower_seen(self) -> bool:
        """Whether the tower answers now."""
        return self.tower is not None and self.tower_why is None

    def vm(self, vm_id: VmId) -> Vm | None:
        """A machine as it was seen last."""
        return self.tower.vms.get(vm_id) if self.tower else None

    def card(self, card_id: CardId) -> Card | None:
        """A card as it was seen last."""
        return self.tower.cards.get(card_id) if self.tower else None

    def title(self, vm_id: VmId) -> str:
        """What people call a machine."""
        vm = self.vm(vm_id)
        return self.titles.get(vm_id) or (vm.name if vm else vm_id)

    def is_on(self, vm_id: VmId) -> bool | None:
        """The target while an operation runs, the measured truth after it."""
        operation = self.operations.get(vm_id)
        if operation is not None:
            return operation.want is Want.PLAY
        vm = self.vm(vm_id)
        return None if vm is None else vm.power is not Power.OFF

    def players_of(self, card_id: CardId) -> list[str]:
        """Who plays on a card, by name."""
        return [
            self.title(vm_id)
            for vm_id in self.house.gaming
            if (vm := self.vm(vm_id)) and card_id in vm.wants
        ]

    def card_state(self, card_id: CardId) -> CardState | None:
        """Where a card is now."""
        card = self.card(card_id)
        if card is None or self.tower is None:
            return None
        if card.missing:
            return CardState.MISSING
        if card.dead:
            return CardState.NEEDS_REBOOT
        if any((vm := self.vm(i)) and card_id in vm.wants for i in self.operations):
            return CardState.MOVING
        for holder in self.tower.holders(card_id):
            lent = holder.vm_id in self.house.nodes
            return CardState.LENT if lent else CardState.PLAYING
        return CardState.HOST if card.host_driver else CardState.FREE

    def node_state(self, vm_id: VmId) -> NodeState | None:
        """How a GPU node is now, of what can be seen of it."""
        vm = self.vm(vm_id) if self.tower_seen else None
        if vm is not None and vm.power is not Power.RUNNING:
            return _NODE_OF_POWER.get(vm.power)
        if not self.house.nodes[vm_id].in_cluster:
            return None if vm is None else NodeState.RUNNING
        view = self.nodes.get(vm_id)
        if view is not None and view.ready and view.schedulable:
            return NodeState.READY
        for phase in self._phases_about(vm_id):
            if phase in _NODE_OF_PHASE:
                return _NODE_OF_PHASE[phase]
        if view is None:
            return NodeState.UNREACHABLE
        return NodeState.CORDONED if view.ready else NodeState.NOT_READY

    def _phases_about(self, node_id: VmId) -> list[Phase]:
        """The phases of the operations that want what this node lends or borrows."""
        node = self.vm(node_id)
        return [
            operation.phase
            for vm_id, operation in self.operations.items()
            if node and (vm := self.vm(vm_id)) and vm.wants & node.wants
        ]


_NODE_OF_POWER = {
    Power.OFF: NodeState.OFF,
    Power.STOPPING: NodeState.STOPPING,
    Power.PAUSED: NodeState.PAUSED,
    Power.SLEEPING: NodeState.PAUSED,
    Power.CRASHED: NodeState.CRASHED,
}

_NODE_OF_PHASE = {
    Phase.DRAINING: NodeState.DRAINING,
    Phase.STOPPING_NODE: NodeState.STOPPING,
    Phase.STARTING_NODE: NodeState.STARTING,
    Phase.WAITING_FOR_NODE: NodeState.STARTING,
    Phase.WAITING_FOR_GPUS: NodeState.STARTING,
}
