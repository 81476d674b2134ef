"""What script/test runs: each suite in a process of its own, one total at the end."""

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
import os
from pathlib import Path
import shutil
import subprocess
import sys
import time
from xml.etree import ElementTree as ET

from tests.demo import chromium
from tests.lab.requirements import why_not as why_no_lab

REPOSITORY = Path(__file__).parents[1]
CACHE = REPOSITORY / ".cache"
PRODUCT = "custom_components/gpu_handoff"
ON_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
LIMIT_S = 25 * 60
PYTHON = sys.executable
PYTEST = (PYTHON, "-m", "pytest")
# Home Assistant's test plugin blocks sockets, which real SSH and HTTPS on loopback need.
WITHOUT_PLUGIN = ("-p", "no:homeassistant")

type Command = Sequence[str]


@dataclass
class Tally:
    """How many tests ended how; a lint command counts as a test."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    troubles: list[str] = field(default_factory=list)

    def trouble(self, what: str) -> None:
        """Count something that went wrong, and say it again at the end."""
        self.failed += 1
        self.troubles.append(what)

    def closing_line(self, seconds: float) -> str:
        """The total, as pytest writes it."""
        counts = {
            "failed": self.failed,
            "passed": self.passed,
            "skipped": self.skipped,
        }
        words = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
        return f" {words or 'no tests ran'} in {seconds:.2f}s ".center(79, "=")


@dataclass(frozen=True)
class Suite:
    """A folder of tests. `measured`: it counts for the coverage of the product."""

    name: str
    arguments: tuple[str, ...]
    measured: bool = False
    why_not: Callable[[], str | None] = lambda: None
    prepare: Callable[[], object] = lambda: None


LINT: dict[str, Command] = {
    "ruff format": (PYTHON, "-m", "ruff", "format", "--check", "--quiet", "."),
    "ruff check": (PYTHON, "-m", "ruff", "check", "--output-format=concise", "."),
    "mypy": (PYTHON, "-m", "mypy"),
}


def _why_no_browser() -> str | None:
    if chromium.executable() or _can_install():
        return None
    return "no Chromium here, and it cannot be installed (needs root and apt-get)"


def _can_install() -> bool:
    return os.geteuid() == 0 and shutil.which("apt-get") is not None


def _install_browser() -> None:
    """A browser, and a font for the Japanese name of one machine."""
    if chromium.executable():
        return
    print("browser: installing Debian's chromium", flush=True)
    apt = ("apt-get", "-qq")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for words in (
        ("update",),
        ("install", "-y", "--no-install-recommends", "chromium", "fonts-vlgothic"),
    ):
        subprocess.run(
            (*apt, *words), check=True, env=environment, stdout=subprocess.DEVNULL
        )


SUITES = (
    Suite("unit", (*WITHOUT_PLUGIN, "tests/unit"), measured=True),
    Suite("integration", ("tests/integration",), measured=True),
    Suite(
        "contract", (*WITHOUT_PLUGIN, "tests/contract", "-m", "not lab"), measured=True
    ),
    Suite(
        "browser",
        (*WITHOUT_PLUGIN, "tests/browser", "--timeout=300"),
        why_not=_why_no_browser,
        prepare=_install_browser,
    ),
    Suite(
        "lab",
        (*WITHOUT_PLUGIN, "tests/lab", "tests/contract", "-m", "lab", "--timeout=300"),
        why_not=why_no_lab,
    ),
)
NAMES = ("lint", *(suite.name for suite in SUITES))


def main() -> int:
    """Run what is named, or everything."""
    parser = argparse.ArgumentParser(
        prog="script/test",
        usage="script/test [lint|unit|integration|contract|browser|lab ...] [-- PYTEST...]",
        description="Checks the project. Without names: everything, and the coverage.",
        epilog="Where a machine cannot run the lab or a browser those tests are skipped"
        " with a line that says why; with CI=true that is a failure. What follows -- goes"
        " to pytest.",
    )
    parser.add_argument("names", nargs="*", metavar="suite")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    names = parser.parse_args(given[:cut]).names or NAMES
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    more = given[cut + 1 :]

    began, tally = time.monotonic(), Tally()
    wanted = [suite for suite in SUITES if suite.name in names]
    with _lab_is_built(wanted, tally) as built:
        if "lint" in names:
            _lint(tally)
        for suite in wanted:
            _run_suite(suite, more, tally, built)
    if not more and {s.name for s in SUITES if s.measured} <= set(names):
        _coverage(tally)
    return _close(tally, time.monotonic() - began)


def _close(tally: Tally, seconds: float) -> int:
    print()
    for what in tally.troubles:
        print(f"FAILED {what}")
    print(tally.closing_line(seconds), flush=True)
    return 1 if tally.failed else 0


def _lint(tally: Tally) -> None:
    for name, command in LINT.items():
        print(f"\n--- lint: {name}", flush=True)
        if subprocess.run(command, cwd=REPOSITORY, check=False).returncode:
            tally.trouble(f"lint: {name} (above)")
        else:
            tally.passed += 1


def _run_suite(
    suite: Suite, more: Sequence[str], tally: Tally, built: Callable[[], None]
) -> None:
    print(f"\n--- {suite.name}", flush=True)
    if reason := suite.why_not():
        print(f"{suite.name}: skipped: {reason}")
        tally.skipped += 1
        if ON_CI:
            tally.trouble(f"{suite.name}: {reason}; on CI that is a failure")
        return
    suite.prepare()
    if suite.name == "lab":
        built()
    report = CACHE / "reports" / f"{suite.name}.xml"
    report.unlink(missing_ok=True)
    environment = dict(os.environ)
    command = [*PYTEST, *suite.arguments, f"--junitxml={report}"]
    if suite.measured:
        command += [f"--cov={PRODUCT}", "--cov-branch", "--cov-report="]
        (CACHE / "coverage").mkdir(parents=True, exist_ok=True)
        environment["COVERAGE_FILE"] = str(CACHE / "coverage" / suite.name)
    try:
        code = subprocess.run(
            [*command, *more],
            cwd=REPOSITORY,
            env=environment,
            check=False,
            timeout=LIMIT_S,
        ).returncode
    except subprocess.TimeoutExpired:
        tally.trouble(f"{suite.name}: not done after {LIMIT_S} s")
        return
    _count(suite.name, report, code, tally)


def _count(name: str, report: Path, code: int, tally: Tally) -> None:
    """Add up what pytest noted; a suite without tests is a mistake."""
    before = tally.failed
    for case in _cases(report):
        kinds = {child.tag for child in case}
        if kinds & {"failure", "error"}:
            tally.trouble(f"{name}: {case.get('classname')}::{case.get('name')}")
        elif "skipped" in kinds:
            tally.skipped += 1
        else:
            tally.passed += 1
    if code and tally.failed == before:
        tally.trouble(f"{name}: pytest ended with code {code}")


def _cases(report: Path) -> Iterator[ET.Element]:
    if report.exists():
        yield from ET.parse(report).iter("testcase")


def _coverage(tally: Tally) -> None:
    """All branches of the heart, and more than 95 % of the rest."""
    print("\n--- coverage", flush=True)
    coverage = (PYTHON, "-m", "coverage")
    data = [str(CACHE / "coverage" / suite.name) for suite in SUITES if suite.measured]
    there = [file for file in data if Path(file).exists()]
    subprocess.run(
        (*coverage, "combine", "--keep", "-q", *there), cwd=REPOSITORY, check=False
    )
    parts = (
        ("the heart", f"--include={PRODUCT}/handoff/*", 100),
        ("the rest", f"--omit={PRODUCT}/handoff/*", 95),
    )
    for what, which, least in parts:
        words = (*coverage, "report", which, f"--fail-under={least}")
        if subprocess.run(words, cwd=REPOSITORY, check=False).returncode:
            tally.trouble(f"coverage of {what} is below {least} %")
        else:
            tally.passed += 1


@contextmanager
def _lab_is_built(
    wanted: Sequence[Suite], tally: Tally
) -> Iterator[Callable[[], None]]:
    """Build the lab's binaries beside the other suites: cold, it takes minutes."""
    needs = any(suite.name == "lab" for suite in wanted) and not why_no_lab()
    if not needs:
        yield lambda: None
        return
    log = CACHE / "lab-build.log"
    log.parent.mkdir(exist_ok=True)
    with log.open("w") as output:
        building = subprocess.Popen(
            ("nice", "-n", "19", PYTHON, "-m", "tests.lab", "build"),
            cwd=REPOSITORY,
            stdout=output,
            stderr=subprocess.STDOUT,
        )

    def wait() -> None:
        if building.wait():
            print("\n".join(log.read_text().splitlines()[-30:]))
            tally.trouble("lab: its binaries could not be built (above)")

    try:
        yield wait
    finally:
        building.terminate()
        building.wait()


sys.exit(main())
