"""virsh's commands that only look."""

from collections.abc import Callable, Mapping, Sequence

from . import domain_xml
from .guest import Guest
from .output import Output
from .virsh_words import Words, find, no_domain, sort_words

type Guests = dict[str, Guest]


def _in_order(guests: Guests) -> list[Guest]:
    """Active ones by id, then the others by name."""
    return sorted(
        guests.values(),
        key=lambda guest: (not guest.active, guest.domain_id or 0, guest.name),
    )


def _list(guests: Guests, args: Sequence[str]) -> Output:
    words = sort_words(args)
    shown = [
        guest
        for guest in _in_order(guests)
        if guest.active or "--all" in words.switches
    ]
    if columns := [name for name in ("--uuid", "--name") if name in words.switches]:
        fields = {
            "--uuid": lambda guest: guest.uuid,
            "--name": lambda guest: guest.name,
        }
        rows = (" ".join(fields[name](guest) for name in columns) for guest in shown)
        return Output("".join(f"{row}\n" for row in rows))
    return Output(_table(shown))


def _table(shown: Sequence[Guest]) -> str:
    rows = [("Id", "Name", "State")]
    rows += [(str(it.domain_id or "-"), it.name, it.power) for it in shown]
    widths = [max(len(cell) for cell in column) for column in zip(*rows, strict=True)]
    lines = [_row(row, widths) for row in rows]
    lines.insert(1, "-" * sum(width + 3 for width in widths))
    return "".join(f"{line}\n" for line in lines)


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (f" {cell:{width}}  " for cell, width in zip(cells, widths, strict=True))
    return "".join(padded).rstrip()


def _domstats(guests: Guests, args: Sequence[str]) -> Output:
    words = sort_words(args)
    chosen = list(guests.values())
    if words.plain:
        found = [find(guests, key) for key in words.plain]
        if None in found:
            return no_domain(words.plain[found.index(None)])
        chosen = [guest for guest in found if guest]
    return Output("\n".join(_record(guest) for guest in chosen))


def _record(guest: Guest) -> str:
    return (
        f"Domain: '{guest.name}'\n"
        f"  state.state={guest.status.state.value}\n"
        f"  state.reason={guest.status.reason}\n"
    )


def _dumpxml(guest: Guest, words: Words) -> str:
    if "--inactive" in words.switches:
        return domain_xml.inactive(guest)
    return domain_xml.live(guest)


def _domstate(guest: Guest, words: Words) -> str:
    because = f" ({guest.status.because})" if "--reason" in words.switches else ""
    return f"{guest.power}{because}\n"


def _of_one(
    show: Callable[[Guest, Words], str],
) -> Callable[[Guests, Sequence[str]], Output]:
    def command(guests: Guests, args: Sequence[str]) -> Output:
        words = sort_words(args)
        key = words.plain[0] if words.plain else ""
        if (guest := find(guests, key)) is None:
            return no_domain(key)
        return Output(show(guest, words))

    return command


def _echo(_guests: Guests, args: Sequence[str]) -> Output:
    return Output(" ".join(args))


COMMANDS: Mapping[str, Callable[[Guests, Sequence[str]], Output]] = {
    "echo": _echo,
    "list": _list,
    "domstats": _domstats,
    "dumpxml": _of_one(_dumpxml),
    "domstate": _of_one(_domstate),
    "domid": _of_one(lambda guest, _: f"{guest.domain_id or '-'}\n"),
    "domuuid": _of_one(lambda guest, _: f"{guest.uuid}\n"),
    "domname": _of_one(lambda guest, _: f"{guest.name}\n"),
}
