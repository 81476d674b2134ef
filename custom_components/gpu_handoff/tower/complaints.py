"""What virsh, sudo and the shell say when something is wrong, made sentences.

libvirt's first line is vague and the cause comes in the second, so all of it is read. Its
own text may be in the host's language: then the general sentence shows it as it is.
"""

import re

from .answer import Answer
from .errors import ActFailed, HandoffError, Unreachable

TIMED_OUT = 124
"""What `timeout` answers when it ended a command."""

_NOT_THERE = (126, 127)
"""What a shell answers for a command that it cannot run."""

_NO_LIBVIRT = r"failed to connect to the hypervisor[\s\S]*"

_SENTENCES: tuple[tuple[str, type[HandoffError], str], ...] = (
    (
        r"sudo: (?P<path>\S+) must be owned by uid 0 and have the setuid bit",
        Unreachable,
        "wrong_sudo",
    ),
    (
        r"sudo: (?:a password is required|a terminal is required|no tty present)",
        Unreachable,
        "sudo_needs_password",
    ),
    (
        r"is not in the sudoers file|is not allowed to (?:execute|run)",
        Unreachable,
        "sudo_refused",
    ),
    (
        r"virsh\W*(?: [Cc]ommand)? not found|virsh\W*: No such file or directory",
        Unreachable,
        "virsh_not_found",
    ),
    (
        _NO_LIBVIRT + r"(?:Permission denied|authentication|access denied)",
        Unreachable,
        "libvirt_permission",
    ),
    (
        r"authentication unavailable|authentication failed|error: access denied",
        Unreachable,
        "libvirt_permission",
    ),
    (
        r"failed to connect to the hypervisor|Failed to connect socket|Disconnected from",
        Unreachable,
        "libvirt_not_running",
    ),
    (
        r"PCI device (?P<address>[0-9a-f:.]+) is in use by .*, domain (?P<holder>.+)",
        ActFailed,
        "start_refused_card_in_use",
    ),
    (
        r"PCI device (?P<address>[0-9a-f:.]+) is in use",
        ActFailed,
        "start_refused_card_busy",
    ),
    (
        r"host doesn't support passthrough",
        ActFailed,
        "start_refused_no_iommu",
    ),
    (r"group (?P<group>\S+) is not viable", ActFailed, "start_refused_group"),
    (r"Cannot access storage file", ActFailed, "start_refused_file"),
    (r"read only access prevents", ActFailed, "libvirt_read_only"),
    (r"failed to get domain", ActFailed, "vm_not_found"),
    (
        r"Guest agent is not responding|QEMU guest agent is not configured",
        ActFailed,
        "agent_not_answering",
    ),
)


def error_of(answer: Answer, *, otherwise: str = "act_failed") -> HandoffError:
    """Make a sentence of an answer that went wrong. `cause` is virsh's own last line."""
    if answer.exit_status is None:
        return Unreachable("connection_lost")
    said = f"{answer.stderr}\n{answer.stdout}".strip()
    for pattern, error, key in _SENTENCES:
        if found := re.search(pattern, said):
            return error(key, cause=cause_of(answer), **found.groupdict())
    if answer.exit_status == TIMED_OUT:
        return Unreachable("libvirt_slow")
    if answer.exit_status in _NOT_THERE:
        return Unreachable("virsh_not_found", cause=cause_of(answer))
    return ActFailed(otherwise, cause=cause_of(answer))


def unreachable(error: HandoffError) -> Unreachable:
    """The same sentence, where it means that nothing is known of the host now."""
    if isinstance(error, Unreachable):
        return error
    return Unreachable(error.reason.key, **error.reason.placeholders)


def cause_of(answer: Answer) -> str:
    """The last thing that was said: after the vague line comes the cause."""
    text = answer.stderr.strip() or answer.stdout.strip()
    if not text:
        return f"exit status {answer.exit_status}"
    return text.split("\n")[-1].strip().removeprefix("error: ")
