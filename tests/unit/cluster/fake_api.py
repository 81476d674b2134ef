"""An API server in a few dictionaries: lists, watches, patches and evictions."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, override

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.client import Api
from custom_components.gpu_handoff.cluster.kubeconfig import read
from custom_components.gpu_handoff.cluster.reply import Reply

KUBECONFIG = """
current-context: home
clusters: [{name: home, cluster: {server: "https://192.0.2.9:6443"}}]
contexts: [{name: home, context: {cluster: home, user: me}}]
users: [{name: me, user: {token: not-a-secret}}]
"""

type Scripted = Reply | Exception


def status(code: int, message: str = "", **more: Any) -> Reply:
    """What an API server answers when it refuses."""
    body = {"kind": "Status", "code": code, "message": message, **more}
    return Reply(status=code, body=body)


class FakeApi(Api):
    """Answers from `objects` (by list path), unless `script` says otherwise."""

    def __init__(self) -> None:
        super().__init__(read(KUBECONFIG))
        self.objects: dict[str, dict[str, dict[str, Any]]] = {}
        self.script: dict[tuple[str, str], list[Scripted]] = {}
        self.requests: list[tuple[str, str, Any]] = []
        self.down: Exception | None = None
        self.version = 100
        self._watches: list[tuple[str, str, asyncio.Queue[Any]]] = []

    def put(self, path: str, item: dict[str, Any]) -> dict[str, Any]:
        """Create or change an object, as somebody else would."""
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        name = f"{item['metadata'].get('namespace', '')}/{item['metadata']['name']}"
        known = self.objects.setdefault(path, {})
        kind = "MODIFIED" if name in known else "ADDED"
        known[name] = item
        self.say(path, {"type": kind, "object": item})
        return item

    def delete(self, path: str, item: dict[str, Any]) -> None:
        """Delete an object."""
        self.version += 1
        meta = {**item["metadata"], "resourceVersion": str(self.version)}
        del self.objects[path][f"{meta.get('namespace', '')}/{meta['name']}"]
        self.say(path, {"type": "DELETED", "object": {**item, "metadata": meta}})

    def say(self, path: str, event: Any) -> None:
        """Send an event to the watches of a path; None ends them, an exception breaks."""
        for watched, selector, queue in self._watches:
            if watched == path and _selected(event, selector):
                queue.put_nowait(event)

    def watching(self, path: str) -> int:
        """Count the open watches."""
        return sum(watched == path for watched, _, _ in self._watches)

    def sent(self, method: str) -> list[tuple[str, Any]]:
        """Requests of one kind, with their bodies."""
        return [(path, body) for verb, path, body in self.requests if verb == method]

    @override
    async def send(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        self.requests.append((method, path, body))
        await asyncio.sleep(0)
        if answer := self._scripted(method, path):
            return answer
        if method == "GET":
            return self._get(path, query or {})
        if method == "PATCH":
            return self._patch(path, body or {})
        return Reply(status=201, body={"status": "Success"})

    @override
    @asynccontextmanager
    async def watch(
        self, path: str, query: Mapping[str, str], *, for_s: float
    ) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
        self.requests.append(("WATCH", path, dict(query)))
        await asyncio.sleep(0)
        self._scripted("WATCH", path)
        queue: asyncio.Queue[Any] = asyncio.Queue()
        entry = (path, query.get("fieldSelector", ""), queue)
        self._watches.append(entry)
        try:
            yield _events(queue)
        finally:
            self._watches.remove(entry)

    def _scripted(self, method: str, path: str) -> Reply | None:
        if self.down is not None:
            raise self.down
        answers = self.script.get((method, path))
        if not answers:
            return None
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def _get(self, path: str, query: Mapping[str, str]) -> Reply:
        if path in self.objects or path in (paths.NODES, paths.PODS, paths.LEASES):
            items = [
                item
                for item in self.objects.get(path, {}).values()
                if _selected({"object": item}, query.get("fieldSelector", ""))
            ]
            meta = {"resourceVersion": str(self.version)}
            return Reply(status=200, body={"metadata": meta, "items": items})
        listed, _, name = path.rpartition("/")
        item = self.objects.get(listed, {}).get(f"/{name}")
        return Reply(status=200, body=item) if item else status(404, "not found")

    def _patch(self, path: str, patch: Mapping[str, Any]) -> Reply:
        listed, _, name = path.rpartition("/")
        item = self.objects.get(listed, {}).get(f"/{name}")
        if item is None:
            return status(404, "not found")
        wanted = patch["metadata"].get("resourceVersion")
        if wanted != item["metadata"]["resourceVersion"]:
            return status(409, "the object has been modified")
        return Reply(status=200, body=self.put(listed, _merged(item, patch)))


def _merged(target: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = _merged(merged.get(key), value)
    return merged


def _selected(event: Any, selector: str) -> bool:
    item = event.get("object") if isinstance(event, Mapping) else None
    if not selector or not item or "name" not in (item.get("metadata") or {}):
        return True
    path, _, value = selector.partition("=")
    for key in path.split("."):
        item = item.get(key, {})
    return bool(item == value)


async def _events(queue: asyncio.Queue[Any]) -> AsyncIterator[dict[str, Any]]:
    while (event := await queue.get()) is not None:
        if isinstance(event, Exception):
            raise event
        yield event
