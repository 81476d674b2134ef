"""What each verb of the product's table prints on this host."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from custom_components.gpu_handoff.tower.commands import HostContext

from . import cards, hello
from .host import Host
from .output import Output
from .pci import PciBus
from .tools import run_virsh
from .virsh import Virsh


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request with all that it may look at."""

    args: Sequence[str]
    context: HostContext
    host: Host
    virsh: Virsh
    bus: PciBus

    async def run_virsh(self, *commands: Sequence[str]) -> Output:
        return await run_virsh(self.virsh, self.host, self.context, commands)


type Answerer = Callable[[Request], Coroutine[Any, Any, Output]]


async def _ping(_request: Request) -> Output:
    return Output()


async def _hello(request: Request) -> Output:
    return Output(hello.hello(request.host, request.context))


async def _refresh(request: Request) -> Output:
    commands: list[Sequence[str]] = [
        ("echo", "<<</uri>>>"),
        ("uri",),
        ("echo", "<<</list>>>"),
        ("list", "--all", "--uuid", "--name"),
    ]
    for vm in request.args:
        commands += [
            ("echo", f"<<</state {vm}>>>"),
            ("domstats", "--state", "--raw", vm),
            ("echo", f"<<</live {vm}>>>"),
            ("dumpxml", "--domain", vm),
            ("echo", f"<<</inactive {vm}>>>"),
            ("dumpxml", "--inactive", "--domain", vm),
        ]
    commands.append(("echo", "<<</end>>>"))
    output = await request.run_virsh(*commands)
    return output.after(f"boot_id={request.host.boot_id}\n")


async def _cards(request: Request) -> Output:
    return Output(cards.cards(request.bus, request.host, request.args))


async def _names(request: Request) -> Output:
    return Output(cards.names(request.bus, request.host, request.args))


async def _kubeconfig(request: Request) -> Output:
    return hello.kubeconfig(request.host)


def _virsh(command: str, *rest: str) -> Answerer:
    async def answer(request: Request) -> Output:
        domain = request.args[0] if request.args else ""
        return await request.run_virsh((command, "--domain", domain, *rest))

    return answer


ANSWERERS: Mapping[str, Answerer] = {
    "ping": _ping,
    "hello": _hello,
    "refresh": _refresh,
    "cards": _cards,
    "names": _names,
    "kubeconfig": _kubeconfig,
    "start": _virsh("start"),
    "resume": _virsh("resume"),
    "wake": _virsh("dompmwakeup"),
    "shutdown-agent": _virsh("shutdown", "--mode", "agent"),
    "shutdown-acpi": _virsh("shutdown", "--mode", "acpi"),
}
"""Every verb but `events`, which streams."""
