"""kubernetes_asyncio's REST client, made without any work in the event loop."""

import asyncio
from collections.abc import Callable
import importlib
import logging
from typing import Any, Protocol

import aiohttp

from .kubeconfig import Kubeconfig
from .tls import build_context
from .tunnel import Dial, TunnelResolver

CONNECTIONS = 12

type MakeSession = Callable[[aiohttp.BaseConnector], aiohttp.ClientSession]


class RestClient(Protocol):
    """The part of kubernetes_asyncio's RESTClientObject that is used."""

    async def request(self, method: str, url: str, **kwargs: Any) -> Any:
        """Send one request."""

    async def close(self) -> None:
        """Close its session."""


def plain_session(connector: aiohttp.BaseConnector) -> aiohttp.ClientSession:
    """Make a session that no proxy variable of the environment can lead astray."""
    return aiohttp.ClientSession(
        connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
    )


async def open_rest(
    kubeconfig: Kubeconfig, dial: Dial | None, make_session: MakeSession
) -> RestClient:
    """Fill in a REST client by hand: its own constructor reads files in the loop."""
    loop = asyncio.get_running_loop()
    library = await loop.run_in_executor(None, _import_library)
    context = await loop.run_in_executor(None, build_context, kubeconfig)
    address = kubeconfig.address
    resolver = dial and TunnelResolver(dial, address.host, address.port)
    connector = aiohttp.TCPConnector(
        limit=CONNECTIONS,
        ssl=context,
        resolver=resolver,
        use_dns_cache=resolver is None,
    )
    rest = library.RESTClientObject.__new__(library.RESTClientObject)
    rest.server_hostname = kubeconfig.server_name
    rest.proxy = None
    rest.proxy_headers = None
    rest.pool_manager = make_session(connector)
    client: RestClient = rest
    return client


def _import_library() -> Any:
    """Import it: slow, so only in an executor. Its log would print bodies."""
    rest = importlib.import_module("kubernetes_asyncio.client.rest")
    logging.getLogger(rest.__name__).setLevel(logging.INFO)
    return rest
