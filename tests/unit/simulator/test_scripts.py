"""The simulator runs the very virsh commands that the real scripts run."""

import os
from pathlib import Path
import subprocess

import pytest

from custom_components.gpu_handoff.tower.commands import HostContext, command_line
from tests.simulator import ALICE, GPU_NODE, Simulator
from tests.simulator.tower.requests import ANSWERERS, Request

SHIM = '#!/bin/sh\nfor word do printf "%s\\n" "$word"; done >>"$RECORD"\n'


def really_said(folder: Path, verb: str, args: tuple[str, ...]) -> list[str]:
    """Run the real script with a virsh that only writes down its words."""
    virsh, record = folder / "virsh", folder / "record"
    virsh.write_text(SHIM)
    virsh.chmod(0o755)
    context = HostContext(virsh=str(virsh), nowait=False)
    subprocess.run(
        ["/bin/sh", "-c", command_line(verb, args, context)],
        env={**os.environ, "RECORD": str(record)},
        check=True,
        capture_output=True,
    )
    assert record.read_text().startswith("-q\n-c\nqemu:///system\n")
    return record.read_text().splitlines()[3:]


def printed(line: str) -> str:
    """Run a line on this machine."""
    return subprocess.run(
        ["/bin/sh", "-c", line], check=True, capture_output=True, text=True
    ).stdout


async def simulated(
    sim: Simulator, verb: str, args: tuple[str, ...]
) -> list[list[str]]:
    sim.tower.virsh_program.record.clear()
    request = Request(
        args=args,
        context=HostContext(),
        host=sim.tower.host,
        virsh=sim.tower.virsh_program,
        bus=sim.tower.bus,
    )
    await ANSWERERS[verb](request)
    return sim.tower.virsh_program.record


async def test_a_refresh_is_one_line_of_the_same_commands(
    sim: Simulator, tmp_path: Path
) -> None:
    (line,) = really_said(tmp_path, "refresh", (GPU_NODE, ALICE))
    real = [part.split() for part in line.split(";")]
    ours = await simulated(sim, "refresh", (GPU_NODE, ALICE))
    assert [" ".join(part) for part in real] == [" ".join(part) for part in ours]


@pytest.mark.parametrize(
    "verb", ["start", "resume", "wake", "shutdown-agent", "shutdown-acpi"]
)
async def test_an_act_is_the_same_command(
    sim: Simulator, tmp_path: Path, verb: str
) -> None:
    assert await simulated(sim, verb, (ALICE,)) == [
        really_said(tmp_path, verb, (ALICE,))
    ]


async def test_hello_has_the_keys_of_the_real_script_in_its_order(
    sim: Simulator,
) -> None:
    context = HostContext()
    real = printed(command_line("hello", (), context))
    request = Request(
        args=(),
        context=context,
        host=sim.tower.host,
        virsh=sim.tower.virsh_program,
        bus=sim.tower.bus,
    )
    ours = (await ANSWERERS["hello"](request)).stdout
    real_keys = [line.split("=")[0] for line in real.splitlines() if "=" in line]
    ours_keys = [line.split("=")[0] for line in ours.splitlines()]
    shared = ["boot_id", "hostname", "uid", "user"]
    assert [key for key in real_keys if key in shared] == shared
    assert [key for key in ours_keys if key in shared] == shared
