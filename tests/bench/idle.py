"""What watching an idle tower costs it, against polling each machine with new connections."""

import argparse
import asyncio
import os
from pathlib import Path

from custom_components.gpu_handoff.tower.ssh import Connection, Credentials
from custom_components.gpu_handoff.tower.tower import Tower
from tests.lab.cast import CAST
from tests.lab.lab import Lab
from tests.lab.processes import alive

POLL_EVERY_S = 10.0
TICKS = os.sysconf("SC_CLK_TCK")


async def measure(options: argparse.Namespace) -> dict[str, float]:
    """Watch, then poll, for the same time; a refresh and a rotation fall into the first."""
    lab = Lab()
    await asyncio.to_thread(lab.up)
    seconds = options.idle_minutes * 60
    watching = await _watch(lab, seconds)
    polling = await _poll(lab, seconds)
    return {
        "idle_cpu_watching_s": watching,
        "idle_cpu_polling_s": polling,
        "idle_cpu_vs_polling": watching / polling,
    }


async def _watch(lab: Lab, seconds: float) -> float:
    connection = Connection(
        Credentials(
            host="127.0.0.1",
            port=lab.ssh_port,
            username="root",
            host_key=lab.host_key,
            private_key=lab.private_key,
        )
    )
    tower = Tower(
        connection,
        on_change=lambda: None,
        safety_refresh_s=min(300.0, seconds * 0.5),
        rotate_s=seconds * 0.6,
    )
    running = asyncio.create_task(tower.run())
    await asyncio.sleep(5)
    before = _cpu_s(lab)
    await asyncio.sleep(seconds)
    used = _cpu_s(lab) - before
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    await tower.close()
    return used


async def _poll(lab: Lab, seconds: float) -> float:
    key = ["-i", str(lab.run / "user_key"), "-p", str(lab.ssh_port)]
    quiet = ["-q", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"]
    known = ["-o", "UserKnownHostsFile=/dev/null", "root@127.0.0.1"]
    before = _cpu_s(lab)
    loop = asyncio.get_running_loop()
    until = loop.time() + seconds
    while loop.time() < until:
        round_began = loop.time()
        for machine in CAST:
            question = ["virsh", "-q", "-c", "qemu:///system", "domstate", machine.uuid]
            process = await asyncio.create_subprocess_exec(
                "ssh",
                *key,
                *quiet,
                *known,
                *question,
                stdout=asyncio.subprocess.DEVNULL,
            )
            await process.wait()
        await asyncio.sleep(max(0.0, POLL_EVERY_S - (loop.time() - round_began)))
    await asyncio.sleep(1)
    return _cpu_s(lab) - before


def _cpu_s(lab: Lab) -> float:
    """CPU of the lab's sshd and libvirtd with all their children, but not the guests'."""
    root = alive(lab.run, "tower") or 0
    guest = str(lab.run / "emulator")
    total = 0
    for pid, stat in _below(root).items():
        if _name(pid) != guest and pid != root:
            total += sum(int(stat[i]) for i in (11, 12, 13, 14))
    return total / TICKS


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().split("\0")[0]
    except OSError:
        return ""


def _below(root: int) -> dict[int, list[str]]:
    """Every process of this tree, with its numbers from /proc/PID/stat."""
    stats: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text()
            except OSError:
                continue
            stats[int(folder.name)] = text.rpartition(")")[2].split()
    inside, grown = {root}, True
    while grown:
        more = {p for p, s in stats.items() if int(s[1]) in inside} - inside
        inside |= more
        grown = bool(more)
    return {pid: stats[pid] for pid in inside if pid in stats}
