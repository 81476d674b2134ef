"""From a machine that is played on to cards that the cluster can use again."""

from .answers import Answer, Done, NeedsPerson
from .look import Look
from .phases import Phase
from .reason import Reason
from .return_node import kept_off_by, return_node
from .shut_down import shut_down
from .world import Power, Vm


def give_back(look: Look) -> Answer:
    """The machine is shut down, then its cards go home."""
    return _stop(look) or go_home(look)


def restore(look: Look) -> Answer:
    """Put back what a handover touched; a machine that runs after all is left alone."""
    vm = look.vm
    if vm is not None and vm.power is not Power.OFF:
        return Done(note=Reason.of("vm_runs_after_all", vm=vm.name))
    return go_home(look)


def reached(look: Look) -> Answer:
    """A player has the machine: nothing to do until it is off; then the cards go home."""
    vm = look.vm
    if vm is not None and vm.power is not Power.OFF:
        return Done()
    if not look.house.give_back_by_itself:
        return Done()
    if look.late(Phase.GRACE):
        return go_home(look)
    name = look.name(look.wish.vm_id)
    return look.wait(Phase.GRACE, Reason.of("give_back_soon", vm=name))


def go_home(look: Look) -> Answer:
    """Bring back every GPU node that these cards belong to."""
    note = None
    for node in _homes(look):
        if answer := return_node(look, node):
            return answer
        if node.power is Power.OFF and (player := kept_off_by(look, node)):
            note = Reason.of("node_stays_off", node=node.name, player=player.name)
    return Done(note=note)


def _homes(look: Look) -> list[Vm]:
    vm = look.vm
    cards = vm.wants if vm else frozenset()
    nodes = (look.tower.vms.get(node_id) for node_id in sorted(look.house.nodes))
    return [
        node
        for node in nodes
        if node and (node.wants & cards or node.vm_id in look.wish.before)
    ]


def _stop(look: Look) -> Answer | None:
    vm = look.vm
    if vm is None or vm.power is Power.OFF:
        return None
    if vm.power is Power.CRASHED:
        reason = Reason.of("vm_crashed", vm=vm.name)
        return NeedsPerson(reason=reason, phase=Phase.STOPPING_VM)
    return look.wake_up(vm, Phase.STOPPING_VM) or shut_down(look, vm, Phase.STOPPING_VM)
