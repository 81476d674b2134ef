"""The one SSH connection to a tower: opened once, shared by all, opened again when lost."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from .answer import Answer, without_banner
from .commands import VERBS, WIDTHS, HostContext, Verb, command_line, request_line
from .credentials import Credentials, HostKey, KeyPair, generate_key_pair
from .errors import Unreachable
from .scripts import NO_SUCH_REQUEST
from .tunnel import Pair, Tunnel

if TYPE_CHECKING:
    from . import wire

__all__ = [
    "Answer",
    "Connection",
    "Credentials",
    "HostKey",
    "KeyPair",
    "fetch_host_key",
    "generate_key_pair",
]

_CONNECT_S = 15.0
_GOODBYE_S = 5.0


class Connection:
    """Requests to one host, over one connection that is opened when it is needed.

    An account that turns out to have our forced command is spoken to in its way.
    """

    def __init__(
        self,
        credentials: Credentials,
        context: HostContext | None = None,
        *,
        connect_timeout_s: float = _CONNECT_S,
    ) -> None:
        """Nothing is opened yet."""
        self.credentials = credentials
        self.context = context or HostContext()
        self._connect_timeout_s = connect_timeout_s
        self._lanes = {lane: asyncio.Semaphore(width) for lane, width in WIDTHS.items()}
        self._link: wire.Link | None = None
        self._opening: asyncio.Task[wire.Link] | None = None
        self._tunnels: set[Tunnel] = set()
        self._closed = False
        self._forced_command = credentials.forced_command
        self._spoken = False

    async def run(self, verb: str, *args: str, stdin: str | None = None) -> Answer:
        """Make a request and wait for its end. Raises Unreachable."""
        entry = VERBS[verb]
        line = self._line(entry, args)
        async with self._lanes[entry.lane]:
            try:
                async with asyncio.timeout(entry.local_timeout_s):
                    link = await self._open_link()
                    answer = await link.run(line, stdin)
            except TimeoutError as err:
                raise self._too_slow(entry) from err
        answer = without_banner(answer, self.credentials.username)
        if NO_SUCH_REQUEST in answer.stderr and not self._forced_command:
            self._forced_command = True
            return await self.run(verb, *args, stdin=stdin)
        self._spoken = True
        return answer

    @asynccontextmanager
    async def stream(self, verb: str, *args: str) -> AsyncGenerator[wire.Stream]:
        """Make a request that goes on printing; leaving the block ends it on the host."""
        if not self._spoken:
            await self.run("ping")
        entry = VERBS[verb]
        line = self._line(entry, args)
        async with self._lanes[entry.lane]:
            stream: wire.Stream | None = None
            try:
                try:
                    async with asyncio.timeout(self._connect_timeout_s * 2):
                        link = await self._open_link()
                        stream = await link.open_stream(line)
                        await stream.begin()
                except TimeoutError as err:
                    raise self._too_slow(entry) from err
                yield stream
            finally:
                if stream is not None:
                    stream.close()

    async def open_tcp(self, host: str, port: int) -> Pair:
        """Reach an address as the host sees it. Raises Unreachable."""
        link = await self._open_link()
        return await link.open_tcp(host, port)

    async def forward_local(
        self, host: str, port: int
    ) -> tuple[int, Callable[[], Awaitable[None]]]:
        """Listen on a local port that leads to an address as the host sees it.

        The port outlives a lost connection: each use opens what it needs.
        """
        tunnel = Tunnel(lambda: self.open_tcp(host, port))
        self._tunnels.add(tunnel)

        async def close() -> None:
            self._tunnels.discard(tunnel)
            await tunnel.close()

        return await tunnel.open(), close

    async def close(self) -> None:
        """End everything. The connection is not opened again."""
        self._closed = True
        if self._opening:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        await asyncio.gather(*(tunnel.close() for tunnel in self._tunnels))
        link, self._link = self._link, None
        if link:
            try:
                async with asyncio.timeout(_GOODBYE_S):
                    await link.close()
            except TimeoutError:
                link.abort()

    def _line(self, verb: Verb, args: Sequence[str]) -> str:
        if self._forced_command:
            return request_line(verb.name, args)
        return command_line(verb.name, args, self.context)

    def _too_slow(self, verb: Verb) -> Unreachable:
        return Unreachable(
            "tower_timeout", host=self.credentials.host, request=verb.name
        )

    async def _open_link(self) -> wire.Link:
        """Give the open connection. Whoever comes while it is being opened waits too."""
        if self._closed:
            raise Unreachable("connection_closed")
        if self._link and not self._link.closed:
            return self._link
        if self._opening is None:
            self._opening = asyncio.create_task(self._dial())
            self._opening.add_done_callback(self._dialled)
        opening = self._opening
        await asyncio.wait({opening})
        if opening.cancelled():
            raise Unreachable("connection_closed")
        return opening.result()

    async def _dial(self) -> wire.Link:
        library = await _library()
        link = await library.dial(self.credentials, self._connect_timeout_s)
        self._link = link
        return link

    def _dialled(self, opening: asyncio.Task[wire.Link]) -> None:
        self._opening = None
        if not opening.cancelled():
            opening.exception()


async def fetch_host_key(
    host: str, port: int = 22, *, timeout_s: float = _CONNECT_S
) -> HostKey:
    """Ask a host for its public key, for a person to confirm. Raises Unreachable."""
    library = await _library()
    return await library.look_at_host_key(host, port, timeout_s)


class _Login(Protocol):
    """The module that logs in; it brings the SSH library with it."""

    async def dial(self, credentials: Credentials, timeout_s: float, /) -> wire.Link:
        """Log in."""

    async def look_at_host_key(
        self, host: str, port: int, timeout_s: float, /
    ) -> HostKey:
        """Ask for the host's key."""


async def _library() -> _Login:
    """Import the SSH library off the loop, where it is first needed."""
    module = await asyncio.to_thread(import_module, ".login", __package__)
    return cast("_Login", module)
