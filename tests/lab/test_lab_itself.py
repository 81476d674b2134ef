"""The lab keeps to itself: several run beside each other, and one leaves nothing behind."""

import os
from pathlib import Path
import signal

import pytest

from . import requirements
from .cast import ALICE, CAST, GPU_NODE
from .control_plane import PARTS
from .lab import Lab
from .processes import alive, inhabitants

pytestmark = pytest.mark.lab

LIBVIRT_OF_THE_MACHINE = ("/run/libvirt", "/etc/libvirt", "/var/lib/libvirt")


def test_a_lab_ends_whole_even_when_its_tower_was_killed(
    lab: Lab, tmp_path: Path
) -> None:
    machine_before = libvirt_of_the_machine()
    second = Lab(tmp_path / "run")
    try:
        second.up()
        neighbours = (lab.power(GPU_NODE), second.power(GPU_NODE))
        refusal = second.virsh("start", ALICE.uuid, check=False)
        parts = [alive(second.run, part) for part in PARTS]
        processes = {*inhabitants(second.run), *filter(None, parts)}
        tower = alive(second.run, "tower")
        assert tower is not None
        os.kill(tower, signal.SIGKILL)
    finally:
        second.down()

    assert neighbours == ("running", "running")
    assert "0000:01:00.0 is in use by driver QEMU, domain gpu-node" in refusal
    assert len(processes) >= len(("supervisor", "libvirtd", "sshd", "QEMU", *PARTS))
    assert {pid for pid in processes if runs(pid)} == set()
    assert not second.run.exists()
    assert lab.is_up
    assert libvirt_of_the_machine() == machine_before


def test_a_lab_that_was_ended_can_be_ended_again(tmp_path: Path) -> None:
    Lab(tmp_path / "never").down()


def test_where_it_cannot_run_it_says_why_in_one_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    why = requirements.why_not()
    assert why is not None
    assert "root" in why
    assert "\n" not in why


def libvirt_of_the_machine() -> dict[str, int]:
    """Files of the machine's own libvirt that are called like a machine of the cast."""
    return {
        str(file): file.lstat().st_mtime_ns
        for folder in LIBVIRT_OF_THE_MACHINE
        for machine in CAST
        for file in Path(folder).rglob(f"*{machine.name}*")
    }


def runs(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return text.rpartition(")")[2].split()[0] != "Z"
