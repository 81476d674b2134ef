"""What must outlive a restart: the wishes, written before each act."""

from collections.abc import Mapping
from typing import Any, Protocol

from .phases import Phase
from .reason import Reason
from .wish import Failure, NodeBefore, Want, Wish
from .world import VmId


class Journal(Protocol):
    """A place that keeps one JSON object."""

    async def load(self) -> dict[str, Any] | None:
        """Return what was saved last, None if nothing was."""

    async def save(self, data: dict[str, Any]) -> None:
        """Keep it safely; raises OSError if it could not be written."""


def to_json(wishes: Mapping[VmId, Wish], now: float) -> dict[str, Any]:
    """Turn wishes into JSON; times become seconds spent, since no clock outlives a restart."""
    return {"wishes": [_wish_to_json(wish, now) for wish in wishes.values()]}


def from_json(data: Mapping[str, Any] | None, now: float) -> dict[VmId, Wish]:
    """Read wishes back; an entry that cannot be read is left out.

    The time between the writing and `now` does not count as a phase's time.
    """
    wishes: dict[VmId, Wish] = {}
    for item in (data or {}).get("wishes", []):
        try:
            wish = _wish_from_json(item, now)
        except KeyError, TypeError, ValueError, AttributeError:
            continue
        wishes[wish.vm_id] = wish
    return wishes


def _wish_to_json(wish: Wish, now: float) -> dict[str, Any]:
    failure = wish.failure
    return {
        "vm_id": wish.vm_id,
        "want": wish.want,
        "operation": wish.operation,
        "asked_by": wish.asked_by,
        "asked_at": wish.asked_at,
        "phase": wish.phase,
        "phase_s": max(0.0, now - wish.phase_since),
        "spent_s": dict(wish.spent_s),
        "settled": wish.settled,
        "before": {
            vm_id: {
                "running": node.running,
                "boot_id": node.boot_id,
                "stopped": node.stopped,
            }
            for vm_id, node in wish.before.items()
        },
        "failure": failure
        and {
            "phase": failure.phase,
            "key": failure.reason.key,
            "placeholders": dict(failure.reason.placeholders),
            "cancelled": failure.cancelled,
        },
    }


def _wish_from_json(item: Mapping[str, Any], now: float) -> Wish:
    failure = item["failure"]
    return Wish(
        vm_id=item["vm_id"],
        want=Want(item["want"]),
        operation=item["operation"],
        asked_by=item["asked_by"],
        asked_at=item["asked_at"],
        phase=Phase(item["phase"]),
        phase_since=now - float(item["phase_s"]),
        spent_s={Phase(name): float(s) for name, s in item["spent_s"].items()},
        settled=bool(item["settled"]),
        before={vm_id: NodeBefore(**node) for vm_id, node in item["before"].items()},
        failure=failure
        and Failure(
            phase=Phase(failure["phase"]),
            reason=Reason(failure["key"], dict(failure["placeholders"])),
            cancelled=bool(failure["cancelled"]),
        ),
    )
