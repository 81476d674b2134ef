"""The API server behind the tower's own connection; its certificate counts all the same."""

import asyncio
from collections.abc import AsyncIterator
import contextlib

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.client import Api
from custom_components.gpu_handoff.cluster.kubeconfig import read
from custom_components.gpu_handoff.handoff.reason import Reason, Unreachable

from .https_api import HttpsApi
from .pki import authority, issued

NAME = "kubernetes.lan"


class Tower:
    """Forwards local ports to the server, as an SSH connection does."""

    def __init__(self, port: int) -> None:
        self.asked: list[tuple[str, int]] = []
        self._to = port
        self._listeners: list[asyncio.Server] = []

    async def dial(self, host: str, port: int) -> tuple[str, int]:
        """Open a new local end each time."""
        self.asked.append((host, port))
        listener = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        self._listeners.append(listener)
        return "127.0.0.1", listener.sockets[0].getsockname()[1]

    def close(self) -> None:
        """Take all local ends away."""
        for listener in self._listeners:
            listener.close()
            listener.close_clients()

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


@pytest.fixture
async def server() -> AsyncIterator[HttpsApi]:
    ca = authority()
    async with HttpsApi(ca, issued(ca, "api", NAME)) as server:
        yield server


@pytest.fixture
async def tower(server: HttpsApi) -> AsyncIterator[Tower]:
    tower = Tower(server.port)
    yield tower
    tower.close()


def at(server: HttpsApi, address: str) -> str:
    """Write a kubeconfig whose address only the tower can reach."""
    return server.kubeconfig(server=f"https://{address}")


async def test_the_servers_own_name_is_checked(server: HttpsApi, tower: Tower) -> None:
    api = Api(read(at(server, f"{NAME}:6443")), dial=tower.dial)
    await api.get(paths.NODES)
    await api.close()
    assert tower.asked == [(NAME, 6443)]
    assert server.requests[0].headers["Host"] == f"{NAME}:6443"


async def test_a_tunnel_is_no_reason_to_believe_any_certificate(
    server: HttpsApi, tower: Tower
) -> None:
    api = Api(read(at(server, "other.lan:6443")), dial=tower.dial)
    with pytest.raises(Unreachable, match="certificate_name_wrong"):
        await api.get(paths.NODES)
    await api.close()


async def test_loopback_means_the_towers_own_through_the_tunnel(tower: Tower) -> None:
    async with HttpsApi() as local:
        tower._to = local.port
        api = Api(read(at(local, "127.0.0.1:6443")), dial=tower.dial)
        await api.get(paths.NODES)
        await api.close()
    assert tower.asked == [("127.0.0.1", 6443)]


async def test_a_new_connection_asks_for_the_tunnel_anew(
    server: HttpsApi, tower: Tower
) -> None:
    api = Api(read(at(server, f"{NAME}:6443")), dial=tower.dial)
    await api.get(paths.NODES)
    tower.close()
    await asyncio.sleep(0.05)
    await api.get(paths.NODES)
    await api.close()
    assert len(tower.asked) == 2


async def test_a_tower_that_is_silent_says_so_itself(server: HttpsApi) -> None:
    async def dial(_host: str, _port: int) -> tuple[str, int]:
        raise Unreachable("tower_unreachable", host="tower")

    api = Api(read(at(server, f"{NAME}:6443")), dial=dial)
    with pytest.raises(Unreachable) as caught:
        await api.get(paths.NODES)
    await api.close()
    assert caught.value.reason == Reason.of("tower_unreachable", host="tower")


async def test_a_tunnel_that_cannot_be_opened_is_named(server: HttpsApi) -> None:
    async def dial(_host: str, _port: int) -> tuple[str, int]:
        raise ConnectionRefusedError

    api = Api(read(at(server, f"{NAME}:6443")), dial=dial)
    with pytest.raises(Unreachable) as caught:
        await api.get(paths.NODES)
    await api.close()
    assert caught.value.reason == Reason.of(
        "cluster_tunnel_failed", address=f"{NAME}:6443"
    )
