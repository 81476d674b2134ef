"""A real HTTPS server on loopback that answers as a test tells it to."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
import ssl
from tempfile import TemporaryDirectory
from typing import Any, Self

from aiohttp import web
import yaml

from .pki import Pair, authority, base64, issued

type Answer = Callable[[web.Request], Awaitable[web.StreamResponse]]


class HttpsApi:
    """Answers every request with `answer`, and remembers what it was asked."""

    def __init__(self, ca: Pair | None = None, server: Pair | None = None) -> None:
        self.ca = ca or authority()
        self.server = server or issued(self.ca, "api", "localhost", "127.0.0.1")
        self.client = issued(self.ca, "me")
        self.requests: list[web.Request] = []
        self.peers: list[Any] = []
        self.port = 0
        self.answer: Answer = nodes

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        self._runner = web.AppRunner(app, shutdown_timeout=0.1)
        await self._runner.setup()
        context = await asyncio.to_thread(self._context)
        site = web.TCPSite(self._runner, "127.0.0.1", 0, ssl_context=context)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    def kubeconfig(self, user: dict[str, str] | None = None, **cluster: str) -> str:
        """Say how to reach this server, with a token unless told otherwise."""
        server = {
            "server": f"https://127.0.0.1:{self.port}",
            "certificate-authority-data": base64(self.ca.cert_pem),
        }
        changes = {name.replace("_", "-"): value for name, value in cluster.items()}
        config = {
            "current-context": "home",
            "clusters": [{"name": "home", "cluster": server | changes}],
            "contexts": [
                {"name": "home", "context": {"cluster": "home", "user": "me"}}
            ],
            "users": [{"name": "me", "user": user or {"token": "not-a-secret"}}],
        }
        return yaml.safe_dump(config)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        assert request.transport is not None
        self.peers.append(request.transport.get_extra_info("peercert"))
        return await self.answer(request)

    def _context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(
            ssl.Purpose.CLIENT_AUTH, cadata=self.ca.cert_pem
        )
        context.verify_mode = ssl.CERT_OPTIONAL
        with TemporaryDirectory() as folder:
            path = Path(folder) / "server.pem"
            path.write_text(self.server.cert_pem + self.server.key_pem)
            context.load_cert_chain(path)
        return context


async def nodes(_: web.Request) -> web.StreamResponse:
    """An empty list of nodes."""
    return web.json_response({"metadata": {"resourceVersion": "1"}, "items": []})


def refused(code: int, message: str = "", **more: Any) -> Answer:
    """Answer with a Status, as Kubernetes refuses."""

    async def answer(_: web.Request) -> web.StreamResponse:
        body = {"kind": "Status", "code": code, "message": message}
        return web.json_response(body, status=code, **more)

    return answer


def text(words: str, code: int = 200, content_type: str = "text/html") -> Answer:
    """Answer with something that is no JSON."""

    async def answer(_: web.Request) -> web.StreamResponse:
        return web.Response(text=words, status=code, content_type=content_type)

    return answer
