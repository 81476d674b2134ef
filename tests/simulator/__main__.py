"""Run a simulator by itself: `python -m tests.simulator`.

Prints its connection facts as one line of JSON, then does what is typed, a line at a time:
`virsh ARGS`, `cordon`, `uncordon`, `facts`. Ends with its standard input, or with Ctrl-C.
"""

import argparse
import asyncio
import json
import shlex
import signal
import sys

from .furnish import furnish
from .simulator import Simulator


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulator")
    parser.description = (__doc__ or "").splitlines()[0]
    parser.add_argument("--speed", type=float, default=1.0, help="times real time")
    parser.add_argument("--bare", action="store_true", help="nothing in the cluster")
    return parser.parse_args()


async def _serve(speed: float, *, bare: bool) -> None:
    async with Simulator(speed=speed) as simulator:
        if not bare:
            furnish(simulator.cluster, simulator.house.node_name)
        _tell(json.dumps(simulator.facts()))
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, ended.set)
        typing = asyncio.create_task(_obey(simulator, ended))
        await ended.wait()
        typing.cancel()


async def _obey(simulator: Simulator, ended: asyncio.Event) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), sys.stdin
    )
    while line := await reader.readline():
        _tell(await _answer(simulator, shlex.split(line.decode())))
    ended.set()


async def _answer(simulator: Simulator, words: list[str]) -> str:
    node = simulator.house.node_name
    match words:
        case ["virsh", *args] if args:
            output = await simulator.tower.virsh(*args)
            return (output.stdout + output.stderr).rstrip()
        case ["cordon"]:
            simulator.cluster.cordon_by_hand(node)
            return f"node/{node} cordoned"
        case ["uncordon"]:
            simulator.cluster.cordon_by_hand(node, on=False)
            return f"node/{node} uncordoned"
        case ["facts"]:
            return json.dumps(simulator.facts())
    return "virsh ARGS | cordon | uncordon | facts"


def _tell(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    arguments = _arguments()
    asyncio.run(_serve(arguments.speed, bare=arguments.bare))


if __name__ == "__main__":
    main()
