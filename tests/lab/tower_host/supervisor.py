"""First process of the lab's tower: own /dev, own PCI bus, own libvirt folders, then services.

Usage: supervisor.py FOLDER. Everything it sees of libvirt and of the bus lies below FOLDER;
the machine's own is neither read nor changed. It starts libvirtd and sshd and reaps what they
leave behind (QEMU forks twice, and libvirtd waits for zombies). SIGUSR1 restarts libvirtd,
SIGUSR2 stops it until the next SIGUSR1; SIGTERM ends everything that runs here.
"""

import ctypes
import os
from pathlib import Path
import shutil
import signal
import subprocess
import sys

from pci_bus import make_bus

LIBC = ctypes.CDLL(None, use_errno=True)
NEW_MOUNTS, PRIVATE, RECURSIVE, BIND = 0x20000, 0x40000, 0x4000, 0x1000
SUBREAPER = 36

HIDDEN = {
    "/run/libvirt": "libvirt/run",
    "/etc/libvirt": "libvirt/etc",
    "/var/lib/libvirt": "libvirt/lib",
    "/var/log/libvirt": "libvirt/log",
    "/var/cache/libvirt": "libvirt/cache",
}
QEMU_CONF = """
stdio_handler = "file"
user = "root"
group = "root"
security_driver = "none"
dynamic_ownership = 0
remember_owner = 0
cgroup_controllers = [ ]
namespaces = [ ]
max_core = 0
"""
LIBVIRTD_CONF = """
log_filters="1:libvirt.domain 3:remote 3:util.json 3:rpc 3:event"
log_outputs="1:file:{folder}/libvirtd.log"
auth_unix_ro = "none"
auth_unix_rw = "none"
"""


def check(result: int, what: str) -> None:
    """Raise what the C library said."""
    if result:
        raise OSError(ctypes.get_errno(), what)


def bind(source: Path | str, target: Path | str) -> None:
    """Let `source` be seen at `target`."""
    args = (str(source).encode(), str(target).encode(), None, BIND | RECURSIVE, None)
    check(LIBC.mount(*args), f"bind {source} on {target}")


def make_own_dev(folder: Path) -> None:
    """A /dev with /dev/vfio, and without /dev/kvm, on which such a guest would hang."""
    dev = folder / "dev"
    dev.mkdir(exist_ok=True)
    check(LIBC.mount(b"tmpfs", str(dev).encode(), b"tmpfs", 0, b"mode=755"), "tmpfs")
    for name in ("null", "zero", "full", "random", "urandom", "tty", "ptmx"):
        if Path("/dev", name).exists():
            (dev / name).touch()
            bind(Path("/dev", name), dev / name)
    for name in ("pts", "shm"):
        (dev / name).mkdir()
        bind(Path("/dev", name), dev / name)
    (dev / "fd").symlink_to("/proc/self/fd")
    (dev / "vfio").mkdir()
    bind(folder / "bus/vfio", dev / "vfio")
    bind(dev, "/dev")


def set_up(folder: Path) -> None:
    """Make the private view of this machine."""
    check(LIBC.prctl(SUBREAPER, 1, 0, 0, 0), "subreaper")
    shutil.rmtree(folder / "bus", ignore_errors=True)
    make_bus(folder / "bus")
    check(LIBC.unshare(NEW_MOUNTS), "unshare")
    check(LIBC.mount(b"none", b"/", None, RECURSIVE | PRIVATE, None), "private")
    for place, name in HIDDEN.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        Path(place).mkdir(parents=True, exist_ok=True)
        bind(folder / name, place)
    for name in ("/root/.bashrc", "/root/.profile", "/root/.bash_profile"):
        if Path(name).exists():
            bind("/dev/null", name)
    Path("/etc/libvirt/qemu.conf").write_text(QEMU_CONF)
    Path("/etc/libvirt/libvirtd.conf").write_text(LIBVIRTD_CONF.format(folder=folder))
    bind(folder / "bus/pci", "/sys/bus/pci")
    bind(folder / "bus/iommu_groups", "/sys/kernel/iommu_groups")
    make_own_dev(folder)


class Services:
    """libvirtd and sshd."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._shim = folder / "nomemlock.so"
        self.libvirtd: subprocess.Popen[bytes] | None = None
        self.sshd = self._spawn(
            "/usr/sbin/sshd", "-D", "-e", "-f", str(folder / "sshd_config")
        )

    def _spawn(self, *command: str, **more: str) -> subprocess.Popen[bytes]:
        log = (self._folder / f"{Path(command[0]).name}.out").open("ab")
        environment = {**os.environ, **more}
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
        )

    def start_libvirtd(self) -> None:
        """Start it if it does not run."""
        if self.libvirtd is None:
            shim = {"LD_PRELOAD": str(self._shim)} if self._shim.exists() else {}
            # Its usual place is shared with the machine's own, and with other labs.
            pid_file = str(self._folder / "libvirtd.pidfile")
            daemon = ("/usr/sbin/libvirtd", "-f", "/etc/libvirt/libvirtd.conf")
            self.libvirtd = self._spawn(*daemon, "-p", pid_file, **shim)

    def stop_libvirtd(self) -> None:
        """Stop it; the machines run on."""
        if self.libvirtd is not None:
            self.libvirtd.terminate()
            self.libvirtd.wait()
            self.libvirtd = None

    def end(self) -> None:
        """End both at once: a libvirtd at work takes its time, and its state goes anyway."""
        for process in (self.libvirtd, self.sshd):
            if process is not None:
                process.kill()
                process.wait()


def reap(services: Services) -> None:
    """Take in every child that has ended; Popen takes in its own."""
    own = {p.pid: p for p in (services.libvirtd, services.sshd) if p}
    while True:
        try:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:
            return
        if ended is None:
            return
        if ended.si_pid in own:
            own[ended.si_pid].wait()
        else:
            os.waitpid(ended.si_pid, 0)


def end_machines(folder: Path) -> None:
    """End the QEMU processes that this lab started: their pid files are ours."""
    for file in (folder / "libvirt/run/qemu").glob("*.pid"):
        try:
            os.kill(int(file.read_text()), signal.SIGKILL)
        except ValueError, ProcessLookupError:
            continue


def main() -> None:
    """Run until SIGTERM."""
    folder = Path(sys.argv[1])
    signals = {signal.SIGCHLD, signal.SIGUSR1, signal.SIGUSR2, signal.SIGTERM}
    set_up(folder)
    services = Services(folder)
    services.start_libvirtd()
    signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    while True:
        got = signal.sigtimedwait(signals, 1.0)
        number = got.si_signo if got else 0
        if number == signal.SIGTERM:
            break
        if number in (signal.SIGUSR1, signal.SIGUSR2):
            services.stop_libvirtd()
        if number == signal.SIGUSR1:
            services.start_libvirtd()
        reap(services)
    services.end()
    end_machines(folder)


if __name__ == "__main__":
    main()
