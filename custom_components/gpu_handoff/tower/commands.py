"""The one table of what is ever said to the host: a verb, and the script behind it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
import re

from . import scripts

ARGUMENT = re.compile(r"[0-9a-f][0-9a-f.:-]*")
"""A UUID, an address or a number. Never a name, and never an option."""

_URI = re.compile(
    r"[a-z][a-z+]*://[A-Za-z0-9.@:\[\]_-]*/[A-Za-z0-9./?=&%+_-]*", re.ASCII
)
_PATH = re.compile(r"/[A-Za-z0-9._/+-]+", re.ASCII)


class Lane(Enum):
    """What kind of channel a verb takes."""

    QUERY = "query"
    ACT = "act"
    STREAM = "stream"


WIDTHS = {Lane.QUERY: 4, Lane.ACT: 3, Lane.STREAM: 2}
"""How many channels of a kind may be open at once.

Together they stay below sshd's default of ten sessions, and an order that blocks for a
minute leaves the way free for questions.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verb:
    """One request: its script, and how long the host may take for each command in it."""

    name: str
    script: str
    timeout_s: int
    lane: Lane = Lane.QUERY
    reads_stdin: bool = False

    @property
    def stream(self) -> bool:
        """Whether it goes on printing until it is ended."""
        return self.lane is Lane.STREAM

    @property
    def local_timeout_s(self) -> float:
        """How long we wait before we give up: longer than the host's own limit."""
        return self.timeout_s + 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class HostContext:
    """How virsh is called on this host. Every field is checked: it becomes shell text."""

    uri: str = "qemu:///system"
    sudo: str = ""
    virsh: str = "virsh"
    nowait: bool = True

    def __post_init__(self) -> None:
        """Refuse what could be more than a word of shell."""
        if not _URI.fullmatch(self.uri):
            msg = "not a libvirt URI"
            raise ValueError(msg)
        if self.sudo and not _PATH.fullmatch(self.sudo):
            msg = "not a path of sudo"
            raise ValueError(msg)
        if self.virsh != "virsh" and not _PATH.fullmatch(self.virsh):
            msg = "not a path of virsh"
            raise ValueError(msg)


def _fold(text: str) -> str:
    """Put a script on one line."""
    return " ".join(line.strip() for line in text.strip().splitlines())


def _table(*verbs: Verb) -> Mapping[str, Verb]:
    return {verb.name: verb for verb in verbs}


VERBS = _table(
    Verb(name="ping", script=_fold(scripts.PING), timeout_s=10),
    Verb(name="hello", script=_fold(scripts.HELLO), timeout_s=20),
    Verb(name="refresh", script=_fold(scripts.REFRESH), timeout_s=20),
    Verb(name="cards", script=_fold(scripts.CARDS), timeout_s=20),
    Verb(name="names", script=_fold(scripts.NAMES), timeout_s=20),
    Verb(name="kubeconfig", script=_fold(scripts.KUBECONFIG), timeout_s=20),
    Verb(
        name="events",
        script=_fold(scripts.EVENTS),
        timeout_s=3600,
        lane=Lane.STREAM,
    ),
    Verb(name="start", script=_fold(scripts.START), timeout_s=300, lane=Lane.ACT),
    Verb(name="resume", script=_fold(scripts.RESUME), timeout_s=60, lane=Lane.ACT),
    Verb(name="wake", script=_fold(scripts.WAKE), timeout_s=60, lane=Lane.ACT),
    Verb(
        name="shutdown-agent",
        script=_fold(scripts.SHUTDOWN_AGENT),
        timeout_s=90,
        lane=Lane.ACT,
    ),
    Verb(
        name="shutdown-acpi",
        script=_fold(scripts.SHUTDOWN_ACPI),
        timeout_s=60,
        lane=Lane.ACT,
    ),
)


def preamble(verb: Verb, context: HostContext) -> str:
    """Set the words that the verb's script uses."""
    return _fold(scripts.PREAMBLE) % {
        "uri": context.uri,
        "virsh": context.virsh,
        "sudo": f"{context.sudo} -n" if context.sudo else "",
        "nowait": "--nowait" if context.nowait else "",
        "timeout_s": verb.timeout_s,
    }


def request_line(verb: str, args: Sequence[str] = ()) -> str:
    """Say a verb to a host that has the forced command."""
    if verb not in VERBS:
        msg = f"no such verb: {verb}"
        raise ValueError(msg)
    for arg in args:
        if not ARGUMENT.fullmatch(arg):
            msg = f"not an argument: {arg!r}"
            raise ValueError(msg)
    return " ".join((verb, *args))


def command_line(
    verb: str, args: Sequence[str] = (), context: HostContext | None = None
) -> str:
    """Say a verb to any login shell: one line, all grammar within single quotes."""
    words = request_line(verb, args).split()[1:]
    entry = VERBS[verb]
    body = f"{preamble(entry, context or HostContext())} {entry.script}"
    return " ".join(("/bin/sh", "-c", f"'{body}'", "gpu-handoff", *words))


_LINE = re.compile(r"/bin/sh -c '([^']*)' gpu-handoff((?: [0-9a-f.:-]+)*)")
_SET = re.compile(r'u="([^"]*)"; b="([^"]*)"; s="([^"]*)"; n="([^"]*)";')


def parse_command_line(text: str) -> tuple[str, tuple[str, ...], HostContext] | None:
    """Tell which request a line is, in either form; None for anything else."""
    if not (line := _LINE.fullmatch(text)):
        return _parse_request_line(text)
    body, words = line[1], line[2].split()
    if not (said := _SET.search(body)):
        return None
    context = HostContext(
        uri=said[1],
        virsh=said[2],
        sudo=said[3].removesuffix(" -n"),
        nowait=bool(said[4]),
    )
    for verb in VERBS:
        if text == command_line(verb, words, context):
            return verb, tuple(words), context
    return None


def _parse_request_line(
    text: str,
) -> tuple[str, tuple[str, ...], HostContext] | None:
    verb, *words = text.split() or [""]
    if verb not in VERBS or not all(ARGUMENT.fullmatch(word) for word in words):
        return None
    return verb, tuple(words), HostContext()
