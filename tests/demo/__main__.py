"""`python -m tests.demo`: what script/demo calls."""

import argparse
import asyncio
from contextlib import AsyncExitStack
import signal
import sys

from . import tower as towers
from .dashboard import URL_PATH, make_dashboard
from .errors import DemoError
from .home_assistant import free_port, home_assistant
from .once import once
from .set_up import set_up

WHAT = """\
Starts Home Assistant with its frontend on this machine's loopback, with the integration
already set up on a gaming tower and its Kubernetes cluster, and a demo user who is logged
in without typing. Prints the address when it can be opened; Ctrl-C ends everything.
"""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/demo", description=WHAT)
    parser.add_argument(
        "--port", type=int, help="where Home Assistant listens (8123; --once: any free)"
    )
    parser.add_argument(
        "--lab",
        action="store_true",
        help="on the real lab (libvirt, QEMU, Kubernetes) instead of the embedded tower",
    )
    parser.add_argument(
        "--once",
        action="store_true",
        help="make one handover and one return, check the end state, and exit",
    )
    return parser.parse_args()


async def _run(options: argparse.Namespace) -> None:
    port = options.port if options.port is not None else 0 if options.once else 8123
    print("starting the tower and Home Assistant ...", flush=True)
    async with AsyncExitStack() as stack:
        place = towers.lab() if options.lab else towers.embedded()
        tower = await stack.enter_async_context(place)
        hass, client = await stack.enter_async_context(
            home_assistant(port=port or free_port())
        )
        await set_up(client, tower)
        await make_dashboard(client)
        if options.once:
            await once(client, tower)
            return
        print(f"ready: {hass.url}/{URL_PATH}   (Ctrl-C ends it)", flush=True)
        await hass.run()


async def _until_told(options: argparse.Namespace) -> int:
    running = asyncio.create_task(_run(options))
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, running.cancel)
    try:
        await running
    except asyncio.CancelledError:
        print("\nended", flush=True)
        return 130 if options.once else 0
    except DemoError as err:
        print(f"demo: {err}", file=sys.stderr)
        return 1
    return 0


sys.exit(asyncio.run(_until_told(_options())))
