"""What the lab's guests boot: Debian's cloud kernel and an initramfs of busybox and qemu-ga."""

import gzip
from pathlib import Path
import re
import shutil
import subprocess
import tempfile

from .places import HERE, cache, digest_of

GUEST = HERE / "guest"
MODULES = (
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "virtio_console",
    "evdev",
    "button",
    "pvpanic",
    "failover",
    "net_failover",
    "virtio_net",
)
"""In the order in which they are loaded."""


def kernel() -> tuple[Path, Path]:
    """Debian's cloud kernel, unpacked and not installed: image and modules' folder."""
    folder = cache() / "kernel"
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        _unpack_kernel(folder)
        (folder / "done").touch()
    image = next((folder / "boot").glob("vmlinuz-*"))
    return image, next((folder / "lib/modules").iterdir())


def _unpack_kernel(folder: Path) -> None:
    print("lab: fetching a kernel for the guests", flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        if not _download_kernel(scratch):
            # No package lists yet, or lists that are older than the archive.
            subprocess.run(["apt-get", "-qq", "update"], check=True)
            if not _download_kernel(scratch):
                raise RuntimeError("apt-get found no linux-image-cloud-amd64")
        deb = next(Path(scratch).glob("*.deb"))
        subprocess.run(["dpkg", "-x", str(deb), str(folder)], check=True)


def _download_kernel(scratch: str) -> bool:
    show = ["apt-cache", "depends", "linux-image-cloud-amd64"]
    listed = subprocess.run(show, capture_output=True, text=True, check=False).stdout
    names = re.findall(r"Depends: (linux-image-\S+)", listed)
    options = ["-qq", "-o", "APT::Sandbox::User=root"]
    fetch = ["apt-get", *options, "download", *names[:1]]
    return (
        bool(names) and not subprocess.run(fetch, cwd=scratch, check=False).returncode
    )


def guest_image() -> Path:
    """The initramfs that all guests boot."""
    _, modules = kernel()
    contents = digest_of(*GUEST.iterdir(), Path(__file__))
    target = cache() / f"guest-{contents}.img"
    if not target.exists():
        with tempfile.TemporaryDirectory() as scratch:
            root = Path(scratch)
            _fill_root(root, modules)
            _archive(root, target)
    return target


def node_image(binary: Path) -> Path:
    """What the GPU node has beside it: the stand-in kubelet."""
    target = cache() / f"{binary.name}.img"
    if not target.exists():
        with tempfile.TemporaryDirectory() as scratch:
            place = Path(scratch) / "usr/bin/nodesim"
            place.parent.mkdir(parents=True)
            shutil.copy(binary, place)
            _archive(Path(scratch), target)
    return target


def node_credentials(kubeconfig: Path, target: Path) -> None:
    """A small archive with the node's own kubeconfig."""
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch) / "etc/nodesim" / kubeconfig.name
        place.parent.mkdir(parents=True)
        shutil.copy(kubeconfig, place)
        _archive(Path(scratch), target)


def _fill_root(root: Path, modules: Path) -> None:
    for name in ("bin", "sbin", "usr/sbin", "proc", "sys", "dev", "run", "tmp"):
        (root / name).mkdir(parents=True)
    for name in ("etc/acpi/PWRF", "var", "m", "root"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    applets = subprocess.check_output(["/bin/busybox", "--list"], text=True).split()
    for applet in applets:
        if applet != "busybox":
            (root / "bin" / applet).symlink_to("busybox")
    shutil.copy(GUEST / "init", root / "init")
    shutil.copy(GUEST / "shutdown", root / "sbin/shutdown")
    power_button = root / "etc/acpi/PWRF/00000080"
    power_button.write_text("#!/bin/sh\nexec /sbin/shutdown -h -P +0 acpi\n")
    power_button.chmod(0o755)
    shutil.copy("/usr/sbin/qemu-ga", root / "usr/sbin/qemu-ga")
    listed = subprocess.check_output(["ldd", "/usr/sbin/qemu-ga"], text=True)
    for library in re.findall(r"(/\S+)", listed):
        place = root / library.lstrip("/")
        place.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(library, place)
    (root / "etc/os-release").write_text('NAME="Lab Linux"\nID=lab\nVERSION_ID="1"\n')
    (root / "etc/passwd").write_text("root:x:0:0:root:/root:/bin/sh\n")
    (root / "etc/group").write_text("root:x:0:\n")
    found = [name for name in MODULES if _copy_module(modules, name, root / "m")]
    (root / "m/order").write_text("\n".join(found) + "\n")


def _copy_module(modules: Path, name: str, target: Path) -> bool:
    for spelling in (name, name.replace("_", "-")):
        for file in modules.rglob(f"{spelling}.ko*"):
            if file.suffix == ".xz":
                content = subprocess.check_output(["xz", "-dc", str(file)])
                (target / f"{name}.ko").write_bytes(content)
            else:
                shutil.copy(file, target / f"{name}.ko")
            return True
    return False


def _archive(root: Path, target: Path) -> None:
    names = subprocess.check_output(["find", ".", "-print0"], cwd=root)
    command = ["cpio", "-o", "-0", "-H", "newc", "--quiet"]
    packed = subprocess.run(
        command, cwd=root, input=names, stdout=subprocess.PIPE, check=True
    )
    fresh = Path(f"{target}.new")
    fresh.write_bytes(gzip.compress(packed.stdout, 1))
    fresh.rename(target)
