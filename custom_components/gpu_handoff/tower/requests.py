"""Requests to the tower, with their answers read."""

from collections.abc import Iterable, Sequence

from ..handoff.world import ActKind, VmId
from .complaints import cause_of, error_of, unreachable
from .errors import HandoffError, Unreachable
from .pci import PciCard, read_cards, read_models
from .pci_address import PciAddress
from .ssh import Connection
from .virsh import Refresh, read_refresh

VERB_OF = {
    ActKind.START: "start",
    ActKind.RESUME: "resume",
    ActKind.WAKE: "wake",
    ActKind.SHUT_DOWN_BY_AGENT: "shutdown-agent",
    ActKind.SHUT_DOWN_BY_ACPI: "shutdown-acpi",
}

_DONE_ALREADY = ("Domain is already active", "domain is already running")
_NO_KUBECONFIG = 2


async def refresh(connection: Connection, known: frozenset[VmId]) -> Refresh:
    """Ask for all machines in one remote process; new ones are asked for at once.

    Raises Unreachable, with libvirt's own trouble as its sentence.
    """
    seen = await _refresh(connection, known)
    if seen.names.keys() - known:
        seen = await _refresh(connection, frozenset(seen.names))
    return seen


async def _refresh(connection: Connection, known: frozenset[VmId]) -> Refresh:
    answer = await connection.run("refresh", *sorted(known))
    seen = read_refresh(answer.stdout)
    if not seen.whole or not (seen.names or seen.uri):
        raise unreachable(error_of(answer, otherwise="libvirt_failed"))
    if seen.uri.endswith("/session"):
        raise Unreachable("session_daemon", user=connection.credentials.username)
    if not seen.names and answer.stderr.strip():
        raise unreachable(error_of(answer, otherwise="libvirt_failed"))
    return seen


async def cards(connection: Connection, claimed: Iterable[str] = ()) -> list[PciCard]:
    """Look at the bus. `claimed`: the cards for which it matters who has them open.

    Raises Unreachable.
    """
    answer = await connection.run("cards", *sorted(claimed))
    if answer.exit_status != 0:
        raise Unreachable("cards_unreadable", cause=cause_of(answer))
    return read_cards(answer.stdout)


async def models(
    connection: Connection, addresses: Sequence[str]
) -> dict[PciAddress, str]:
    """Ask what people call the cards at these addresses; a host may not know."""
    if not addresses:
        return {}
    return read_models((await connection.run("names", *addresses)).stdout)


async def order(connection: Connection, kind: ActKind, vm_id: VmId) -> None:
    """Give an order. Raises HandoffError with what libvirt said."""
    answer = await connection.run(VERB_OF[kind], vm_id)
    if answer.exit_status == 0:
        return
    if not any(words in answer.stderr for words in _DONE_ALREADY):
        raise error_of(answer)


async def kubeconfig(connection: Connection) -> str:
    """Read the cluster's own kubeconfig from a host that is its server.

    Raises HandoffError where there is none or it may not be read.
    """
    answer = await connection.run("kubeconfig")
    if answer.exit_status == 0 and answer.stdout.strip():
        return answer.stdout
    if answer.exit_status == _NO_KUBECONFIG:
        host = connection.credentials.host
        raise HandoffError("kubeconfig_not_on_host", host=host)
    raise error_of(answer, otherwise="kubeconfig_unreadable_on_host")
