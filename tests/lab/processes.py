"""Processes of the lab: started in the background, ended by the id that was noted."""

import contextlib
import os
from pathlib import Path
import signal
import subprocess
import time


def spawn(run: Path, name: str, *command: object, **environment: str) -> int:
    """Start a process that outlives us; its output goes to a log, its id to a file."""
    run.mkdir(parents=True, exist_ok=True)
    with (run / f"{name}.log").open("ab") as log:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            env={**os.environ, **environment},
        )
    (run / f"{name}.pid").write_text(f"{process.pid} {_born(process.pid)}")
    return process.pid


def alive(run: Path, name: str) -> int | None:
    """The id of a process of ours that still runs."""
    try:
        pid, born = (run / f"{name}.pid").read_text().split()
    except OSError, ValueError:
        return None
    return int(pid) if _born(int(pid)) == born and not _is_zombie(int(pid)) else None


def end(run: Path, name: str, *, kill: bool = False, patience_s: float = 15) -> None:
    """End a process of ours, and wait for its end."""
    pid = alive(run, name)
    if pid is not None:
        os.kill(pid, signal.SIGKILL if kill else signal.SIGTERM)
        until = time.monotonic() + patience_s
        while alive(run, name) and time.monotonic() < until:
            _reap(pid)
            time.sleep(0.02)
        if alive(run, name):
            os.kill(pid, signal.SIGKILL)
    (run / f"{name}.pid").unlink(missing_ok=True)


def inhabitants(run: Path) -> list[int]:
    """Processes that live on this lab's tower: they see its folder as /run/libvirt."""
    ours = run / "libvirt/run"
    return [
        int(folder.name)
        for folder in Path("/proc").iterdir()
        if folder.name.isdigit() and _is_same(folder / "root/run/libvirt", ours)
    ]


def end_inhabitants(run: Path) -> None:
    """End what a tower left: machines, sessions. Our own terminal may be a shell there."""
    for pid in inhabitants(run):
        with contextlib.suppress(ProcessLookupError):
            if os.getsid(pid) != os.getsid(0):
                os.kill(pid, signal.SIGKILL)


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return


def _stat(pid: int) -> list[str]:
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return []
    return text.rpartition(")")[2].split()


def _born(pid: int) -> str:
    """When a process began: an id alone may have been given anew."""
    stat = _stat(pid)
    return stat[19] if stat else ""


def _is_zombie(pid: int) -> bool:
    return _stat(pid)[:1] == ["Z"]
