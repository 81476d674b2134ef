"""Builds what the lab runs: the Kubernetes binaries, and what its guests boot."""

from collections.abc import Iterator
from contextlib import contextmanager
import fcntl
import os
from pathlib import Path
import subprocess

from .guest_image import guest_image, kernel, node_image
from .places import HERE, cache, digest_of
from .requirements import go, install_missing

KUBERNETES = HERE / "kubernetes"
TOWER_HOST = HERE / "tower_host"


def kubernetes() -> Path:
    """The control plane's binary; about five minutes the first time."""
    return _go_build("k8slab", "grpcnotrace,notest")


def nodesim() -> Path:
    """The stand-in kubelet alone, static, for the guest."""
    return _go_build("nodesim", "node,grpcnotrace,notest")


def _go_build(name: str, tags: str) -> Path:
    target = cache() / f"{name}-{digest_of(*KUBERNETES.iterdir())}"
    if target.exists():
        return target
    compiler = go() or "go"
    print(f"lab: building {name} (minutes the first time)", flush=True)
    listing = [compiler, "list", "-m", "-f", "{{.Version}}", "k8s.io/kubernetes"]
    version = subprocess.check_output(listing, cwd=KUBERNETES, text=True).strip()
    stamps = [f"-X main.simVersion={version.removeprefix('v')}"]
    for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version"):
        stamps += [
            f"-X {package}.gitVersion={version}",
            f"-X {package}.gitCommit=lab",
            f"-X {package}.gitTreeState=clean",
            f"-X {package}.buildDate=2026-01-01T00:00:00Z",
        ]
    subprocess.run(
        [
            *(compiler, "build", "-trimpath", "-tags", tags),
            *("-ldflags", " ".join(["-s", "-w", *stamps])),
            *("-o", f"{target}.new", "."),
        ],
        cwd=KUBERNETES,
        check=True,
        env={**os.environ, "CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"},
    )
    Path(f"{target}.new").rename(target)
    return target


def memlock_shim(target: Path) -> None:
    """The shim for sandboxes that may not raise RLIMIT_MEMLOCK."""
    source = TOWER_HOST / "nomemlock.c"
    command = ["gcc", "-shared", "-fPIC", "-O1", "-o", str(target), str(source), "-ldl"]
    subprocess.run(command, check=True)


def everything() -> None:
    """Build all of it, so that a later start is quick."""
    with _alone():
        install_missing()
        kubernetes()
        kernel()
        guest_image()
        node_image(nodesim())


@contextmanager
def _alone() -> Iterator[None]:
    """Two that build at once would write the same files; the second finds them done."""
    with (cache() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
