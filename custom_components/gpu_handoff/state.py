"""All that entities show, at one moment."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from .handoff.operation import OperationView, Result
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
    NOT_READY = "not_ready"
    RUNNING = "running"
    CRASHED = "crashed"
    UNKNOWN = "unknown"


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
        """How a GPU node is now."""
        vm = self.vm(vm_id)
        if vm is None:
            return None
        if vm.power is not Power.RUNNING:
            return _NODE_OF_POWER.get(vm.power, NodeState.UNKNOWN)
        view = self.nodes.get(vm_id)
        if view is None:
            in_cluster = self.house.nodes[vm_id].in_cluster
            return NodeState.UNKNOWN if in_cluster else NodeState.RUNNING
        if not view.schedulable:
            return NodeState.CORDONED
        return NodeState.READY if view.ready else NodeState.NOT_READY


_NODE_OF_POWER = {
    Power.OFF: NodeState.OFF,
    Power.STOPPING: NodeState.STOPPING,
    Power.CRASHED: NodeState.CRASHED,
}
