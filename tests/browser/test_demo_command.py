"""What somebody meets who types script/demo."""

from collections.abc import Iterator
from pathlib import Path
import re
import signal
import subprocess
import urllib.request

import pytest

from tests.demo.home_assistant import free_port

DEMO = Path(__file__).parents[2] / "script" / "demo"
START_S = 240


def _children(pid: int) -> Iterator[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children")
    for child in map(int, listed.read_text().split()):
        yield child
        yield from _children(child)


def test_once_makes_a_handover_and_a_return() -> None:
    done = subprocess.run(
        [DEMO, "--once"], check=False, capture_output=True, text=True, timeout=START_S
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for word in ("draining", "starting_vm", "uncordoning", "the end state is right"):
        assert word in done.stdout


def test_ctrl_c_ends_everything_that_was_started() -> None:
    with subprocess.Popen(
        [DEMO, "--port", str(free_port())], stdout=subprocess.PIPE, text=True
    ) as demo:
        assert demo.stdout is not None
        said = ""
        while "ready: " not in said:
            line = demo.stdout.readline()
            assert line, f"it ended: {said}"
            said += line
        (address,) = re.findall(r"http://\S+", said)
        with urllib.request.urlopen(address) as page:
            assert page.status == 200
        children = list(_children(demo.pid))
        (folder,) = {found for pid in children for found in _folders_of(pid)}
        assert folder.exists()
        demo.send_signal(signal.SIGINT)
        assert demo.wait(timeout=90) == 0
    assert children
    assert [pid for pid in children if Path(f"/proc/{pid}").exists()] == []
    assert not folder.exists()


def test_a_port_that_is_taken_is_said_so() -> None:
    with subprocess.Popen(
        ["python3", "-m", "http.server", "--bind", "127.0.0.1", "0"],
        stdout=subprocess.PIPE,
        text=True,
        env={"PYTHONUNBUFFERED": "1", "PATH": "/usr/bin:/bin"},
    ) as other:
        assert other.stdout is not None
        found = re.search(r"port (\d+)", other.stdout.readline())
        assert found
        done = subprocess.run(
            [DEMO, "--port", found[1]],
            check=False,
            capture_output=True,
            text=True,
            timeout=START_S,
        )
        other.kill()
    assert done.returncode == 1
    assert f"port {found[1]} cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def _folders_of(pid: int) -> Iterator[Path]:
    """Configuration folders that a process was started with."""
    for word in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
        if "gpu-handoff-demo-" in word:
            yield Path(word)


@pytest.fixture(autouse=True)
def needs_chromium() -> None:
    """Not needed here."""
