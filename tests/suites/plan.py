"""Which suites there are, in the order in which they run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
import os
from pathlib import Path
import shutil
import subprocess
import sys

from tests.demo import chromium
from tests.lab.requirements import why_not as why_no_lab

REPOSITORY = Path(__file__).parents[2]
CACHE = REPOSITORY / ".cache"
PRODUCT = "custom_components/gpu_handoff"
PYTHON = sys.executable
# Home Assistant's test plugin blocks sockets, which real SSH and HTTPS on loopback need.
WITHOUT_PLUGIN = ("-p", "no:homeassistant")
PATIENT = "--timeout=300"

type Command = Sequence[str]


@dataclass(frozen=True)
class Suite:
    """A folder of tests. `measured`: it counts for the coverage of the product."""

    name: str
    arguments: tuple[str, ...]
    measured: bool = False
    why_not: Callable[[], str | None] = lambda: None
    prepare: Callable[[], object] = lambda: None


def why_no_browser() -> str | None:
    """Say in a line why there is no browser, and cannot be one."""
    if chromium.executable() or _can_install():
        return None
    return "no Chromium here, and it cannot be installed (needs root and apt-get)"


def _can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def install_browser() -> None:
    """A browser, and a font for the Japanese name of one machine."""
    if chromium.executable():
        return
    print("browser: installing Debian's chromium", flush=True)
    apt = ("apt-get", "-qq", "-o", "DPkg::Lock::Timeout=300")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ("update",),
        ("install", "-y", "--no-install-recommends", "chromium", "fonts-vlgothic"),
    ):
        subprocess.run(
            (*apt, *words), check=True, env=environment, stdout=subprocess.DEVNULL
        )


LINT: dict[str, Command] = {
    "ruff format": (PYTHON, "-m", "ruff", "format", "--check", "--quiet", "."),
    "ruff check": (PYTHON, "-m", "ruff", "check", "--output-format=concise", "."),
    "mypy": (PYTHON, "-m", "mypy"),
}
SUITES = (
    Suite("unit", (*WITHOUT_PLUGIN, "tests/unit"), measured=True),
    Suite("integration", ("tests/integration",), measured=True),
    Suite(
        "contract", (*WITHOUT_PLUGIN, "tests/contract", "-m", "not lab"), measured=True
    ),
    Suite(
        "browser",
        (*WITHOUT_PLUGIN, "tests/browser", PATIENT),
        why_not=why_no_browser,
        prepare=install_browser,
    ),
    Suite(
        "lab",
        (*WITHOUT_PLUGIN, "tests/lab", "tests/contract", "-m", "lab", PATIENT),
        why_not=why_no_lab,
    ),
)
NAMES = ("lint", *(suite.name for suite in SUITES))
