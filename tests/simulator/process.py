"""A simulator in a process of its own, for those who must not share their event loop."""

import asyncio
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
import json
from pathlib import Path
import shlex
import sys
from typing import Any

_ROOT = Path(__file__).parents[2]
_GOODBYE_S = 10.0


@dataclass(slots=True)
class Apart:
    """`facts` as `Simulator.facts` gives them; `say` types a line to it."""

    facts: dict[str, Any]
    _process: Process

    async def say(self, *words: str) -> str:
        """Type a line; the answer's first line comes back."""
        if self._process.stdin is None or self._process.stdout is None:
            raise RuntimeError("no pipes")
        self._process.stdin.write(f"{shlex.join(words)}\n".encode())
        return (await self._process.stdout.readline()).decode().rstrip()


@asynccontextmanager
async def simulator_apart(speed: float = 1.0, *options: str) -> AsyncIterator[Apart]:
    """Run one until the block is left."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.simulator",
        f"--speed={speed}",
        *options,
        stdin=PIPE,
        stdout=PIPE,
        cwd=_ROOT,
        limit=2**20,
    )
    try:
        if process.stdout is None or process.stdin is None:
            raise RuntimeError("no pipes")
        facts = json.loads(await process.stdout.readline())
        yield Apart(facts, process)
        process.stdin.close()
        async with asyncio.timeout(_GOODBYE_S):
            await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
