"""What importing the integration costs where Home Assistant is loaded and no cluster is set."""

import argparse
import asyncio
import json
from pathlib import Path
from statistics import median
import sys

REPOSITORY = Path(__file__).parents[2]

PROBE = """
import json, resource, sys, time
import homeassistant.bootstrap, homeassistant.runner, homeassistant.config_entries
import homeassistant.helpers.update_coordinator, homeassistant.helpers.selector
import homeassistant.components.sensor, homeassistant.components.switch
import homeassistant.components.button, homeassistant.components.event
import homeassistant.components.persistent_notification, homeassistant.components.diagnostics
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
before, began = resident(), time.perf_counter()
import importlib
for part in ("", ".config_flow", ".sensor", ".switch", ".button", ".event", ".diagnostics"):
    importlib.import_module("custom_components.gpu_handoff" + part)
took = time.perf_counter() - began
assert "kubernetes_asyncio" not in sys.modules
print(json.dumps([took, (resident() - before) / 2**20]))
"""


async def measure(options: argparse.Namespace) -> dict[str, float]:
    """Import it in a fresh process, several times."""
    seen = [await _once() for _ in range(options.runs)]
    return {
        "import_s": median(took for took, _ in seen),
        "import_mib": median(mib for _, mib in seen),
    }


async def _once() -> tuple[float, float]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROBE), cwd=REPOSITORY, stdout=asyncio.subprocess.PIPE
    )
    out, _ = await process.communicate()
    took, mib = json.loads(out)
    return float(took), float(mib)
