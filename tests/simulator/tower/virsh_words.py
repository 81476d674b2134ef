"""How virsh takes a command's words: options with values, switches, and a domain."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from .guest import Guest
from .output import Output


@dataclass(slots=True)
class Words:
    """A command's words, sorted."""

    options: dict[str, str] = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    plain: list[str] = field(default_factory=list)


def sort_words(
    args: Sequence[str], with_value: Collection[str] = ("--domain",)
) -> Words:
    """Tell options from plain words."""
    words = Words()
    left = list(args)
    while left:
        word = left.pop(0)
        if word in with_value and left:
            words.options[word] = left.pop(0)
        elif word.startswith("--"):
            words.switches.add(word)
        else:
            words.plain.append(word)
    if "--domain" in words.options:
        words.plain.insert(0, words.options["--domain"])
    return words


def find(guests: dict[str, Guest], key: str) -> Guest | None:
    """A domain by id, by UUID, by name: in virsh's own order."""
    for guest in guests.values():
        if guest.domain_id is not None and key == str(guest.domain_id):
            return guest
    if key in guests:
        return guests[key]
    return next((guest for guest in guests.values() if guest.name == key), None)


def error(*lines: str) -> Output:
    """A failure: nothing on stdout, each line after `error: `."""
    return Output("", "".join(f"error: {line}\n" for line in lines), 1)


def no_domain(key: str) -> Output:
    return error(f"failed to get domain '{key}'")
