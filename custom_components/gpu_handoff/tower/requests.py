"""Requests to the tower, with their answers read."""

from ..handoff.world import ActKind, CardId, VmId
from .card_identity import KnownCard, match
from .errors import Unreachable
from .pci import PciCard, read_cards, read_models
from .ssh import Connection
from .virsh import Refresh, error_of, read_refresh

VERB_OF = {
    ActKind.START: "start",
    ActKind.RESUME: "resume",
    ActKind.WAKE: "wake",
    ActKind.SHUT_DOWN_BY_AGENT: "shutdown-agent",
    ActKind.SHUT_DOWN_BY_ACPI: "shutdown-acpi",
}

_DONE_ALREADY = ("Domain is already active", "Domain is already running")


async def refresh(connection: Connection, known: frozenset[VmId]) -> Refresh:
    """Ask for all machines in one remote process; new ones are asked for at once.

    Raises Unreachable, with libvirt's own trouble as its sentence.
    """
    seen = await _refresh(connection, known)
    new = frozenset(seen.names) - known
    if new:
        seen = await _refresh(connection, frozenset(seen.names))
    return seen


async def _refresh(connection: Connection, known: frozenset[VmId]) -> Refresh:
    answer = await connection.run("refresh", *sorted(known))
    seen = read_refresh(answer.stdout)
    if not seen.uri:
        reason = error_of(answer, otherwise="libvirt_failed").reason
        raise Unreachable(reason.key, **reason.placeholders)
    if seen.uri.endswith("/session"):
        raise Unreachable("session_daemon", user=connection.credentials.username)
    return seen


async def cards(
    connection: Connection, known: list[KnownCard]
) -> tuple[list[KnownCard], dict[CardId, PciCard]]:
    """Look at the bus; new cards get an id, and a name once."""
    answer = await connection.run("cards", *(card.address for card in known))
    found = read_cards(answer.stdout)
    named = {card.address for card in known if card.model}
    unnamed = [str(card.address) for card in found if str(card.address) not in named]
    models = {}
    if unnamed:
        names = await connection.run("names", *unnamed)
        models = read_models(names.stdout)
    return match(known, found, models)


async def order(connection: Connection, kind: ActKind, vm_id: VmId) -> None:
    """Give an order. Raises HandoffError with what libvirt said."""
    answer = await connection.run(VERB_OF[kind], vm_id)
    if answer.exit_status == 0:
        return
    if any(words in answer.stderr for words in _DONE_ALREADY):
        return
    raise error_of(answer)
