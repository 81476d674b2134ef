"""How long the set-up of an entry takes on the lab, from the last answer to usable."""

import argparse
import time

from tests.lab.lab import Lab

from .household import home_assistant, set_up


async def measure(options: argparse.Namespace) -> dict[str, float]:
    """Set up once through the flow, then reload."""
    lab = Lab()
    lab.up()
    async with home_assistant() as hass:
        entry = await set_up(hass, lab)
        took = []
        for _ in range(options.runs):
            began = time.perf_counter()
            await hass.config_entries.async_reload(entry.entry_id)
            took.append(time.perf_counter() - began)
    return {"reload_s": sorted(took)[len(took) // 2]}
