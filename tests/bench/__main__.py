"""`python -m tests.bench [GROUP ...] [--json FILE]`: what script/bench calls."""

import argparse
import asyncio
import json
from pathlib import Path
import sys

from . import handover, idle, load, setup

GROUPS = {
    "load": load.measure,
    "setup": setup.measure,
    "handover": handover.measure,
    "idle": idle.measure,
}
"""Each returns figures by name; a name ends in its unit, or is a ratio."""


def main() -> int:
    """Measure, print a table, write the figures."""
    parser = argparse.ArgumentParser(prog="script/bench", description=__doc__)
    parser.add_argument("groups", nargs="*", choices=[*GROUPS, []], metavar="GROUP")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--idle-minutes", type=float, default=10.0)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    figures: dict[str, float] = {}
    for name in options.groups or list(GROUPS):
        print(f"bench: {name}", file=sys.stderr, flush=True)
        figures |= asyncio.run(GROUPS[name](options))
    for name, value in figures.items():
        print(f"{name:32} {value:12.4f}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
