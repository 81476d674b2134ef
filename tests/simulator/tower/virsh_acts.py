"""virsh's commands that do something."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

from . import errors
from .errors import LibvirtError
from .guest import Guest
from .output import Output
from .virsh_words import Words, error, find, no_domain, sort_words

type Guests = dict[str, Guest]
type Act = Callable[[Guest, Words], Awaitable[None]]
type Command = Callable[[Guests, Sequence[str]], Awaitable[Output]]

_DEFAULT_MODES = "agent,acpi"


async def _start(guest: Guest, _words: Words) -> None:
    await guest.start()


async def _resume(guest: Guest, _words: Words) -> None:
    guest.resume()


async def _suspend(guest: Guest, _words: Words) -> None:
    guest.suspend()


async def _pm_suspend(guest: Guest, _words: Words) -> None:
    guest.sleep()


async def _wake(guest: Guest, _words: Words) -> None:
    guest.wake()


async def _destroy(guest: Guest, _words: Words) -> None:
    guest.destroy()


async def _shutdown(guest: Guest, words: Words) -> None:
    """Without a mode: through the agent, then by the power button."""
    refusal: LibvirtError | None = None
    for mode in words.options.get("--mode", _DEFAULT_MODES).split(","):
        try:
            if mode == "agent":
                await guest.shut_down_by_agent()
            else:
                guest.press_power_button()
        except LibvirtError as error:
            refusal = error
        else:
            return
    if refusal:
        raise refusal


def _command(act: Act, done: str, failed: str) -> Command:
    """Say `done` or `failed`, with the name that virsh has for the domain there."""

    async def command(guests: Guests, args: Sequence[str]) -> Output:
        words = sort_words(args, ("--domain", "--mode", "--duration"))
        key = words.plain[0] if words.plain else ""
        if (guest := find(guests, key)) is None:
            return no_domain(key)
        try:
            await act(guest, words)
        except LibvirtError as refusal:
            if str(refusal) == errors.ALREADY_ACTIVE:
                return error(str(refusal))
            headline = failed.format(name=guest.name, key=key)
            return error(headline, str(refusal))
        return Output(chatter=done.format(name=guest.name, key=key) + "\n")

    return command


COMMANDS: Mapping[str, Command] = {
    "start": _command(
        _start, "Domain '{name}' started", "Failed to start domain '{name}'"
    ),
    "resume": _command(
        _resume, "Domain '{key}' resumed", "Failed to resume domain '{key}'"
    ),
    "suspend": _command(
        _suspend, "Domain '{key}' suspended", "Failed to suspend domain '{key}'"
    ),
    "shutdown": _command(
        _shutdown,
        "Domain '{key}' is being shutdown",
        "Failed to shutdown domain '{key}'",
    ),
    "destroy": _command(
        _destroy, "Domain '{key}' destroyed", "Failed to destroy domain '{key}'"
    ),
    "dompmsuspend": _command(
        _pm_suspend,
        "Domain '{key}' successfully suspended",
        "Domain '{key}' could not be suspended",
    ),
    "dompmwakeup": _command(
        _wake,
        "Domain '{name}' successfully woken up",
        "Domain '{name}' could not be woken up",
    ),
}
