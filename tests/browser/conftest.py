"""A demo on the embedded tower, shown in headless Chromium."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack

from playwright.async_api import Page
import pytest

from tests.demo import chromium, tower as towers
from tests.demo.dashboard import URL_PATH, make_dashboard
from tests.demo.home_assistant import free_port, home_assistant
from tests.demo.set_up import set_up
from tests.demo.tower import Tower


@pytest.fixture(autouse=True)
def needs_chromium() -> None:
    """Without a browser there is nothing to press."""
    if chromium.executable() is None:
        pytest.fail("no Chromium on this machine; script/test installs it on Debian")


@pytest.fixture
async def tower() -> AsyncGenerator[Tower]:
    """Two cards lent to a node that has work."""
    async with towers.embedded() as embedded:
        yield embedded


@pytest.fixture
async def dashboard(tower: Tower) -> AsyncGenerator[Page]:
    """The demo's dashboard, as someone sees it who opens its address."""
    async with AsyncExitStack() as stack:
        hass, client = await stack.enter_async_context(home_assistant(port=free_port()))
        await set_up(client, tower)
        await make_dashboard(client)
        address = f"{hass.url}/{URL_PATH}"
        yield await stack.enter_async_context(chromium.page(address))
