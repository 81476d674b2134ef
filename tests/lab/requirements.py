"""What the lab needs of a machine."""

from collections.abc import Iterator
from contextlib import contextmanager
import os
from pathlib import Path
import platform
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
    "/usr/bin/xz": "xz-utils",
}
MAY_SERVICES_START = Path("/usr/sbin/policy-rc.d")
"""Debian asks this file before a package starts its service."""


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
    if not _is_debian():
        return "the lab needs Debian (its QEMU, its libvirt, its kernel for the guests)"
    if go() is None:
        return "the lab needs Go, to build Kubernetes"
    if not _may_mount():
        return "the lab needs mount namespaces, which this container forbids"
    return None


def install_missing() -> None:
    """Install the Debian packages that are missing; no service of theirs is started."""
    missing = [name for path, name in PACKAGES.items() if not Path(path).exists()]
    if not missing:
        return
    print(f"lab: installing {', '.join(missing)}", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    quiet = {"stdout": subprocess.DEVNULL, "env": environment}
    install = ["apt-get", "-qq", "install", "-y", "--no-install-recommends", *missing]
    subprocess.run(["apt-get", "-qq", "update"], check=True, **quiet)
    with _no_service_starts():
        subprocess.run(install, check=True, **quiet)


@contextmanager
def _no_service_starts() -> Iterator[None]:
    """A developer wants neither an sshd nor a libvirtd of the whole machine from us."""
    if MAY_SERVICES_START.exists():
        yield
        return
    MAY_SERVICES_START.write_text("#!/bin/sh\nexit 101\n")
    MAY_SERVICES_START.chmod(0o755)
    try:
        yield
    finally:
        MAY_SERVICES_START.unlink()


def _is_debian() -> bool:
    try:
        system = platform.freedesktop_os_release().get("ID")
    except OSError:
        return False
    return system == "debian" and shutil.which("apt-get") is not None


def _may_mount() -> bool:
    trial = ["unshare", "--mount", "mount", "--bind", "/tmp", "/mnt"]
    return not subprocess.run(trial, capture_output=True, check=False).returncode
