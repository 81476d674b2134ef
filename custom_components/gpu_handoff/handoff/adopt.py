"""A cordon of ours that no wish knows: the journal was lost, the node still tells."""

from collections.abc import Mapping

from .phases import Phase
from .reason import Reason
from .wish import Failure, NodeBefore, Want, Wish
from .world import Mark, NodeView, Power, TowerView, VmId, World


def adopt(wishes: Mapping[VmId, Wish], world: World, now: float) -> list[Wish]:
    """Make a wish of each orphaned mark.

    Where its machine runs it is played on; else everything is put back.
    """
    if world.tower is None:
        return []
    return [
        _wish_of(view.mark, node_id, view, world.tower, now)
        for node_id, view in world.nodes.items()
        if view.mark is not None and not _known(node_id, view.mark, wishes, world.tower)
    ]


def _known(
    node_id: VmId, mark: Mark, wishes: Mapping[VmId, Wish], tower: TowerView
) -> bool:
    """Whether some wish will bring this node back, sooner or later.

    While somebody plays on a card that the node needs there is nothing to put back yet.
    """
    node = tower.vms.get(node_id)
    needs = node.wants if node and node.power is Power.OFF else frozenset()
    if any(vm.holds & needs and vm_id != mark.vm_id for vm_id, vm in tower.vms.items()):
        return True
    for vm_id, wish in wishes.items():
        vm = tower.vms.get(vm_id)
        shares_cards = node and vm and node.wants & vm.wants
        if vm_id == mark.vm_id or node_id in wish.before or shares_cards:
            return True
    return False


def _wish_of(
    mark: Mark, node_id: VmId, view: NodeView, tower: TowerView, now: float
) -> Wish:
    vm, node = tower.vms.get(mark.vm_id), tower.vms.get(node_id)
    plays = vm is not None and vm.power is not Power.OFF
    off = node is not None and node.power is Power.OFF
    restarted = bool(mark.boot_id) and view.boot_id != mark.boot_id
    before = NodeBefore(running=True, boot_id=mark.boot_id, stopped=off or restarted)
    lost = Failure(phase=Phase.CHECKING, reason=Reason.of("journal_lost"))
    return Wish(
        vm_id=mark.vm_id,
        want=Want.PLAY if plays else Want.RESTORE,
        operation=mark.operation,
        phase=Phase.IDLE if plays else Phase.ROLLING_BACK,
        phase_since=now,
        before={node_id: before},
        failure=None if plays else lost,
        settled=plays,
    )
