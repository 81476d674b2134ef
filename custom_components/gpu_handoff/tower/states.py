"""libvirt's states of a domain, by number, so that no language matters."""

from collections.abc import Mapping

from ..handoff.world import Power

_POWERS: Mapping[int, Power] = {
    1: Power.RUNNING,
    2: Power.RUNNING,
    3: Power.PAUSED,
    4: Power.STOPPING,
    5: Power.OFF,
    6: Power.CRASHED,
    7: Power.SLEEPING,
}
"""virDomainState. Whatever is not here is unknown, which is never off."""

_BECAUSE: Mapping[int, tuple[str, ...]] = {
    1: (
        "",
        "booted",
        "migrated",
        "restored",
        "from snapshot",
        "unpaused",
        "migration canceled",
        "save canceled",
        "event wakeup",
        "crashed",
        "post-copy",
        "post-copy failed",
    ),
    3: (
        "",
        "user",
        "migrating",
        "saving",
        "dumping",
        "I/O error",
        "watchdog",
        "from snapshot",
        "shutting down",
        "creating snapshot",
        "crashed",
        "starting up",
        "post-copy",
        "post-copy failed",
        "API error",
    ),
    4: ("", "user"),
    5: (
        "",
        "shutdown",
        "destroyed",
        "crashed",
        "migrated",
        "saved",
        "failed",
        "from snapshot",
        "daemon",
    ),
    6: ("", "panicked"),
}
"""virDomain...Reason, in virsh's words. libvirt forgets reasons when it restarts."""

_PAUSED_BY_LIBVIRT: Mapping[str, Power] = {
    "migrating": Power.UNKNOWN,
    "saving": Power.UNKNOWN,
    "dumping": Power.UNKNOWN,
    "shutting down": Power.STOPPING,
    "creating snapshot": Power.UNKNOWN,
    "crashed": Power.UNKNOWN,
    "starting up": Power.UNKNOWN,
}
"""Paused on the way to somewhere else: nobody may resume it, and it will not stay."""


def read_state(text: str) -> tuple[Power, str]:
    """Read `domstats --state --raw`: the power, and why it is so."""
    numbers: dict[str, int] = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition("=")
        if value.isdecimal():
            numbers[key] = int(value)
    state = numbers.get("state.state", -1)
    power = _POWERS.get(state, Power.UNKNOWN)
    words = _BECAUSE.get(state, ())
    reason = numbers.get("state.reason", 0)
    because = words[reason] if reason < len(words) else ""
    if power is Power.PAUSED:
        power = _PAUSED_BY_LIBVIRT.get(because, power)
    return power, because
