"""Getting a GPU node off its cards: cordon, drain, agent, clean shutdown."""

from .answers import Act, Answer, RollBack, Wait
from .look import Look
from .phases import Phase
from .reason import Reason
from .shut_down import shut_down
from .world import ActKind, DrainPolicy, Fate, NodeView, Pod, Power, Vm

PAST_THE_DRAIN = frozenset({Phase.WAITING_FOR_AGENT, Phase.STOPPING_NODE})


def clear_node(look: Look, node: Vm) -> Answer:
    """Answer what is next until the node, which has the cards now, is off."""
    if node.power is Power.CRASHED:
        return look.give_up(Reason.of("node_crashed", node=node.name))
    if look.late(Phase.STOPPING_NODE):
        reason = Reason.of("node_did_not_stop", node=node.name)
        return RollBack(reason=reason, phase=Phase.STOPPING_NODE)
    if answer := _wake(look, node):
        return answer
    if look.wish.phase not in PAST_THE_DRAIN:
        if answer := _clear_of_pods(look, node):
            return answer
    return shut_down(look, node, Phase.STOPPING_NODE)


def _wake(look: Look, node: Vm) -> Answer | None:
    """A node that is paused or asleep must run before it can be drained or shut down."""
    going = node.power is Power.STOPPING or look.wish.phase in PAST_THE_DRAIN
    phase = Phase.STOPPING_NODE if going else Phase.CORDONING
    waking = look.wake_up(node, phase)
    if waking and look.late(phase):
        return look.give_up(Reason.of("node_not_awake", node=node.name))
    return waking


def _clear_of_pods(look: Look, node: Vm) -> Answer | None:
    if not look.house.nodes[node.vm_id].in_cluster:
        return None
    view = look.world.nodes.get(node.vm_id)
    if view is None:
        return _cluster_silent(look, node)
    return _blocked(look, view) or _cordon(look, node, view) or _drain(look, node, view)


def _cluster_silent(look: Look, node: Vm) -> Answer:
    why = look.world.nodes_why.get(node.vm_id) or Reason.of("cluster_silent")
    phase = look.wish.phase
    if phase not in (Phase.CHECKING, Phase.CORDONING, Phase.DRAINING):
        phase = Phase.CHECKING
    if look.late(phase):
        return look.give_up(why)
    return look.wait(phase, why)


def _blocked(look: Look, view: NodeView) -> Answer | None:
    """A pod that must not be evicted, or that waiting cannot move, ends it at once."""
    for pod in view.pods:
        if pod.fate is Fate.BLOCKED or (pod.fate is Fate.EVICT and pod.final):
            return look.give_up(pod.why or _pod_blocks(pod))
    return None


def _cordon(look: Look, node: Vm, view: NodeView) -> Answer | None:
    if not view.schedulable:
        return None
    if look.late(Phase.CORDONING):
        sent = look.sent(ActKind.CORDON, node.vm_id)
        cause = sent.failure if sent else None
        return look.give_up(cause or Reason.of("cordon_failed", node=view.name))
    return look.order(ActKind.CORDON, node.vm_id, Phase.CORDONING, again_after_s=2.0)


def _drain(look: Look, node: Vm, view: NodeView) -> Answer | None:
    left = [pod for pod in view.pods if pod.fate in (Fate.EVICT, Fate.LEAVING)]
    if not left:
        return _volumes(look, node, view)
    if look.late(Phase.DRAINING):
        return _drain_is_late(look, view, left)
    if look.in_flight(ActKind.EVICT, node.vm_id):
        return look.wait(Phase.DRAINING, blockers(left))
    due = [pod for pod in left if pod.fate is Fate.EVICT]
    if any(pod.retry_at <= look.now for pod in due):
        return Act(kind=ActKind.EVICT, vm_id=node.vm_id, phase=Phase.DRAINING)
    again_at = min((pod.retry_at for pod in due), default=None)
    return look.wait(Phase.DRAINING, blockers(left), again_at)


def _drain_is_late(look: Look, view: NodeView, left: list[Pod]) -> Answer | None:
    if look.house.drain_policy is DrainPolicy.GO_ON:
        return None
    pods = ", ".join(pod.full_name for pod in left)
    reason = Reason.of("drain_timeout", node=view.name, pods=pods)
    because = blockers(left)
    return RollBack(reason=because or reason, phase=Phase.DRAINING)


def _volumes(look: Look, node: Vm, view: NodeView) -> Wait | None:
    """Give the volumes of drained pods a bounded time to be detached."""
    evicted = look.sent(ActKind.EVICT, node.vm_id)
    if not view.volumes or evicted is None:
        return None
    until = evicted.at + look.house.volumes_wait_s
    if look.now >= until:
        return None
    volumes = ", ".join(view.volumes)
    return look.wait(
        Phase.DRAINING, Reason.of("volumes_attached", volumes=volumes), until
    )


def _pod_blocks(pod: Pod) -> Reason:
    return Reason.of("pod_blocks", pod=pod.full_name)


def blockers(pods: list[Pod]) -> Reason | None:
    """Why the first pod that has a reason is still there."""
    return next((pod.why for pod in pods if pod.why), None)
