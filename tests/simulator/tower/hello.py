"""What the `hello` and `kubeconfig` scripts print on this host."""

from collections.abc import Iterator

from custom_components.gpu_handoff.tower.commands import HostContext

from .host import Host
from .output import Output
from .tools import sudo_refusal

K3S = "/etc/rancher/k3s/k3s.yaml"


def hello(host: Host, context: HostContext) -> str:
    return "".join(f"{line}\n" for line in _lines(host, context))


def _lines(host: Host, context: HostContext) -> Iterator[str]:
    yield f"machine_id={host.machine_id}"
    yield f"boot_id={host.boot_id}"
    yield f"hostname={host.hostname}"
    yield f"uid={host.uid}"
    yield f"user={host.user}"
    if host.virsh:
        yield f"virsh={host.virsh}"
        yield f"version={host.virsh_version}"
        yield f"nowait={'yes' if host.virsh_has_nowait else 'no'}"
    if host.sudo:
        yield f"sudo={host.sudo}"
    if host.powerless_sudo:
        yield f"powerless_sudo={host.powerless_sudo}"
    for socket in host.sockets:
        yield f"socket={socket}"


def kubeconfig(host: Host) -> Output:
    """Read the file as the user, else with sudo."""
    if host.kubeconfig is None:
        return Output(status=2)
    if not host.kubeconfig_for_root_only or host.uid == 0:
        return Output(host.kubeconfig)
    if host.sudo is None:
        return Output("", f"{K3S}: Permission denied\n", 13)
    if refusal := sudo_refusal(host, host.sudo):
        return Output("", refusal.stderr, 13)
    return Output(host.kubeconfig)
