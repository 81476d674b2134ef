"""Home Assistant with the integration, and a simulated household to set it up on."""

import asyncio
from collections.abc import AsyncGenerator, Generator
from typing import Any

from homeassistant import block_async_io
from homeassistant.core import HomeAssistant
import pytest
from pytest_homeassistant_custom_component.common import MockConfigEntry

import custom_components.gpu_handoff  # noqa: F401 - so that Home Assistant finds it
from tests.simulator import Simulator

from .household import Flow, until

SPEED = 40.0


@pytest.fixture(autouse=True)
def custom(enable_custom_integrations: None) -> None:
    """Let Home Assistant load the integration."""


@pytest.fixture(autouse=True)
def no_blocking(
    disable_block_async_io: None,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> Generator[None]:
    """Have Home Assistant watch for calls that block the loop; one of ours is a failure."""
    monkeypatch.setattr(block_async_io, "_IN_TESTS", False)
    block_async_io.enable()
    yield
    blocking = [
        record.getMessage()
        for phase in ("setup", "call")
        for record in caplog.get_records(phase)
        if "blocking call" in record.getMessage()
        and "integration 'gpu_handoff'" in record.getMessage()
    ]
    assert blocking == []


@pytest.fixture
async def simulator(
    hass: HomeAssistant, socket_enabled: None
) -> AsyncGenerator[Simulator]:
    """A tower and a cluster on loopback."""
    _forgive_broken_handshakes(hass)
    async with Simulator(speed=SPEED) as running:
        yield running


@pytest.fixture
async def entry(
    hass: HomeAssistant, simulator: Simulator
) -> AsyncGenerator[MockConfigEntry]:
    """An entry that was set up by the flow, with its parts at work."""
    flow = Flow(hass, simulator)
    made = await flow.to_the_end()
    await until(hass, lambda: made.runtime_data.data.nodes != {})
    yield made
    if made.state.value == "loaded":
        assert await hass.config_entries.async_unload(made.entry_id)
    await hass.async_block_till_done()


def _forgive_broken_handshakes(hass: HomeAssistant) -> None:
    """A client that leaves in mid handshake is the simulated server's own affair."""
    handle = hass.loop.get_exception_handler()

    def but_handshakes(
        loop: asyncio.AbstractEventLoop, context: dict[str, Any]
    ) -> None:
        if "transport creation for incoming" not in context.get("message", ""):
            assert handle is not None
            handle(loop, context)

    hass.loop.set_exception_handler(but_handshakes)
