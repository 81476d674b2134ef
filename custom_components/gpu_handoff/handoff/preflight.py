"""What a handover would do, without doing it."""

from collections.abc import Mapping
from dataclasses import dataclass

from .answers import Refuse, Wait
from .decide import decide
from .phases import Phase
from .reason import Reason
from .wish import Want, Wish
from .world import Fate, Power, VmId, World


@dataclass(frozen=True, slots=True, kw_only=True)
class Preflight:
    """The answer to "what if she played now?".

    `refusal` is None where it can go ahead. `evicts` and `blockers` are pods as
    namespace/name; `stops` are the GPU nodes that would be shut down, by name.
    """

    refusal: Reason | None
    stops: tuple[str, ...] = ()
    evicts: tuple[str, ...] = ()
    blockers: tuple[str, ...] = ()


def preflight(
    vm_id: VmId, wishes: Mapping[VmId, Wish], world: World, now: float
) -> Preflight:
    """Judge a handover to this machine in the measured world."""
    if vm_id not in world.house.gaming:
        return Preflight(refusal=Reason.of("not_a_gaming_vm", vm=vm_id))
    others = {other: wish for other, wish in wishes.items() if other != vm_id}
    wish = Wish(vm_id=vm_id, want=Want.PLAY, operation="preflight", phase_since=now)
    answer = decide({**others, vm_id: wish}, world, now)[vm_id]
    refusal: Reason | None = None
    if isinstance(answer, Refuse):
        refusal = answer.reason
    elif isinstance(answer, Wait) and answer.phase is Phase.CHECKING:
        refusal = answer.because
    return _with_consequences(vm_id, world, refusal)


def _with_consequences(vm_id: VmId, world: World, refusal: Reason | None) -> Preflight:
    tower = world.tower
    vm = tower.vms.get(vm_id) if tower else None
    if tower is None or vm is None or vm.power is not Power.OFF:
        return Preflight(refusal=refusal)
    stops = [
        node
        for node_id in world.house.nodes
        if (node := tower.vms.get(node_id)) and node.holds & vm.wants
    ]
    views = (world.nodes.get(node.vm_id) for node in stops)
    pods = [pod for view in views if view for pod in view.pods]
    return Preflight(
        refusal=refusal,
        stops=tuple(node.name for node in stops),
        evicts=tuple(p.full_name for p in pods if p.fate is Fate.EVICT),
        blockers=tuple(p.full_name for p in pods if p.fate is Fate.BLOCKED or p.final),
    )
