"""One API server, spoken to in plain JSON."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager
import json
from typing import Any

import aiohttp

from ..handoff.reason import HandoffError, Unreachable
from .errors import ApiError, of_reply, of_transport
from .kubeconfig import Kubeconfig
from .lines import json_lines
from .paths import resource_of, verb_of
from .reply import Reply, retry_after_s
from .rest import MakeSession, RestClient, open_rest, plain_session
from .server_address import host_and_port
from .tunnel import PLACE, Dial

TIMEOUT_S = 10.0
QUIET_S = 75.0
"""A watch that says nothing for longer is asked for again; bookmarks come each minute."""
PARSED_ELSEWHERE_BYTES = 131_072
"""A larger body is parsed in an executor, so that the loop is not held up."""
MERGE_PATCH = "application/merge-patch+json"


class Api:
    """Requests and watches; everything that fails raises a HandoffError.

    Nothing is imported, read or connected before the first request.
    """

    def __init__(
        self,
        kubeconfig: Kubeconfig,
        *,
        dial: Dial | None = None,
        make_session: MakeSession = plain_session,
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
        return self.body_of("GET", path, await self.send("GET", path, query=query))

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """Create an object and return what became of it."""
        return self.body_of("POST", path, await self.send("POST", path, body=body))

    async def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Merge-patch an object and return what it is then."""
        return self.body_of("PATCH", path, await self.send("PATCH", path, body=body))

    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Return the answer whatever its status is; raises Unreachable without one."""
        async with self._sentences():
            rest = await self._open()
            async with asyncio.timeout(self._timeout_s):
                response = await self._request(rest, method, path, query, body=body)
                data = await response.read()
        content = await _parse(data)
        if content is None and (response.status == 429 or response.status >= 500):
            content = {}  # a server or proxy in trouble says so in plain text or HTML
        if content is None:
            address = str(self.kubeconfig.address)
            raise ApiError("not_kubernetes", status=response.status, address=address)
        header = response.headers.get("Retry-After")
        return Reply(
            status=response.status,
            body=content,
            retry_after_s=retry_after_s(header, content),
        )

    def body_of(self, method: str, path: str, reply: Reply) -> Mapping[str, Any]:
        """Return the body of an answer; raises ApiError if it is a refusal."""
        if not reply.ok:
            raise self.refusal(method, path, reply.status, reply.message)
        return reply.body

    def refusal(self, method: str, path: str, status: int, message: str) -> ApiError:
        """Put a refusal into a sentence."""
        return of_reply(
            status,
            message,
            verb=verb_of(method, path),
            resource=resource_of(path),
            with_token=self.kubeconfig.token is not None,
        )

    @asynccontextmanager
    async def watch(
        self, path: str, query: Mapping[str, str], *, for_s: float
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        """Open a watch and give its events, until the server ends it or falls silent."""
        timeout = aiohttp.ClientTimeout(
            total=for_s + self._timeout_s, sock_read=self._quiet_s
        )
        async with self._sentences():
            rest = await self._open()
            async with asyncio.timeout(self._timeout_s):
                response = await self._request(
                    rest, "GET", path, query, timeout=timeout
                )
        try:
            if response.status != 200:
                words = f"HTTP {response.status}"
                raise self.refusal("WATCH", path, response.status, words)
            events = json_lines(response.content.iter_any())
            async with self._sentences(), aclosing(events):
                yield events
        finally:
            response.close()

    async def close(self) -> None:
        """Close all connections; a later request would open new ones."""
        async with self._opening:
            rest, self._rest = self._rest, None
        if rest is not None:
            await rest.close()

    @asynccontextmanager
    async def _sentences(self) -> AsyncIterator[None]:
        """Turn whatever breaks inside into a sentence."""
        try:
            yield
        except HandoffError:
            raise
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._trouble(error) from error

    def _trouble(self, error: Exception) -> Unreachable:
        return of_transport(
            error,
            address=str(self.kubeconfig.address),
            name=self.kubeconfig.server_name,
            timeout_s=self._timeout_s,
        )

    async def _request(
        self,
        rest: RestClient,
        method: str,
        path: str,
        query: Mapping[str, str] | None,
        *,
        body: Mapping[str, Any] | None = None,
        timeout: aiohttp.ClientTimeout | None = None,
    ) -> aiohttp.ClientResponse:
        address = self.kubeconfig.address
        headers = {"Accept": "application/json", "Host": str(address)}
        if method == "PATCH":
            headers["Content-Type"] = MERGE_PATCH
        if token := self.kubeconfig.token:
            headers["Authorization"] = f"Bearer {token}"
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
                self._rest = await open_rest(
                    self.kubeconfig, self._dial, self._make_session
                )
            return self._rest


async def _parse(data: bytes) -> dict[str, Any] | None:
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
