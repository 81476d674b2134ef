"""libvirt's numbers for the states of a domain and how they came about."""

from dataclasses import dataclass
from enum import IntEnum


class State(IntEnum):
    RUNNING = 1
    PAUSED = 3
    SHUTDOWN = 4
    OFF = 5
    CRASHED = 6
    ASLEEP = 7


@dataclass(frozen=True, slots=True)
class Status:
    """A state and libvirt's reason for it, with the words that virsh has for both."""

    state: State
    reason: int
    word: str
    because: str


BOOTED = Status(State.RUNNING, 1, "running", "booted")
UNPAUSED = Status(State.RUNNING, 5, "running", "unpaused")
WOKEN = Status(State.RUNNING, 8, "running", "wakeup")
STARTING = Status(State.PAUSED, 11, "paused", "starting up")
PAUSED = Status(State.PAUSED, 1, "paused", "user")
LEAVING = Status(State.SHUTDOWN, 1, "in shutdown", "user")
OFF_UNKNOWN = Status(State.OFF, 0, "shut off", "unknown")
OFF = Status(State.OFF, 1, "shut off", "shutdown")
DESTROYED = Status(State.OFF, 2, "shut off", "destroyed")
OFF_CRASHED = Status(State.OFF, 3, "shut off", "crashed")
FAILED = Status(State.OFF, 6, "shut off", "failed")
PANICKED = Status(State.CRASHED, 1, "crashed", "panicked")
ASLEEP = Status(State.ASLEEP, 0, "pmsuspended", "unknown")
