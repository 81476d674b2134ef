"""Home Assistant in this very process, with the integration set up by its own flow."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
import tempfile
from typing import Any, Protocol

from homeassistant import bootstrap, runner
from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant

REPOSITORY = Path(__file__).parents[2]
DOMAIN = "gpu_handoff"
PATIENCE_S = 60


class Stage(Protocol):
    """A tower and a cluster, real or simulated."""

    ssh_port: int
    private_key: str
    kubeconfig: str


@asynccontextmanager
async def home_assistant() -> AsyncGenerator[HomeAssistant]:
    """Run a bare Home Assistant, without a frontend."""
    with tempfile.TemporaryDirectory(prefix="gpu-handoff-bench-") as name:
        folder = Path(name)
        (folder / "configuration.yaml").write_text("homeassistant:\n  name: Bench\n")
        (folder / "custom_components").mkdir()
        source = REPOSITORY / "custom_components" / DOMAIN
        (folder / "custom_components" / DOMAIN).symlink_to(source)
        config = runner.RuntimeConfig(config_dir=name, skip_pip=True)
        hass = await bootstrap.async_setup_hass(config)
        if hass is None:
            raise RuntimeError("Home Assistant did not start")
        await hass.async_start()
        try:
            yield hass
        finally:
            await hass.async_stop(force=True)


async def set_up(hass: HomeAssistant, stage: Stage) -> ConfigEntry:
    """Go through the set-up as a person does, on the tower's own proposals."""
    flow = hass.config_entries.flow
    result = await flow.async_init(DOMAIN, context={"source": "user"})
    tower = {"host": "127.0.0.1", "port": stage.ssh_port, "username": "root"}
    answers: list[dict[str, Any]] = [
        tower,
        {},
        {"next_step_id": "own_key"},
        {"private_key": stage.private_key},
        {},
        {"next_step_id": "paste_kubeconfig"},
        {"kubeconfig": stage.kubeconfig},
        {"via_tunnel": False},
        {"node_name": "gpu1"},
    ]
    for answer in answers:
        result = await flow.async_configure(result["flow_id"], answer)
        if errors := result.get("errors"):
            raise RuntimeError(f"the set-up said {errors} to step {result['step_id']}")
    entry = hass.config_entries.async_entries(DOMAIN)[0]
    async with asyncio.timeout(PATIENCE_S):
        while entry.state.value != "loaded":
            await asyncio.sleep(0.1)
    return entry
