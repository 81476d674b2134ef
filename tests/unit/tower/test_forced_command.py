"""An account that may do nothing but our requests."""

import os
from pathlib import Path
import subprocess

import pytest

from custom_components.gpu_handoff.tower.answer import Answer, without_banner
from custom_components.gpu_handoff.tower.commands import (
    VERBS,
    HostContext,
    request_line,
)
from custom_components.gpu_handoff.tower.forced_command import authorized_key, script

from .cast import ALICE
from .shell_host import PASSING_SUDO, ShellHost


@pytest.fixture
def host(tmp_path: Path) -> ShellHost:
    return ShellHost(tmp_path)


def run(
    host: ShellHost, said: str | None, context: HostContext | None = None
) -> Answer:
    """Run the script as sshd does."""
    path = host.root / "gpu-handoff"
    path.write_text(host.here(script(context or HostContext())))
    asked = {"SSH_ORIGINAL_COMMAND": said} if said is not None else {}
    ran = subprocess.run(
        ["/bin/sh", str(path)],
        check=False,
        capture_output=True,
        text=True,
        timeout=30,
        env=os.environ | host.environment | asked,
        stdin=subprocess.DEVNULL,
    )
    said_back = Answer(stdout=ran.stdout, stderr=ran.stderr, exit_status=ran.returncode)
    return without_banner(said_back, "handoff")


@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"events"}))
def test_it_answers_each_request_as_the_host_itself_does(
    host: ShellHost, verb: str
) -> None:
    args = [ALICE] if verb in {"start", "refresh", "resume", "wake"} else []
    forced = run(host, request_line(verb, args))
    ran = host.run(verb, args)
    direct = Answer(stdout=ran.stdout, stderr=ran.stderr, exit_status=ran.returncode)
    assert forced == without_banner(direct, "handoff")


def test_an_order_reaches_virsh(host: ShellHost) -> None:
    run(host, f"shutdown-agent {ALICE}")
    said = f"-q -c qemu:///system shutdown --domain {ALICE} --mode agent"
    assert host.calls == [said]


def test_uri_and_sudo_are_written_into_it(host: ShellHost) -> None:
    sudo = host.program("sudo", PASSING_SUDO)
    run(host, f"start {ALICE}", HostContext(uri="qemu:///x", sudo=str(sudo)))
    assert host.calls[-1] == f"-q -c qemu:///x start --domain {ALICE}"
    assert host.calls[0].startswith("sudo -n")


@pytest.mark.parametrize(
    "said",
    [
        None,
        "",
        "bash",
        "destroy 1",
        f"start {ALICE};id",
        "start --all",
        "start -",
        "start $(id)",
        "start gaming-alice",
        f"start {ALICE} `id`",
        f"start\n{ALICE} X",
        "*",
        "start *",
        "/bin/sh -c id",
        "start 'a'",
    ],
)
def test_anything_else_is_refused_and_nothing_is_run(
    host: ShellHost, said: str | None
) -> None:
    answer = run(host, said)
    assert answer == Answer(stderr="gpu-handoff: no such request\n", exit_status=64)
    assert host.calls == []


def test_it_is_posix(tmp_path: Path) -> None:
    path = tmp_path / "gpu-handoff"
    path.write_text(script(HostContext()))
    ran = subprocess.run(
        ["/bin/sh", "-n", str(path)], check=False, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, "")


def test_the_key_may_do_nothing_else() -> None:
    assert authorized_key("ssh-ed25519 AAAA x", "/usr/local/bin/gpu-handoff") == (
        'restrict,command="/usr/local/bin/gpu-handoff" ssh-ed25519 AAAA x'
    )


def test_the_key_may_reach_the_cluster_where_that_is_wished() -> None:
    line = authorized_key("ssh-ed25519 A", "/x", tunnel_to="127.0.0.1:6443")
    assert line == (
        'restrict,port-forwarding,permitopen="127.0.0.1:6443",command="/x"'
        " ssh-ed25519 A"
    )
