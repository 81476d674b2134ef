"""What the lab needs of a machine."""

import os
from pathlib import Path
import shutil
import subprocess

PACKAGES = {
    "/usr/bin/qemu-system-x86_64": "qemu-system-x86",
    "/usr/sbin/libvirtd": "libvirt-daemon-system",
    "/usr/bin/virsh": "libvirt-clients",
    "/usr/sbin/sshd": "openssh-server",
    "/usr/sbin/qemu-ga": "qemu-guest-agent",
    "/bin/busybox": "busybox-static",
    "/usr/bin/cpio": "cpio",
    "/usr/bin/gcc": "gcc",
    "/usr/bin/lspci": "pciutils",
}


def go() -> str | None:
    """Where Go is, if it is here."""
    return shutil.which("go") or next(
        (p for p in ("/usr/local/go/bin/go", "/usr/lib/go/bin/go") if Path(p).exists()),
        None,
    )


def why_not() -> str | None:
    """Say in a line why the lab cannot run here; None if it can."""
    if os.geteuid() != 0:
        return "the lab needs root (libvirtd, mount namespaces)"
    if os.uname().machine != "x86_64":
        return "the lab needs an x86-64 machine"
    if go() is None:
        return "the lab needs Go, to build Kubernetes"
    missing = [name for path, name in PACKAGES.items() if not Path(path).exists()]
    if missing and shutil.which("apt-get") is None:
        return f"the lab needs {', '.join(missing)}, and there is no apt-get here"
    return None


def install_missing() -> None:
    """Install the Debian packages that are missing. Services of theirs are not started."""
    missing = [name for path, name in PACKAGES.items() if not Path(path).exists()]
    if not missing:
        return
    print(f"lab: installing {', '.join(missing)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"stdout": subprocess.DEVNULL, "env": environment}
    subprocess.run(["apt-get", "-qq", "update"], check=True, **quiet)
    subprocess.run(
        ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing],
        check=True,
        **quiet,
    )
