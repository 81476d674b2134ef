"""What people would call a machine."""

import re

NOT_A_NAME = frozenset(
    {"gaming", "game", "vm", "pc", "win", "win10", "win11", "windows"}
)


def person_of(machine: str) -> str:
    """Take the person out of `gaming-alice` or `win11-bob`; other names stay as they are."""
    words = re.split(r"[-_ .]+", machine)
    if not all(word.isalnum() and word.isascii() for word in words):
        return machine
    left = [word for word in words if word.lower() not in NOT_A_NAME]
    return " ".join(word.capitalize() for word in left) or machine
