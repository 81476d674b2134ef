"""From "she wants to play" to a running machine with its cards: one step after another."""

from itertools import takewhile

from .answers import Act, Answer, Done, NeedsPerson, RollBack
from .clear_node import clear_node
from .look import Look
from .phases import Phase
from .reason import Reason
from .wish import Want
from .world import ActKind, Agent, Power, Vm


def hand_over(look: Look) -> Answer:
    """Answer the first step that is not done yet."""
    vm = look.vm
    if vm is None:
        return look.give_up(Reason.of("vm_gone", vm=look.wish.vm_id))
    return (
        _already_on(look, vm)
        or _cards_usable(look, vm)
        or _cards_not_played_on(look, vm)
        or _cards_not_lent(look, vm)
        or _start(look, vm)
    )


def _already_on(look: Look, vm: Vm) -> Answer | None:
    match vm.power:
        case Power.OFF:
            return _ran_before(look, vm)
        case Power.CRASHED:
            return _crashed(look, vm)
        case Power.RUNNING if look.going_down(vm.vm_id):
            return look.wait(
                Phase.STOPPING_VM, Reason.of("vm_still_stopping", vm=vm.name)
            )
        case Power.RUNNING:
            return _ready(look, vm)
        case Power.STOPPING:
            return look.wake_up(vm, Phase.STOPPING_VM)
        case Power.UNKNOWN if look.late(look.wish.phase):
            return look.give_up(Reason.of("vm_state_unknown", vm=vm.name))
        case Power.UNKNOWN:
            return look.wake_up(vm, look.wish.phase)
        case _:
            return look.wake_up(vm, Phase.STARTING_VM)


def _ran_before(look: Look, vm: Vm) -> Answer | None:
    if look.wish.phase is not Phase.WAITING_UNTIL_READY:
        return None
    reason = Reason.of("vm_stopped_while_starting", vm=vm.name)
    return RollBack(reason=reason, phase=Phase.WAITING_UNTIL_READY)


def _crashed(look: Look, vm: Vm) -> Answer:
    reason = Reason.of("vm_crashed", vm=vm.name)
    if look.wish.untouched:
        return look.give_up(reason)
    return NeedsPerson(reason=reason, phase=look.wish.phase)


def _ready(look: Look, vm: Vm) -> Answer:
    if vm.agent in (Agent.CONNECTED, Agent.NONE):
        return Done()
    if look.late(Phase.WAITING_UNTIL_READY):
        return Done(note=Reason.of("ready_unconfirmed", vm=vm.name))
    return look.wait(
        Phase.WAITING_UNTIL_READY, Reason.of("waiting_for_agent", vm=vm.name)
    )


def _cards_usable(look: Look, vm: Vm) -> Answer | None:
    for card_id in sorted(vm.wants):
        card = look.tower.cards.get(card_id)
        if card is None or card.missing:
            model = card.model if card else card_id
            return look.give_up(Reason.of("card_missing", card=model, vm=vm.name))
        if card.dead:
            return look.give_up(card.dead)
        if card.opened_by:
            who = ", ".join(card.opened_by)
            return look.give_up(Reason.of("card_open", card=card.model, who=who))
    return None


def _cards_not_played_on(look: Look, vm: Vm) -> Answer | None:
    for card_id in sorted(vm.wants):
        for holder in look.tower.holders(card_id):
            if holder.vm_id not in look.house.nodes and holder != vm:
                return _rival(look, holder)
    for earlier in takewhile(lambda w: w.vm_id != vm.vm_id, look.wishes.values()):
        rival = look.tower.vms.get(earlier.vm_id)
        if rival and look.wants_to_play(rival) and rival.wants & vm.wants:
            return look.give_up(Reason.of("card_promised", player=rival.name))
    return None


def _rival(look: Look, holder: Vm) -> Answer:
    """A card in use by a player is never taken; one that is on its way back is waited for."""
    if holder.power is Power.CRASHED:
        return look.give_up(Reason.of("holder_crashed", player=holder.name))
    wish = look.wishes.get(holder.vm_id)
    leaving = wish is not None and wish.want is Want.LEND
    if not leaving or look.late(Phase.QUEUED):
        return look.give_up(Reason.of("card_in_use", player=holder.name))
    return look.wait(Phase.QUEUED, Reason.of("player_leaving", player=holder.name))


def _cards_not_lent(look: Look, vm: Vm) -> Answer | None:
    for node_id in sorted(look.house.nodes):
        node = look.tower.vms.get(node_id)
        if node and node.holds & vm.wants:
            return clear_node(look, node)
    if rival := look.rival_start(vm):
        return look.wait(Phase.QUEUED, Reason.of("rival_starting", vm=rival.name))
    return None


def _start(look: Look, vm: Vm) -> Answer:
    sent = look.sent(ActKind.START, vm.vm_id)
    starting = look.wish.phase is Phase.STARTING_VM
    if sent is None or not starting or sent.at < look.wish.phase_since:
        return Act(kind=ActKind.START, vm_id=vm.vm_id, phase=Phase.STARTING_VM)
    if sent.returned_at is not None:
        failed = sent.failure or Reason.of("start_did_nothing", vm=vm.name)
        return RollBack(reason=failed, phase=Phase.STARTING_VM)
    if look.late(Phase.STARTING_VM):
        late = Reason.of("start_timeout", vm=vm.name)
        return RollBack(reason=late, phase=Phase.STARTING_VM)
    return look.wait(Phase.STARTING_VM)
