"""Runs suites as processes, and ends them so that they can end what they started."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
import os
from pathlib import Path
import signal
import subprocess

from tests.lab.lab import Lab

from .plan import CACHE, LINT, PRODUCT, PYTHON, REPOSITORY, SUITES, Command, Suite
from .tally import Tally

ON_CI = os.environ.get("CI", "").lower() in ("1", "true", "yes")
LIMIT_S = 25 * 60
GOODBYE_S = 90


def lint(tally: Tally) -> None:
    """Run the checks that need no test."""
    for name, command in LINT.items():
        print(f"\n--- lint: {name}", flush=True)
        if subprocess.run(command, cwd=REPOSITORY, check=False).returncode:
            tally.trouble(f"lint: {name} (above)")
        else:
            tally.passed += 1


def suite(which: Suite, more: Sequence[str], tally: Tally) -> None:
    """Run one suite, or say why not; on CI nothing may be left out."""
    print(f"\n--- {which.name}", flush=True)
    if reason := which.why_not():
        print(f"{which.name}: skipped: {reason}")
        tally.skipped += 1
        if ON_CI:
            tally.trouble(f"{which.name}: {reason}; on CI that is a failure")
        return
    which.prepare()
    report = CACHE / "reports" / f"{which.name}.xml"
    report.unlink(missing_ok=True)
    environment = dict(os.environ)
    command = [PYTHON, "-m", "pytest", *which.arguments, f"--junitxml={report}"]
    if which.measured:
        command += [f"--cov={PRODUCT}", "--cov-branch", "--cov-report="]
        (CACHE / "coverage").mkdir(parents=True, exist_ok=True)
        environment["COVERAGE_FILE"] = str(CACHE / "coverage" / which.name)
    code = _pytest([*command, *more], environment)
    if code is None:
        tally.trouble(f"{which.name}: not done after {LIMIT_S} s")
    else:
        tally.add(which.name, report, code)


def _pytest(command: Command, environment: Mapping[str, str]) -> int | None:
    """Run pytest; whatever ends it early lets it clear up. None: too slow."""
    process = subprocess.Popen(
        command, cwd=REPOSITORY, env=environment, start_new_session=True
    )
    try:
        return process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(GOODBYE_S)
            except subprocess.TimeoutExpired:
                process.kill()


def coverage(tally: Tally) -> None:
    """All branches of the heart, and more than 95 % of the rest."""
    print("\n--- coverage", flush=True)
    tool = (PYTHON, "-m", "coverage")
    data = [str(CACHE / "coverage" / each.name) for each in SUITES if each.measured]
    there = [file for file in data if Path(file).exists()]
    subprocess.run(
        (*tool, "combine", "--keep", "-q", *there), cwd=REPOSITORY, check=False
    )
    parts = (
        ("the heart", f"--include={PRODUCT}/handoff/*", 100),
        ("the rest", f"--omit={PRODUCT}/handoff/*", 95),
    )
    for what, which, least in parts:
        words = (*tool, "report", which, f"--fail-under={least}")
        if subprocess.run(words, cwd=REPOSITORY, check=False).returncode:
            tally.trouble(f"coverage of {what} is below {least} %")
        else:
            tally.passed += 1


@contextmanager
def lab_in_background(tally: Tally) -> Iterator[Callable[[], None]]:
    """Build the lab's binaries beside the other suites: cold, it takes minutes.

    What is given waits for it. At the end the lab is as it was before.
    """
    was_up = Lab().is_up
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
        if not was_up:
            Lab().down()
