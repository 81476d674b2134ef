"""The host's own traits: who logs in, which tools it has, what libvirt thinks of it."""

from dataclasses import dataclass, field
from enum import Enum
import uuid


class Libvirt(Enum):
    """How the system daemon answers the user who logged in."""

    RUNNING = "running"
    STOPPED = "stopped"
    NO_PERMISSION = "no permission"
    NO_POLKIT_AGENT = "no polkit agent"


class Shell(Enum):
    """The login shell: what it does with a line before our own script runs."""

    POSIX = "sh"
    FISH = "fish"
    TCSH = "tcsh"
    NOLOGIN = "nologin"


@dataclass(frozen=True, slots=True)
class OpenDevice:
    """A process of the host that has a card's device node open."""

    node: str
    pid: int
    command: str


@dataclass(slots=True, kw_only=True)
class Host:
    """Everything here may be changed while it runs.

    `virsh`: where it is, None if it is not installed. `sudo`: a sudo that really is setuid,
    `powerless_sudo`: one that is not. `banner`: junk that the shell's profile prints.
    """

    machine_id: str = "5a1f0c9e7d3b4e62a8c4d0e1f2b3a495"
    boot_id: str = field(default_factory=lambda: str(uuid.uuid4()))
    hostname: str = "tower"
    user: str = "handoff"
    uid: int = 1000
    shell: Shell = Shell.POSIX
    banner: str = ""
    libvirt: Libvirt = Libvirt.RUNNING
    virsh: str | None = "/usr/bin/virsh"
    virsh_version: str = "9.0.0"
    virsh_has_nowait: bool = True
    sudo: str | None = "/usr/bin/sudo"
    powerless_sudo: str | None = None
    sudo_wants_password: bool = False
    sockets: tuple[str, ...] = (
        "/run/libvirt/libvirt-sock",
        "/var/run/libvirt/libvirt-sock",
    )
    has_timeout: bool = True
    has_lspci: bool = True
    kubeconfig: str | None = None
    kubeconfig_for_root_only: bool = True
    opened: list[OpenDevice] = field(default_factory=list)
