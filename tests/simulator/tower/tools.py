"""How this host runs virsh and sudo for the user who logged in."""

from collections.abc import Sequence

from custom_components.gpu_handoff.tower.commands import HostContext

from .host import Host
from .output import Output
from .virsh import Virsh


def sudo_refusal(host: Host, sudo: str) -> Output | None:
    """What `sudo -n` prints when it does not work, None if it does."""
    if sudo == host.powerless_sudo:
        text = f"sudo: {sudo} must be owned by uid 0 and have the setuid bit set\n"
        return Output("", text, 1)
    if sudo != host.sudo:
        return _missing(host, sudo)
    if host.sudo_wants_password:
        return Output("", "sudo: a password is required\n", 1)
    return None


def virsh_refusal(host: Host, virsh: str) -> Output | None:
    """What the shell prints when there is no such virsh, None if there is."""
    found = host.virsh is not None and virsh in ("virsh", host.virsh)
    return None if found else _missing(host, virsh)


async def run_virsh(
    virsh: Virsh, host: Host, context: HostContext, commands: Sequence[Sequence[str]]
) -> Output:
    """Run virsh as our scripts do: quietly, with sudo if the context says so."""
    refusal = virsh_preflight(virsh, host, context)
    if refusal:
        return refusal
    return await virsh.run(
        commands, uri=context.uri, as_root=bool(context.sudo) or host.uid == 0
    )


def virsh_preflight(virsh: Virsh, host: Host, context: HostContext) -> Output | None:
    """What goes wrong before virsh's first command, if anything does."""
    if context.sudo and (refusal := sudo_refusal(host, context.sudo)):
        return refusal
    if refusal := virsh_refusal(host, context.virsh):
        return refusal
    as_root = bool(context.sudo) or host.uid == 0
    return virsh.refusal(context.uri, as_root=as_root)


def _missing(host: Host, program: str) -> Output:
    if host.has_timeout:
        text = (
            f"timeout: failed to run command '{program}': No such file or directory\n"
        )
    else:
        text = f"gpu-handoff: 1: {program}: not found\n"
    return Output("", text, 127)
