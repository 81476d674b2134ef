"""Counts what pytest noted in its reports, and says it as pytest does."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree as ET


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

    def add(self, suite: str, report: Path, code: int) -> None:
        """Add up one suite; one without tests is a mistake."""
        before = self.failed
        for case in _cases(report):
            kinds = {child.tag for child in case}
            if kinds & {"failure", "error"}:
                self.trouble(f"{suite}: {case.get('classname')}::{case.get('name')}")
            elif "skipped" in kinds:
                self.skipped += 1
            else:
                self.passed += 1
        if code and self.failed == before:
            self.trouble(f"{suite}: pytest ended with code {code}")

    def close(self, seconds: float) -> int:
        """Print what failed and the closing line; returns the exit code."""
        print()
        for what in self.troubles:
            print(f"FAILED {what}")
        counts = {
            "failed": self.failed,
            "passed": self.passed,
            "skipped": self.skipped,
        }
        words = ", ".join(f"{n} {word}" for word, n in counts.items() if n)
        line = f" {words or 'no tests ran'} in {seconds:.2f}s "
        print(line.center(80, "="), flush=True)
        return 1 if self.failed else 0


def _cases(report: Path) -> Iterator[ET.Element]:
    if report.exists():
        yield from ET.parse(report).iter("testcase")
