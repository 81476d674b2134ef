"""`python -m tests.suites`: what script/test calls."""

import argparse
from contextlib import ExitStack
import signal
import sys
import time

from . import run
from .plan import NAMES, SUITES, why_no_lab
from .tally import Tally


def main() -> int:
    """Run what is named, or everything."""
    names, more = _arguments()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    began, tally = time.monotonic(), Tally()
    with ExitStack() as stack:
        built = None
        if "lab" in names and not why_no_lab():
            built = stack.enter_context(run.lab_in_background(tally))
        if "lint" in names:
            run.lint(tally)
        for suite in SUITES:
            if suite.name in names:
                if suite.name == "lab" and built:
                    built()
                run.suite(suite, more, tally)
    if not more and {suite.name for suite in SUITES if suite.measured} <= set(names):
        run.coverage(tally)
    return tally.close(time.monotonic() - began)


def _arguments() -> tuple[list[str], list[str]]:
    parser = argparse.ArgumentParser(
        prog="script/test",
        usage=f"script/test [{'|'.join(NAMES)} ...] [-- PYTEST...]",
        description="Checks the project. Without names: everything, and the coverage.",
        epilog="Where a machine cannot run the lab or a browser those tests are skipped"
        " with a line that says why; with CI=true that is a failure. What follows -- goes"
        " to pytest.",
    )
    parser.add_argument("names", nargs="*", metavar="suite")
    given = sys.argv[1:]
    cut = given.index("--") if "--" in given else len(given)
    names = parser.parse_args(given[:cut]).names or list(NAMES)
    if unknown := set(names) - set(NAMES):
        parser.error(f"unknown: {', '.join(unknown)}; there are {', '.join(NAMES)}")
    return names, given[cut + 1 :]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
