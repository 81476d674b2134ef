"""The whole lab: a tower with its guests, and the cluster that one of them belongs to."""

from datetime import datetime
from itertools import islice
import json
import os
from pathlib import Path
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from typing import Any

from . import build, guest_image
from .cast import CAST, GPU_NODE, NODE_NAME, Machine, domain_xml
from .control_plane import ControlPlane, end_control_plane
from .places import HERE, run_folder
from .processes import alive, end, end_inhabitants, spawn
from .requirements import why_not

SSHD_CONFIG = """
Port {port}
ListenAddress 127.0.0.1
HostKey {run}/host_key
AuthorizedKeysFile {run}/authorized_keys
PidFile none
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM no
StrictModes no
PrintMotd no
"""
ORDER = re.compile(
    r"^(\S+ [0-9:.]+\+0000): \d+: debug : (virDomain(?:Create|Shutdown|Destroy|Reset|Resume"
    r"|Suspend|PMWakeup)\w*):\d+ : .*uuid=([0-9a-f-]{36})",
    re.MULTILINE,
)

NODE_KNOBS = {
    "node": NODE_NAME,
    "node_uuid": GPU_NODE.uuid,
    "lease": "2s",
    "gpu_delay": "1s",
}
"""A kubelet renews its lease every 10 s; here every 2 s, so that tests need not wait."""


class Lab:
    """Started and ended as one; several can run, each in its own folder."""

    def __init__(self, run: Path | None = None) -> None:
        self.run = run or run_folder()
        self._state: dict[str, Any] = {}
        if (self.run / "state.json").exists():
            self._state = json.loads((self.run / "state.json").read_text())

    # -- life ---------------------------------------------------------------------------

    def up(self) -> None:
        """Start whatever does not run yet, and wait until the GPU node is usable."""
        if trouble := why_not():
            raise RuntimeError(trouble)
        if not self.is_up:
            self.down()
            self._prepare()
            self.control_plane.start()
            self._start_tower()
        if self.power(GPU_NODE) == "shut off":
            self.virsh("start", GPU_NODE.uuid)
        self.wait_for_node()

    def up_api(self) -> None:
        """Start the API server if a test left it stopped."""
        if not alive(self.run, "apiserver"):
            self.control_plane.start_api()

    def down(self) -> None:
        """End everything that this lab started."""
        end(self.run, "tower")
        end_inhabitants(self.run)
        end_control_plane(self.run)
        shutil.rmtree(self.run, ignore_errors=True)
        self._state = {}

    @property
    def is_up(self) -> bool:
        """Whether tower and API run."""
        names = ("tower", "etcd", "apiserver", "kcm", "scheduler", "cpu1")
        return bool(self._state) and all(alive(self.run, name) for name in names)

    # -- what a person does -------------------------------------------------------------

    def virsh(self, *args: str, check: bool = True) -> str:
        """A person's hand on the tower."""
        virsh = ["virsh", "-q", "-c", "qemu:///system", *args]
        done = subprocess.run(
            [*self.on_tower, *virsh],
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "LC_ALL": "C"},
        )
        if check and done.returncode:
            raise RuntimeError(f"virsh {' '.join(args)}: {done.stderr.strip()}")
        return done.stdout + (done.stderr if not check else "")

    def power(self, machine: Machine) -> str:
        """Virsh's word for a machine's state."""
        return self.virsh("domstate", machine.uuid).strip()

    def define(self, machine: Machine, **knobs: object) -> None:
        """Define a machine anew, with words for its guest."""
        image, _ = guest_image.kernel()
        node = machine is GPU_NODE
        initrd = self.run / "node.img" if node else guest_image.guest_image()
        xml = domain_xml(
            machine,
            kernel=image,
            initrd=initrd,
            emulator=self.run / "emulator",
            console=self.run / f"console-{machine.uuid[0]}.log",
            knobs={**(NODE_KNOBS if node else {}), **knobs},
        )
        file = self.run / f"{machine.uuid}.xml"
        file.write_text(xml)
        self.virsh("define", str(file))

    def orders(self) -> list[tuple[float, str, str]]:
        """What libvirtd was told to do to machines, by its own log: when, call, UUID."""
        text = (self.run / "libvirtd.log").read_text(errors="replace")
        return [
            (datetime.fromisoformat(stamp).timestamp(), call, uuid)
            for stamp, call, uuid in ORDER.findall(text)
        ]

    def restart_libvirtd(self) -> None:
        """Restart the daemon; the machines run on."""
        self._signal(signal.SIGUSR1)
        time.sleep(0.3)
        self._wait_for_libvirt()

    def wait_for_node(self, patience_s: float = 90) -> None:
        """Wait until the GPU node is Ready with both cards."""
        until = time.monotonic() + patience_s
        while time.monotonic() < until:
            if _usable(self.node()):
                return
            time.sleep(0.3)
        raise RuntimeError(f"the GPU node did not come: see {self.run}/console-1.log")

    def node(self) -> dict[str, Any]:
        """The GPU node's object; empty before it has registered."""
        try:
            text = self.control_plane.kubectl("get", "node", NODE_NAME, "-o", "json")
        except RuntimeError:
            return {}
        found: dict[str, Any] = json.loads(text)
        return found

    # -- facts --------------------------------------------------------------------------

    @property
    def control_plane(self) -> ControlPlane:
        """The cluster, run by the binary with which it was started."""
        binary = Path(self._state["kubernetes"])
        return ControlPlane(binary, self.run, self._state["ports"])

    @property
    def on_tower(self) -> list[str]:
        """What to write before a command so that it runs on the tower."""
        tower = alive(self.run, "tower")
        if tower is None:
            raise RuntimeError("the lab's tower does not run")
        return ["nsenter", f"--mount=/proc/{tower}/ns/mnt"]

    @property
    def ssh_port(self) -> int:
        """Where sshd listens."""
        port: int = self._state["ports"]["ssh"]
        return port

    @property
    def private_key(self) -> str:
        """The key that may log in."""
        return (self.run / "user_key").read_text()

    @property
    def host_key(self) -> str:
        """The host's public key, one line."""
        algorithm, data, *_ = (self.run / "host_key.pub").read_text().split()
        return f"{algorithm} {data}"

    @property
    def kubeconfig(self) -> str:
        """An administrator's kubeconfig."""
        return self.control_plane.kubeconfig.read_text()

    # -- parts --------------------------------------------------------------------------

    def _prepare(self) -> None:
        build.everything()
        self.run.mkdir(parents=True, exist_ok=True)
        names = ("ssh", "api", "etcd", "peer", "sim")
        self._state = {
            "ports": dict(zip(names, _free_ports(len(names)), strict=True)),
            "kubernetes": str(build.kubernetes()),
        }
        (self.run / "state.json").write_text(json.dumps(self._state, indent=1))
        for name in ("host_key", "user_key"):
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name]
            subprocess.run([*command, "-f", str(self.run / name)], check=True)
        shutil.copy(self.run / "user_key.pub", self.run / "authorized_keys")
        config = SSHD_CONFIG.format(port=self.ssh_port, run=self.run)
        (self.run / "sshd_config").write_text(config)
        shutil.copy(build.TOWER_HOST / "emulator", self.run / "emulator")
        build.memlock_shim(self.run / "nomemlock.so")

    def _start_tower(self) -> None:
        Path("/run/sshd").mkdir(exist_ok=True)
        self._make_node_image()
        supervisor = HERE / "tower_host/supervisor.py"
        spawn(self.run, "tower", sys.executable, supervisor, self.run)
        self._wait_for_libvirt()
        for machine in CAST:
            self.define(machine)

    def _make_node_image(self) -> None:
        """The node's own kubeconfig reaches the API through QEMU's user network."""
        plane = self.control_plane
        port = self._state["ports"]["api"]
        source = plane.pki / f"node-{NODE_NAME}.kubeconfig"
        inside = f'server: "https://10.0.2.2:{port}", tls-server-name: localhost'
        text, count = re.subn(r'server: "[^"]*"', inside, source.read_text())
        if count != 1:
            raise RuntimeError("the node's kubeconfig looks unlike what pki writes")
        place = self.run / source.name
        place.write_text(text)
        credentials = self.run / "credentials.img"
        guest_image.node_credentials(place, credentials)
        node_image = guest_image.node_image(build.nodesim())
        parts = (guest_image.guest_image(), node_image, credentials)
        (self.run / "node.img").write_bytes(b"".join(p.read_bytes() for p in parts))

    def _wait_for_libvirt(self) -> None:
        until = time.monotonic() + 90
        while time.monotonic() < until:
            if not alive(self.run, "tower"):
                break
            if "qemu:///system" in self.virsh("uri", check=False):
                return
            time.sleep(0.1)
        raise RuntimeError(f"no libvirtd: see {self.run}/tower.log and libvirtd.log")

    def _signal(self, number: signal.Signals) -> None:
        pid = alive(self.run, "tower")
        if pid is not None:
            os.kill(pid, number)


def _usable(node: dict[str, Any]) -> bool:
    status = node.get("status", {})
    ready = any(
        c["type"] == "Ready" and c["status"] == "True"
        for c in status.get("conditions", ())
    )
    return ready and status.get("allocatable", {}).get("nvidia.com/gpu") == "2"


def _free_ports(count: int) -> list[int]:
    """Not from the range of outgoing connections, which would take one that is let go."""
    some = random.sample(range(20_000, 32_000), 1000)
    return list(islice(filter(_is_free, some), count))


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
