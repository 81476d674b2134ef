"""What virsh prints: the parts of a refresh, and its errors as sentences."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
import re

from ..handoff.world import Power
from .answer import Answer
from .errors import ActFailed, HandoffError, Unreachable

_MARK = re.compile(
    r"^<<</(uri|list|end|state|live|inactive)(?: ([0-9a-f-]+))?>>>", re.MULTILINE
)
"""Ours only at the start of a line, where no name stands and no XML has `<<<`."""

_LISTED = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}) +(.*\S)")

POWERS: Mapping[int, Power] = {
    1: Power.RUNNING,
    2: Power.RUNNING,
    3: Power.PAUSED,
    4: Power.STOPPING,
    5: Power.OFF,
    6: Power.CRASHED,
    7: Power.SLEEPING,
}
"""libvirt's virDomainState. Whatever is not here is unknown, which is never off."""

OFF_BECAUSE: Mapping[int, str] = {
    1: "shutdown",
    2: "destroyed",
    3: "crashed",
    4: "migrated",
    5: "saved",
    6: "failed",
    7: "snapshot",
    8: "daemon",
}
"""libvirt's virDomainShutoffReason. Reasons are lost when libvirtd restarts."""


@dataclass(slots=True, kw_only=True)
class Refresh:
    """The parts of one refresh. Text that was not printed is empty."""

    boot_id: str = ""
    uri: str = ""
    names: dict[str, str] = field(default_factory=dict)
    states: dict[str, tuple[Power, str]] = field(default_factory=dict)
    live: dict[str, str] = field(default_factory=dict)
    inactive: dict[str, str] = field(default_factory=dict)
    whole: bool = False


def read_refresh(stdout: str) -> Refresh:
    """Take a refresh apart; `whole` says whether virsh came to its end."""
    refresh = Refresh()
    head, *rest = _MARK.split(stdout)
    _keep(refresh, "", "", head.splitlines())
    for kind, uuid, text in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        _keep(refresh, kind, uuid or "", text.splitlines())
        refresh.whole = refresh.whole or kind == "end"
    return refresh


def _keep(refresh: Refresh, kind: str, uuid: str, lines: list[str]) -> None:
    text = "\n".join(lines).strip()
    match kind:
        case "":
            pairs = dict(line.partition("=")[::2] for line in lines)
            refresh.boot_id = pairs.get("boot_id", "").strip()
        case "uri":
            refresh.uri = text
        case "list":
            found = (_LISTED.fullmatch(line.strip()) for line in lines)
            refresh.names = {m[1]: m[2] for m in found if m}
        case "state":
            refresh.states[uuid] = read_state(text)
        case "live" if text:
            refresh.live[uuid] = text
        case "inactive" if text:
            refresh.inactive[uuid] = text
        case _:
            pass


def read_state(text: str) -> tuple[Power, str]:
    """Read `domstats --state --raw`: numbers, so that no language matters."""
    numbers: dict[str, int] = {}
    for line in text.splitlines():
        key, is_pair, value = line.strip().partition("=")
        if is_pair and value.isdigit():
            numbers[key] = int(value)
    power = POWERS.get(numbers.get("state.state", -1), Power.UNKNOWN)
    reason = numbers.get("state.reason", 0)
    return power, OFF_BECAUSE.get(reason, "") if power is Power.OFF else ""


TIMED_OUT = 124
"""What `timeout` answers when it ended a command."""

_IN_USE = re.compile(
    r"PCI device ([0-9a-f:.]+) is in use(?: by driver \S+, domain (.*\S))?"
)


def _held(said: str) -> HandoffError | None:
    found = _IN_USE.search(said)
    if found is None:
        return None
    holder = found[2] or "?"
    return ActFailed("start_refused_card_in_use", address=found[1], holder=holder)


def _says(
    *words: str, error: type[HandoffError], key: str, with_text: bool = False
) -> Callable[[str], HandoffError | None]:
    def read(said: str) -> HandoffError | None:
        if not any(word in said for word in words):
            return None
        return error(key, cause=cause(said)) if with_text else error(key)

    return read


_SUDO = re.compile(r"sudo: (\S+) must be owned by uid 0")


def _wrong_sudo(said: str) -> HandoffError | None:
    found = _SUDO.search(said)
    if found is None:
        return None
    return Unreachable("wrong_sudo", path=found[1], remedy="/run/wrappers/bin/sudo")


_SENTENCES: tuple[Callable[[str], HandoffError | None], ...] = (
    _held,
    _wrong_sudo,
    _says(
        "sudo: a password is required",
        "sudo: no tty present",
        "sudo: a terminal is required",
        error=Unreachable,
        key="sudo_needs_password",
    ),
    _says(
        "virsh: not found",
        "virsh: command not found",
        "virsh: Command not found",
        "virsh: No such file",
        "sudo: virsh: command not found",
        error=Unreachable,
        key="virsh_not_found",
    ),
    _says(
        "authentication unavailable",
        "authentication failed",
        "Permission denied",
        error=Unreachable,
        key="libvirt_permission",
    ),
    _says(
        "failed to connect to the hypervisor",
        "Failed to connect socket",
        "Connection refused",
        "Disconnected from",
        "client socket is closed",
        error=Unreachable,
        key="libvirt_not_running",
        with_text=True,
    ),
    _says(
        "host doesn't support passthrough",
        error=ActFailed,
        key="start_refused_no_iommu",
    ),
    _says(
        "is not viable",
        error=ActFailed,
        key="start_refused_group",
        with_text=True,
    ),
    _says(
        "Cannot access storage file",
        error=ActFailed,
        key="start_refused_file",
        with_text=True,
    ),
    _says(
        "Guest agent is not responding",
        "QEMU guest agent is not configured",
        error=ActFailed,
        key="agent_not_answering",
        with_text=True,
    ),
)


def cause(said: str) -> str:
    """The last thing that virsh said: after the generic line comes the cause."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1].removeprefix("error: ") if lines else ""


def error_of(answer: Answer, *, otherwise: str = "act_failed") -> HandoffError:
    """Make a sentence of what virsh said; all of it is read, since the first line is vague."""
    if answer.exit_status is None:
        return Unreachable("connection_lost")
    said = f"{answer.stderr}\n{answer.stdout}".strip()
    for read in _SENTENCES:
        if error := read(said):
            return error
    if answer.exit_status == TIMED_OUT:
        return Unreachable("libvirt_slow")
    text = cause(answer.stderr) or cause(answer.stdout) or f"rc {answer.exit_status}"
    return ActFailed(otherwise, cause=text)
