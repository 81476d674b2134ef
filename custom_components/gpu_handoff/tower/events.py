"""Lines of `virsh event --all --loop --timestamp`, read against the names that exist."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
import re

_HEAD = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+\+0000: event '([a-z0-9-]+)' for domain "
)
_AGENT = re.compile(r"state: '(\w+)'")


class EventKind(StrEnum):
    """The events that mean something to us."""

    LIFECYCLE = "lifecycle"
    AGENT = "agent-lifecycle"
    DEVICE_ADDED = "device-added"
    DEVICE_REMOVED = "device-removed"


@dataclass(frozen=True, slots=True, kw_only=True)
class TowerEvent:
    """One event. `what`: `Started Booted` for a lifecycle, `connected` for an agent.

    `uuid` is None where the name belongs to no machine that we know: look again.
    """

    kind: EventKind
    uuid: str | None
    what: str


def read_event(line: str, names: Mapping[str, str]) -> TowerEvent | None:
    """Read one line; `names` maps each known name to its UUID. None for other lines.

    A name may hold quotes and the very words of an event, so a line is read against the
    known names, the longest first. Continuation lines are indented and match nothing.
    """
    head = _HEAD.match(line)
    if head is None or head[1] not in set(EventKind):
        return None
    kind = EventKind(head[1])
    rest = line[head.end() :]
    for name in sorted(names, key=len, reverse=True):
        for quoted in (f"'{name}': ", f"{name}: "):
            if rest.startswith(quoted):
                return _event(kind, names[name], rest.removeprefix(quoted))
    _, _, tail = rest.rpartition(": ")
    return _event(kind, None, tail)


def _event(kind: EventKind, uuid: str | None, said: str) -> TowerEvent:
    what = said.strip()
    if kind is EventKind.AGENT and (state := _AGENT.search(said)):
        what = state[1]
    return TowerEvent(kind=kind, uuid=uuid, what=what)
