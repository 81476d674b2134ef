"""What virsh prints for a refresh, taken apart."""

from dataclasses import dataclass, field
import re

from ..handoff.world import Power, VmId
from .states import read_state

_MARK = re.compile(
    r"(?:^|(?<=>>>))<<</(uri|list|state|live|inactive|end)(?: ([0-9a-f-]+))?>>>",
    re.MULTILINE,
)
"""Ours only where a line begins, or right after another one whose command said nothing.

Names hold no slash and XML no `<<<`, so neither can pass for one.
"""

_LISTED = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) (.+)")


@dataclass(slots=True, kw_only=True)
class Refresh:
    """The parts of one refresh. Text that was not printed is not there.

    `whole`: virsh came to its end, so what is missing is really not there.
    """

    boot_id: str = ""
    uri: str = ""
    names: dict[VmId, str] = field(default_factory=dict)
    states: dict[VmId, tuple[Power, str]] = field(default_factory=dict)
    live: dict[VmId, str] = field(default_factory=dict)
    inactive: dict[VmId, str] = field(default_factory=dict)
    whole: bool = False


def read_refresh(stdout: str) -> Refresh:
    """Read the request's answer."""
    refresh = Refresh()
    head, *rest = _MARK.split(stdout)
    for line in head.split("\n"):
        if line.startswith("boot_id="):
            refresh.boot_id = line.removeprefix("boot_id=").strip()
    for kind, uuid, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        _keep(refresh, kind, uuid or "", text.strip("\r\n"))
    return refresh


def _keep(refresh: Refresh, kind: str, uuid: VmId, text: str) -> None:
    match kind:
        case "uri":
            refresh.uri = text.strip()
        case "list":
            refresh.names = _names(text)
        case "state":
            refresh.states[uuid] = read_state(text)
        case "live" if text:
            refresh.live[uuid] = text
        case "inactive" if text:
            refresh.inactive[uuid] = text
        case "end":
            refresh.whole = True


def _names(text: str) -> dict[VmId, str]:
    """Read `list --uuid --name`. A line without a UUID goes on with the name before it."""
    names: dict[VmId, str] = {}
    uuid = ""
    for line in text.split("\n"):
        if listed := _LISTED.fullmatch(line.rstrip("\r")):
            uuid = listed[1]
            names[uuid] = listed[2]
        elif uuid:
            names[uuid] += f"\n{line}"
    return names
