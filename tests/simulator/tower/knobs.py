"""How one guest behaves, and how long it takes; in the house's seconds."""

from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Knobs:
    """Everything that can be turned on a guest.

    `start_s`: virsh start. `agent_delay_s`: from there until the agent answers.
    `acpi_delay_s`: a power button pressed earlier is lost. `shutdown_s`: from the request
    until the guest has ended; `stop_s`: from there until libvirt has cleaned up (only then
    are its cards free). `fail_start`: what libvirt says instead of starting it.
    """

    start_s: float = 0.4
    agent_delay_s: float = 5.5
    acpi_delay_s: float = 2.0
    shutdown_s: float = 2.8
    stop_s: float = 1.2
    agent: bool = True
    agent_hung: bool = False
    refuse_shutdown: bool = False
    crash_after_s: float | None = None
    off_after_s: float | None = None
    fail_start: str | None = None
    broken_xml: bool = False
