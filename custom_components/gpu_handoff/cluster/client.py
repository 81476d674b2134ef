"""One API server, spoken to in plain JSON over kubernetes_asyncio's REST client."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
import importlib
import json
import logging
from typing import Any, Protocol

import aiohttp

from ..handoff.reason import HandoffError, Unreachable
from .errors import ApiError, of_reply, of_transport
from .kubeconfig import Kubeconfig
from .lines import json_lines
from .paths import resource_of, verb_of
from .reply import Reply, retry_after_s
from .server_address import host_and_port
from .tls import build_context
from .tunnel import PLACE, Dial, TunnelResolver

TIMEOUT_S = 10.0
QUIET_S = 75.0
"""A watch that says nothing for longer is asked for again; bookmarks come each minute."""
CONNECTIONS = 12
PARSED_ELSEWHERE_BYTES = 131_072
"""A larger body is parsed in an executor, so that the loop is not held up."""
MERGE_PATCH = "application/merge-patch+json"

type MakeSession = Callable[[aiohttp.BaseConnector], aiohttp.ClientSession]


class RestClient(Protocol):
    """The part of kubernetes_asyncio's RESTClientObject that is used."""

    async def request(self, method: str, url: str, **kwargs: Any) -> Any:
        """Send one request."""

    async def close(self) -> None:
        """Close its session."""


def _plain_session(connector: aiohttp.BaseConnector) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=connector, trust_env=False, cookie_jar=aiohttp.DummyCookieJar()
    )


class Api:
    """Requests and watches; everything that fails raises a HandoffError.

    Nothing is imported, read or connected before the first request.
    """

    def __init__(
        self,
        kubeconfig: Kubeconfig,
        *,
        dial: Dial | None = None,
        make_session: MakeSession = _plain_session,
        timeout_s: float = TIMEOUT_S,
        quiet_s: float = QUIET_S,
    ) -> None:
        """Remember whom to talk to, and how."""
        self.kubeconfig = kubeconfig
        self._dial = dial
        self._make_session = make_session
        self._timeout_s = timeout_s
        self._quiet_s = quiet_s
        self._opening = asyncio.Lock()
        self._rest: RestClient | None = None

    async def get(self, path: str, query: Mapping[str, str] | None = None) -> Any:
        """Return the JSON object at a path."""
        reply = await self.send("GET", path, query=query)
        if not reply.ok:
            raise self._refusal("GET", path, reply.status, reply.message)
        return reply.body

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Merge-patch an object and return what it is then."""
        reply = await self.send("PATCH", path, body=body)
        if not reply.ok:
            raise self._refusal("PATCH", path, reply.status, reply.message)
        return reply.body

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the answer whatever its status is; raises Unreachable without one."""
        async with self._exchange(self._timeout_s):
            response = await self._request(method, path, query=query, body=body)
            data = await response.read()
        content = await self._parse(data)
        if content is None:
            raise ApiError(
                "not_kubernetes", status=response.status, address=self._address
            )
        header = response.headers.get("Retry-After")
        return Reply(
            status=response.status,
            body=content,
            retry_after_s=retry_after_s(header, content),
        )

    async def watch(
        self, path: str, query: Mapping[str, str], *, for_s: float
    ) -> AsyncGenerator[dict[str, Any]]:
        """Yield watch events until the server ends the watch or falls silent."""
        timeout = aiohttp.ClientTimeout(
            total=for_s + self._timeout_s, sock_read=self._quiet_s
        )
        async with self._exchange(self._timeout_s):
            response = await self._request("GET", path, query=query, timeout=timeout)
        try:
            if response.status != 200:
                message = f"HTTP {response.status}"
                raise self._refusal("WATCH", path, response.status, message)
            async with self._exchange(None):
                async for event in json_lines(response.content.iter_any()):
                    yield event
        except _Silence:
            return
        finally:
            response.close()

    async def close(self) -> None:
        """Close all connections; a later request would open new ones."""
        async with self._opening:
            rest, self._rest = self._rest, None
        if rest is not None:
            await rest.close()

    @property
    def _address(self) -> str:
        return str(self.kubeconfig.address)

    def _refusal(self, method: str, path: str, status: int, message: str) -> ApiError:
        return of_reply(
            status,
            message,
            verb=verb_of(method, path),
            resource=resource_of(path),
            with_token=self.kubeconfig.token is not None,
        )

    @asynccontextmanager
    async def _exchange(self, timeout_s: float | None) -> AsyncIterator[None]:
        """Turn whatever breaks inside into a sentence."""
        try:
            async with asyncio.timeout(timeout_s):
                yield
        except HandoffError:
            raise
        except TimeoutError as error:
            if timeout_s is None:
                raise _Silence from error
            raise self._trouble(error) from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._trouble(error) from error

    def _trouble(self, error: Exception) -> Unreachable:
        return of_transport(
            error,
            address=self._address,
            name=self.kubeconfig.server_name,
            timeout_s=self._timeout_s,
        )

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> aiohttp.ClientResponse:
        rest = await self._open()
        headers = {"Accept": "application/json", "Host": self._address}
        if method == "PATCH":
            headers["Content-Type"] = MERGE_PATCH
        if token := self.kubeconfig.token:
            headers["Authorization"] = f"Bearer {token}"
        address = self.kubeconfig.address
        host = address.host if self._dial is None else PLACE
        where = f"https://{host_and_port(host, address.port)}{address.base_path}"
        response: aiohttp.ClientResponse = await rest.request(
            method,
            f"{where}{path}",
            query_params=query,
            headers=headers,
            body=body,
            _preload_content=False,
            _request_timeout=timeout or self._timeout_s,
        )
        return response

    async def _open(self) -> RestClient:
        async with self._opening:
            if self._rest is None:
                loop = asyncio.get_running_loop()
                library = await loop.run_in_executor(None, _import_rest)
                self._rest = await self._make_rest(library)
            return self._rest

    async def _make_rest(self, library: Any) -> RestClient:
        """Fill in a REST client by hand: its own constructor reads files in the loop."""
        loop = asyncio.get_running_loop()
        context = await loop.run_in_executor(None, build_context, self.kubeconfig)
        address = self.kubeconfig.address
        resolver = self._dial and TunnelResolver(self._dial, address.host, address.port)
        connector = aiohttp.TCPConnector(
            limit=CONNECTIONS,
            ssl=context,
            resolver=resolver,
            use_dns_cache=resolver is None,
        )
        rest = library.RESTClientObject.__new__(library.RESTClientObject)
        rest.server_hostname = self.kubeconfig.server_name
        rest.proxy = None
        rest.proxy_headers = None
        rest.pool_manager = self._make_session(connector)
        client: RestClient = rest
        return client

    async def _parse(self, data: bytes) -> dict[str, Any] | None:
        """Read a JSON object; None if it is none."""
        try:
            if len(data) > PARSED_ELSEWHERE_BYTES:
                loop = asyncio.get_running_loop()
                content = await loop.run_in_executor(None, json.loads, data)
            else:
                content = json.loads(data)
        except ValueError:
            return None
        return content if isinstance(content, dict) else None


class _Silence(Exception):
    """A watch said nothing for too long."""


def _import_rest() -> Any:
    """Import the library: slow, so only in an executor. Its log would print bodies."""
    rest = importlib.import_module("kubernetes_asyncio.client.rest")
    logging.getLogger(rest.__name__).setLevel(logging.INFO)
    return rest
