"""virsh: one line of commands over one libvirt connection, in its own words."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
import re

from . import virsh_acts, virsh_lists
from .guest import Guest
from .host import Host, Libvirt
from .output import Output

SYSTEM = "qemu:///system"
_SYSTEM_URI = re.compile(r"qemu(?:\+unix)?:///system(?:\?socket=(?P<socket>.+))?")

type Command = Callable[[Guests, Sequence[str]], Output | Awaitable[Output]]
type Guests = dict[str, Guest]

_COMMANDS: Mapping[str, Command] = {**virsh_lists.COMMANDS, **virsh_acts.COMMANDS}
_CANNOT_CONNECT = "error: failed to connect to the hypervisor\nerror: {cause}\n"
_CAUSES = {
    Libvirt.STOPPED: (
        "Failed to connect socket to '{socket}': No such file or directory"
    ),
    Libvirt.NO_PERMISSION: "Failed to connect socket to '{socket}': Permission denied",
    Libvirt.NO_POLKIT_AGENT: (
        "authentication unavailable: no polkit agent available to authenticate "
        "action 'org.libvirt.unix.manage'"
    ),
}
_USUAL_SOCKET = "/var/run/libvirt/libvirt-sock"
_FOR_ROOT_TOO = {Libvirt.STOPPED}


class Virsh:
    """Answers as `virsh` would on this host."""

    def __init__(self, guests: Guests, host: Host) -> None:
        self.guests = guests
        self.record: list[list[str]] = []
        self._host = host

    async def run(
        self,
        commands: Sequence[Sequence[str]],
        *,
        uri: str = SYSTEM,
        as_root: bool = False,
        quiet: bool = True,
    ) -> Output:
        """Run all; the last one's status is the whole line's."""
        self.record += [list(words) for words in commands]
        if refusal := self.refusal(uri, as_root=as_root):
            return refusal
        guests = {} if _is_session(uri) else self.guests
        stdout, stderr, status = "", "", 0
        for name, *args in commands:
            if name not in _COMMANDS and name != "uri":
                return Output("", f"error: unknown command: '{name}'\n", 1)
            output = await self._one(guests, uri, name, args)
            stdout += output.stdout + ("" if quiet else f"{output.chatter}\n")
            stderr += output.stderr
            status = output.status
        return Output(stdout, stderr, status)

    def refusal(self, uri: str, *, as_root: bool) -> Output | None:
        """What a failing connection prints (nothing on stdout), None if it works."""
        if _is_session(uri):
            return None
        if (found := _SYSTEM_URI.fullmatch(uri)) is None:
            cause = f"no connection driver available for {uri}"
            return Output("", _CANNOT_CONNECT.format(cause=cause), 1)
        sockets = self._host.sockets
        socket = found["socket"] or (sockets[-1] if sockets else _USUAL_SOCKET)
        state = self._host.libvirt
        if found["socket"] and socket not in sockets:
            state = Libvirt.STOPPED
        if state is Libvirt.RUNNING or (as_root and state not in _FOR_ROOT_TOO):
            return None
        cause = _CAUSES[state].format(socket=socket)
        return Output("", _CANNOT_CONNECT.format(cause=cause), 1)

    async def _one(
        self, guests: Guests, uri: str, name: str, args: Sequence[str]
    ) -> Output:
        if name == "uri":
            return Output(f"{uri}\n")
        answer = _COMMANDS[name](guests, args)
        return answer if isinstance(answer, Output) else await answer


def _is_session(uri: str) -> bool:
    return uri.endswith("/session")
