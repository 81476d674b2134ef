"""Asking a guest to shut down: through its agent, then by the power button, never by force."""

from .answers import Act, Answer
from .look import Look
from .phases import Phase
from .reason import Reason
from .world import ActKind, Agent, Sent, Vm


def shut_down(look: Look, vm: Vm, phase: Phase) -> Answer:
    """Take a running machine down; `phase` is STOPPING_NODE or STOPPING_VM.

    A stop sent before the agent is up can be lost or can kill a boot, so the agent is
    waited for first, for as long as WAITING_FOR_AGENT allows.
    """
    last = _last_order(look, vm)
    if last is None and vm.agent is Agent.SILENT and look.wish.phase is not phase:
        if not look.late(Phase.WAITING_FOR_AGENT):
            return look.wait(
                Phase.WAITING_FOR_AGENT, Reason.of("waiting_for_agent", vm=vm.name)
            )
    if last is not None and last.returned_at is None:
        return look.wait(phase)
    if last is not None and look.now < last.at + look.house.agent_resend_s:
        return look.wait(phase, last.failure, last.at + look.house.agent_resend_s)
    return Act(kind=_way(look, vm, phase), vm_id=vm.vm_id, phase=phase)


def _way(look: Look, vm: Vm, phase: Phase) -> ActKind:
    agent_has_time = look.elapsed_s(phase) < look.house.acpi_after_s
    if vm.agent is Agent.CONNECTED and agent_has_time:
        return ActKind.SHUT_DOWN_BY_AGENT
    return ActKind.SHUT_DOWN_BY_ACPI


def _last_order(look: Look, vm: Vm) -> Sent | None:
    orders = (
        look.sent(ActKind.SHUT_DOWN_BY_AGENT, vm.vm_id),
        look.sent(ActKind.SHUT_DOWN_BY_ACPI, vm.vm_id),
    )
    return max((o for o in orders if o), key=lambda order: order.at, default=None)
