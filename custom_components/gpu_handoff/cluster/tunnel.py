"""Reaching an API server through somebody else's connection (an SSH port forward)."""

from collections.abc import Awaitable, Callable
import socket
from typing import override

from aiohttp.abc import AbstractResolver, ResolveResult

from ..handoff.reason import Unreachable
from .server_address import host_and_port

type Dial = Callable[[str, int], Awaitable[tuple[str, int]]]
"""Given the server's host and port, answer with a local address that leads there."""

PLACE = "tunnel.invalid"
"""Stands in the URL for the server: a plain address there would bypass the resolver."""


class TunnelResolver(AbstractResolver):
    """Asks for the tunnel's local end anew for each connection, so that it may move."""

    def __init__(self, dial: Dial, host: str, port: int) -> None:
        """Remember where the tunnel shall lead."""
        self._dial = dial
        self._host = host
        self._port = port

    @override
    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        try:
            local_host, local_port = await self._dial(self._host, self._port)
        except OSError as error:
            address = host_and_port(self._host, self._port)
            raise Unreachable("cluster_tunnel_failed", address=address) from error
        return [
            ResolveResult(
                hostname=host,
                host=local_host,
                port=local_port,
                family=socket.AF_INET6 if ":" in local_host else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST,
            )
        ]

    @override
    async def close(self) -> None:
        """The tunnel is not ours."""
