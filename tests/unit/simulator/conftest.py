"""A simulator for each test, twenty times as fast as real time."""

from collections.abc import AsyncIterator, Awaitable, Callable
import ssl
from typing import Any

import aiohttp
import asyncssh
import pytest

from tests.simulator import Simulator
from tests.simulator.cluster.access import User

SPEED = 20.0
ADMIN_TOKEN = "admin"


@pytest.fixture(autouse=True)
def _real_sockets(socket_enabled: None) -> None:
    """Home Assistant's test plugin forbids sockets; here they are the point."""


@pytest.fixture
async def sim() -> AsyncIterator[Simulator]:
    async with Simulator(speed=SPEED) as simulator:
        yield simulator


@pytest.fixture
async def ssh(sim: Simulator) -> AsyncIterator[asyncssh.SSHClientConnection]:
    """A plain SSH client, that knows nothing of the product."""
    async with asyncssh.connect(
        sim.ssh_host,
        sim.ssh_port,
        username=sim.username,
        client_keys=[asyncssh.import_private_key(sim.client_private_key)],
        known_hosts=([asyncssh.import_public_key(sim.host_key)], [], []),
        config=None,
    ) as connection:
        yield connection


type Call = Callable[..., Awaitable[tuple[int, Any, dict[str, str]]]]


@pytest.fixture
async def http(sim: Simulator) -> AsyncIterator[aiohttp.ClientSession]:
    """Plain HTTPS, as the administrator."""
    authority = sim.cluster.certificates.authority.certificate_pem
    context = ssl.create_default_context(cadata=authority)
    base = f"https://127.0.0.1:{sim.api_port}"
    headers = {"Authorization": f"Bearer {ADMIN_TOKEN}"}
    sim.cluster.access.tokens[ADMIN_TOKEN] = User("admin", None)
    connector = aiohttp.TCPConnector(ssl=context)
    async with aiohttp.ClientSession(
        base, connector=connector, headers=headers
    ) as session:
        yield session


@pytest.fixture
def call(http: aiohttp.ClientSession) -> Call:
    """Send a request; status, body and headers come back."""

    async def send(
        method: str, path: str, body: Any = None, kind: str = "application/json"
    ) -> tuple[int, Any, dict[str, str]]:
        headers = {"Content-Type": kind}
        async with http.request(method, path, json=body, headers=headers) as answer:
            return answer.status, await answer.json(), dict(answer.headers)

    return send
