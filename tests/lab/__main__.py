"""`python -m tests.lab up|down|status|shell|build`: what script/lab calls."""

import os
import subprocess
import sys
import time

from . import build
from .cast import CAST
from .lab import Lab
from .requirements import why_not


def main() -> int:
    """Do what the one word says, or say in a line what is in its way."""
    try:
        return _do(Lab(), sys.argv[1] if len(sys.argv) > 1 else "")
    except (RuntimeError, OSError, subprocess.SubprocessError) as err:
        print(f"lab: {err}", file=sys.stderr)
        return 1


def _do(lab: Lab, word: str) -> int:
    if trouble := why_not():
        raise RuntimeError(trouble)
    match word:
        case "build":
            build.everything()
        case "up":
            began = time.monotonic()
            lab.up()
            print(f"lab: up after {time.monotonic() - began:.1f} s; {_address(lab)}")
        case "down":
            lab.down()
            print("lab: down")
        case "status":
            return _status(lab)
        case "shell":
            return _shell(lab)
        case _:
            print("usage: python -m tests.lab up|down|status|shell|build")
            return 2
    return 0


def _address(lab: Lab) -> str:
    key = lab.run / "user_key"
    return f"ssh -p {lab.ssh_port} -i {key} root@127.0.0.1"


def _status(lab: Lab) -> int:
    if not lab.is_up:
        print("lab: down")
        return 1
    print(f"lab: up; {_address(lab)}")
    for machine in CAST:
        print(f"  {machine.name:14} {lab.power(machine)}")
    print(lab.control_plane.kubectl("get", "nodes", "-o", "wide"), end="")
    return 0


def _shell(lab: Lab) -> int:
    """A shell on the tower, with virsh and kubectl ready."""
    if not lab.is_up:
        raise RuntimeError("down; run script/lab up first")
    environment = {
        **os.environ,
        "KUBECONFIG": str(lab.control_plane.kubeconfig),
        "LIBVIRT_DEFAULT_URI": "qemu:///system",
        "PS1": "lab# ",
    }
    print(f"kubectl here is: {lab.control_plane.binary} kubectl")
    command = [*lab.on_tower, "bash", "--norc", "-i"]
    return subprocess.run(command, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
