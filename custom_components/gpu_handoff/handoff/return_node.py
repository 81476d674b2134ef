"""Bringing a GPU node back: on, really usable, and our own cordon undone."""

from .answers import Answer, NeedsPerson
from .look import Look
from .phases import Phase
from .reason import Reason
from .wish import NodeBefore, Want
from .world import ActKind, Agent, NodeView, Power, Vm

START_AGAIN_AFTER_S = 30.0
UNCORDON_AGAIN_AFTER_S = 5.0


def return_node(look: Look, node: Vm) -> Answer | None:
    """Answer what is next until the node is back; None once it is, or must stay off."""
    if node.power is Power.CRASHED:
        reason = Reason.of("node_crashed", node=node.name)
        return NeedsPerson(reason=reason, phase=look.wish.phase)
    if node.power is Power.OFF:
        return _start(look, node)
    if node.power is Power.RUNNING and look.going_down(node.vm_id):
        return look.wait(
            Phase.STOPPING_NODE, Reason.of("vm_still_stopping", vm=node.name)
        )
    if waking := look.wake_up(node, Phase.STARTING_NODE):
        return waking
    if not look.house.nodes[node.vm_id].in_cluster:
        return _agent_answers(look, node)
    return _back_in_cluster(look, node)


def kept_off_by(look: Look, node: Vm) -> Vm | None:
    """The player who has, or is about to get, a card that the node cannot run without."""
    for vm in look.tower.vms.values():
        if vm.vm_id == node.vm_id:
            continue
        if vm.holds & node.wants:
            return vm
        about_to = vm.vm_id != look.wish.vm_id and look.wants_to_play(vm)
        if about_to and vm.wants & node.wants:
            return vm
    return None


def _start(look: Look, node: Vm) -> Answer | None:
    before = look.wish.before.get(node.vm_id)
    was_off = before is not None and not before.running
    if look.wish.want is Want.RESTORE and was_off:
        return None
    if kept_off_by(look, node):
        return None
    if rival := look.rival_start(node):
        return look.wait(
            Phase.STARTING_NODE, Reason.of("rival_starting", vm=rival.name)
        )
    if trouble := _card_trouble(look, node):
        return trouble
    return look.order(
        ActKind.START,
        node.vm_id,
        Phase.STARTING_NODE,
        again_after_s=START_AGAIN_AFTER_S,
    )


def _card_trouble(look: Look, node: Vm) -> Answer | None:
    """A start with a dead card, or with one that the host has open, can hang the host."""
    for card_id in sorted(node.wants):
        card = look.tower.cards.get(card_id)
        if card is not None and card.dead:
            return NeedsPerson(reason=card.dead, phase=Phase.STARTING_NODE)
        if card is not None and card.opened_by:
            who = ", ".join(card.opened_by)
            return look.wait(
                Phase.STARTING_NODE, Reason.of("card_open", card=card.model, who=who)
            )
    return None


def _agent_answers(look: Look, node: Vm) -> Answer | None:
    if node.agent is Agent.SILENT and _was_stopped(look, node):
        return look.wait(
            Phase.WAITING_FOR_NODE, Reason.of("waiting_for_agent", vm=node.name)
        )
    return None


def _back_in_cluster(look: Look, node: Vm) -> Answer | None:
    view = look.world.nodes.get(node.vm_id)
    if view is None:
        why = look.world.nodes_why.get(node.vm_id) or Reason.of("cluster_silent")
        return look.wait(Phase.WAITING_FOR_NODE, why)
    if _was_stopped(look, node):
        if stale := _not_usable(look, node, view):
            return look.wait(Phase.WAITING_FOR_NODE, stale)
        if view.gpus is None or view.gpus < len(node.wants):
            return look.wait(Phase.WAITING_FOR_GPUS, _too_few_cards(node, view))
    if view.mark is None:
        return None
    undoing = look.wish.want is Want.RESTORE
    phase = Phase.ROLLING_BACK if undoing else Phase.UNCORDONING
    return look.order(
        ActKind.UNCORDON, node.vm_id, phase, again_after_s=UNCORDON_AGAIN_AFTER_S
    )


def _was_stopped(look: Look, node: Vm) -> bool:
    return look.wish.before.get(node.vm_id, NodeBefore(running=False)).stopped


def _not_usable(look: Look, node: Vm, view: NodeView) -> Reason | None:
    """Ready alone proves nothing: it outlives a quick restart by most of a minute."""
    before = look.wish.before[node.vm_id]
    started = look.sent(ActKind.START, node.vm_id)
    lease_since = started.at if started else float("-inf")
    if view.boot_id == before.boot_id:
        return Reason.of("node_not_restarted", node=view.name)
    if view.lease_changed_at is None or view.lease_changed_at <= lease_since:
        return Reason.of("node_lease_stale", node=view.name)
    if not view.ready:
        return Reason.of("node_not_ready", node=view.name)
    return None


def _too_few_cards(node: Vm, view: NodeView) -> Reason:
    return view.gpus_why or Reason.of(
        "gpus_missing", node=view.name, got=view.gpus or 0, expected=len(node.wants)
    )
