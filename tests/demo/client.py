"""What a browser does with Home Assistant: log in, ask, call actions, follow states."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncGenerator
from contextlib import aclosing, asynccontextmanager, suppress
from itertools import count
from typing import Any, Self

import aiohttp

CALL_TIMEOUT_S = 60


class ClientError(Exception):
    """Home Assistant refused, in its own words."""


class Client:
    """One user's session: REST and one WebSocket."""

    def __init__(self, url: str) -> None:
        self.url = url
        self._ids = count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._events: defaultdict[int, asyncio.Queue[Any]] = defaultdict(asyncio.Queue)

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(base_url=self.url)
        try:
            token = await self._log_in()
            self._session.headers["Authorization"] = f"Bearer {token}"
            await self._connect(token)
        except BaseException:
            await self._session.close()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._reader.cancel()
        with suppress(asyncio.CancelledError):
            await self._reader
        await self._socket.close()
        await self._session.close()

    async def get(self, path: str) -> Any:
        """Read something over REST."""
        return await self._rest("GET", path, None)

    async def post(self, path: str, body: dict[str, Any]) -> Any:
        """Send something over REST."""
        return await self._rest("POST", path, body)

    async def call(self, kind: str, **fields: Any) -> Any:
        """Send one WebSocket command and return its result."""
        number = next(self._ids)
        return await self._send(number, kind, fields)

    async def action(
        self, name: str, *, entity_id: str | None = None, **data: Any
    ) -> Any:
        """Run an action (a "service") as a dashboard does."""
        domain, service = name.split(".")
        target = {"entity_id": entity_id} if entity_id else {}
        return await self.call(
            "call_service",
            domain=domain,
            service=service,
            service_data=data,
            target=target,
        )

    async def states(self) -> dict[str, dict[str, Any]]:
        """Every state by entity id."""
        return {state["entity_id"]: state for state in await self.call("get_states")}

    async def state(self, entity_id: str) -> str:
        """One entity's state."""
        return str((await self.states())[entity_id]["state"])

    @asynccontextmanager
    async def events(
        self, event_type: str
    ) -> AsyncGenerator[AsyncGenerator[dict[str, Any]]]:
        """Follow events of the bus."""
        number = next(self._ids)
        await self._send(number, "subscribe_events", {"event_type": event_type})
        queue = self._events[number]

        async def stream() -> AsyncGenerator[dict[str, Any]]:
            while True:
                yield await queue.get()

        async with aclosing(stream()) as following:
            yield following
        del self._events[number]
        await self.call("unsubscribe_events", subscription=number)

    async def until_running(self) -> None:
        """Wait until Home Assistant has set up everything that it is configured for."""
        async with self.events("homeassistant_started") as started:
            if (await self.get("/api/config"))["state"] != "RUNNING":
                await anext(started)

    async def _log_in(self) -> str:
        client_id = f"{self.url}/"
        step = await self.post(
            "/auth/login_flow",
            {
                "client_id": client_id,
                "redirect_uri": client_id,
                "handler": ["trusted_networks", None],
            },
        )
        form = {
            "grant_type": "authorization_code",
            "client_id": client_id,
            "code": step["result"],
        }
        async with self._session.post("/auth/token", data=form) as answer:
            return str((await answer.json())["access_token"])

    async def _connect(self, token: str) -> None:
        self._socket = await self._session.ws_connect("/api/websocket", max_msg_size=0)
        await self._socket.receive_json()
        await self._socket.send_json({"type": "auth", "access_token": token})
        hello = await self._socket.receive_json()
        if hello["type"] != "auth_ok":
            raise ClientError(hello.get("message", "the token was refused"))
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._socket:
            item = message.json()
            if item["type"] == "event":
                self._events[item["id"]].put_nowait(item["event"])
            elif waiting := self._answers.pop(item["id"], None):
                if item.get("success", True):
                    waiting.set_result(item.get("result"))
                else:
                    waiting.set_exception(ClientError(item["error"]["message"]))
        for waiting in self._answers.values():
            waiting.set_exception(ClientError("Home Assistant closed the connection"))
        self._answers.clear()

    async def _send(self, number: int, kind: str, fields: dict[str, Any]) -> Any:
        waiting = asyncio.get_running_loop().create_future()
        self._answers[number] = waiting
        await self._socket.send_json({"id": number, "type": kind, **fields})
        async with asyncio.timeout(CALL_TIMEOUT_S):
            return await waiting

    async def _rest(self, method: str, path: str, body: dict[str, Any] | None) -> Any:
        async with self._session.request(method, path, json=body) as answer:
            if answer.status >= 400:
                raise ClientError(f"{method} {path}: {await answer.text()}")
            return await answer.json()
