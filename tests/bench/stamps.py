"""When things really happened: from the API server's audit log and libvirt's own events."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import datetime

from tests.lab.cast import ALICE
from tests.lab.lab import Lab
from tests.lab.processes import alive


def seconds(text: str) -> float:
    """Turn an RFC 3339 or a virsh time stamp into seconds."""
    return datetime.fromisoformat(text.replace(" ", "T", 1)).timestamp()


class Events:
    """Lifecycle and agent events of the lab's tower, with libvirt's own times."""

    def __init__(self) -> None:
        self.seen: list[tuple[float, str]] = []
        self._news = asyncio.Event()

    def add(self, line: str) -> None:
        """Take one line of virsh event."""
        stamp, _, what = line.partition(": ")
        try:
            self.seen.append((seconds(stamp), what))
        except ValueError:
            return
        self._news.set()

    def at(self, words: str, after: float) -> float | None:
        """When an event with these words happened first, after a moment."""
        return next((t for t, what in self.seen if t >= after and words in what), None)

    async def wait(self, words: str, after: float, patience_s: float = 90) -> float:
        """Wait for such an event."""
        async with asyncio.timeout(patience_s):
            while (found := self.at(words, after)) is None:
                self._news.clear()
                await self._news.wait()
        return found


@asynccontextmanager
async def events(lab: Lab) -> AsyncGenerator[Events]:
    """Hear the tower's events, beside the product and not through it."""
    words = ["nsenter", f"--mount=/proc/{alive(lab.run, 'tower')}/ns/mnt"]
    virsh = ["virsh", "-q", "-c", "qemu:///system", "event", "--all", "--loop"]
    process = await asyncio.create_subprocess_exec(
        *words, *virsh, "--timestamp", stdout=asyncio.subprocess.PIPE
    )
    heard = Events()

    async def read() -> None:
        assert process.stdout is not None
        async for line in process.stdout:
            heard.add(line.decode().strip())

    reader = asyncio.create_task(read())
    await asyncio.sleep(0.5)
    try:
        yield heard
    finally:
        process.terminate()
        await process.wait()
        reader.cancel()


def floor_s(lab: Lab, heard: Events, after: float) -> float:
    """What no program can save: the pod's grace, the guest's shutdown, the guest's boot.

    Both of the guests' times run from libvirtd's own record of the order.
    """
    orders = [order for order in lab.orders() if order[0] >= after]
    shutdown = next(t for t, call, _ in orders if "Shutdown" in call)
    create = next(
        t for t, call, uuid in orders if "Create" in call and uuid == ALICE.uuid
    )
    stopped = heard.at("'gpu-node': Stopped", after)
    ready = heard.at(f"for domain '{ALICE.name}': state: 'connected'", create)
    if stopped is None or ready is None:
        raise RuntimeError("the tower's events are incomplete")
    return grace_s(lab, after) + stopped - shutdown + ready - create


def grace_s(lab: Lab, after: float) -> float:
    """From the accepted eviction of a pod to its end, as its node reported it."""
    evicted = ended = None
    for entry in lab.control_plane.audit():
        reference = entry.get("objectRef") or {}
        stamp = seconds(str(entry["stageTimestamp"]))
        if stamp < after or reference.get("resource") != "pods":
            continue
        code = (entry.get("responseStatus") or {}).get("code")
        if reference.get("subresource") == "eviction" and code == 201:
            evicted = evicted or stamp
        elif entry["verb"] == "delete":
            ended = stamp
    if evicted is None or ended is None:
        raise RuntimeError("the audit log shows no eviction of this run")
    return ended - evicted
