"""Small worlds to decide in: a tower with a node and players, at second 0."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from custom_components.gpu_handoff.handoff.answers import Answer
from custom_components.gpu_handoff.handoff.decide import decide
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Failure, NodeBefore, Want, Wish
from custom_components.gpu_handoff.handoff.world import (
    Agent,
    Card,
    Fate,
    GamingVm,
    GpuNode,
    House,
    Mark,
    NodeView,
    Pod,
    Power,
    Sent,
    TowerView,
    Vm,
    World,
)

NODE, ALICE, BOB, CAROL = "node", "alice", "bob", "carol"
CARD_1, CARD_2 = "card-1", "card-2"
WANTS = {
    NODE: frozenset({CARD_1, CARD_2}),
    ALICE: frozenset({CARD_1}),
    BOB: frozenset({CARD_2}),
    CAROL: frozenset({CARD_2}),
}
HOUSE = House(
    gaming={vm: GamingVm(vm_id=vm) for vm in (ALICE, BOB, CAROL)},
    nodes={NODE: GpuNode(vm_id=NODE)},
)
LONG_AGO = -100_000.0
OFF, RUNNING = Power.OFF, Power.RUNNING


def vm(vm_id: str, power: Power = OFF, **more: Any) -> Vm:
    """A machine with its usual cards; on, it has them and its agent answers."""
    wants = more.pop("wants", WANTS[vm_id])
    holds = frozenset() if power is OFF else wants
    agent = Agent.SILENT if power is OFF else Agent.CONNECTED
    facts = {"agent": agent, "holds": holds, **more}
    return Vm(vm_id=vm_id, name=vm_id.title(), power=power, wants=wants, **facts)


def card(card_id: str, **more: Any) -> Card:
    """A card that is set aside for machines."""
    return Card(card_id=card_id, model=f"Model {card_id}", address="0", **more)


def tower(*changed: Vm, cards: Mapping[str, Card] | None = None) -> TowerView:
    """The node runs and the players are off, but for what is given."""
    vms = {NODE: vm(NODE, RUNNING), ALICE: vm(ALICE), BOB: vm(BOB), CAROL: vm(CAROL)}
    vms |= {changed_vm.vm_id: changed_vm for changed_vm in changed}
    usual = {c: card(c) for c in (CARD_1, CARD_2)}
    return TowerView(vms=vms, cards={**usual, **(cards or {})})


def node_view(**more: Any) -> NodeView:
    """A usable node without pods."""
    facts = {
        "name": "gpu1",
        "ready": True,
        "schedulable": True,
        "boot_id": "boot-1",
        "lease_changed_at": -1.0,
        "gpus": 2,
    }
    return NodeView(**{**facts, **more})


MARK = Mark(operation="op", vm_id=ALICE, boot_id="boot-1")
CORDONED = {"schedulable": False, "mark": MARK}


def pod(fate: Fate = Fate.EVICT, **more: Any) -> Pod:
    """A pod of the default namespace."""
    return Pod(namespace="default", name="web", uid="u", fate=fate, **more)


def world(
    *changed: Vm,
    view: NodeView | bool | None = True,
    cards: Mapping[str, Card] | None = None,
    sent: Mapping[Any, Sent] | None = None,
    house: House = HOUSE,
    **more: Any,
) -> World:
    """The usual world, but for what is given. `view=None`: the cluster is silent."""
    nodes = {NODE: node_view() if view is True else view} if view else {}
    return World(
        house=house,
        tower=more.pop("tower", tower(*changed, cards=cards)),
        nodes=nodes,
        sent=sent or {},
        **more,
    )


def wish(want: Want = Want.PLAY, phase: Phase = Phase.CHECKING, **more: Any) -> Wish:
    """Alice's wish, in a phase that has just begun."""
    facts = {"vm_id": ALICE, "operation": "op", "phase_since": 0.0, **more}
    return Wish(want=want, phase=phase, **facts)


def touched(*, stopped: bool = False, running: bool = True) -> dict[str, NodeBefore]:
    """What an operation that touched the node remembers of it."""
    return {NODE: NodeBefore(running=running, boot_id="boot-1", stopped=stopped)}


def failed(phase: Phase = Phase.DRAINING) -> Failure:
    """Why a handover is being undone."""
    return Failure(phase=phase, reason=Reason.of("drain_timeout"))


def late(some_wish: Wish) -> Wish:
    """The same wish, long past its phase's deadline."""
    return replace(some_wish, phase_since=LONG_AGO)


def answer(
    some_wish: Wish, some_world: World, *others: Wish, now: float = 0.0
) -> Answer:
    """What `decide` answers for a wish, among others that came before it."""
    wishes = {other.vm_id: other for other in others}
    wishes[some_wish.vm_id] = some_wish
    return decide(wishes, some_world, now)[some_wish.vm_id]
