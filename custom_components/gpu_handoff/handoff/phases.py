"""The steps that an operation can be in, and how long each may take."""

from enum import StrEnum


class Phase(StrEnum):
    """A step of an operation, in the order in which a handover passes them."""

    IDLE = "idle"
    QUEUED = "queued"
    CHECKING = "checking"
    CORDONING = "cordoning"
    DRAINING = "draining"
    WAITING_FOR_AGENT = "waiting_for_agent"
    STOPPING_NODE = "stopping_node"
    STARTING_VM = "starting_vm"
    WAITING_UNTIL_READY = "waiting_until_ready"
    STOPPING_VM = "stopping_vm"
    GRACE = "grace"
    STARTING_NODE = "starting_node"
    WAITING_FOR_NODE = "waiting_for_node"
    WAITING_FOR_GPUS = "waiting_for_gpus"
    UNCORDONING = "uncordoning"
    ROLLING_BACK = "rolling_back"


DEADLINES_S: dict[Phase, float] = {
    Phase.QUEUED: 600,
    Phase.CHECKING: 30,
    Phase.CORDONING: 30,
    Phase.DRAINING: 600,
    Phase.WAITING_FOR_AGENT: 120,
    Phase.STOPPING_NODE: 300,
    Phase.STARTING_VM: 120,
    Phase.WAITING_UNTIL_READY: 180,
    Phase.STOPPING_VM: 300,
    Phase.GRACE: 30,
    Phase.STARTING_NODE: 120,
    Phase.WAITING_FOR_NODE: 300,
    Phase.WAITING_FOR_GPUS: 300,
    Phase.UNCORDONING: 30,
    Phase.ROLLING_BACK: 30,
}
"""Seconds. What happens at each deadline is decided in `decide`; options override these."""
