"""The tower of the demo: an embedded one, or the lab's real one."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from subprocess import SubprocessError
from typing import Any, Protocol

from .errors import DemoError

GPU_NODE = "11111111-1111-4111-8111-111111111111"
ALICE = "22222222-2222-4222-8222-222222222222"


class Tower(Protocol):
    """What the demo needs of a stage: how it is reached, and a person's hand on it."""

    @property
    def ssh_host(self) -> str: ...
    @property
    def ssh_port(self) -> int: ...
    @property
    def username(self) -> str: ...
    @property
    def private_key(self) -> str: ...
    @property
    def kubeconfig(self) -> str: ...

    async def virsh(self, *args: str) -> str: ...
    async def power(self, vm_id: str) -> str: ...
    async def node(self) -> dict[str, Any]: ...
    async def audit(self) -> list[dict[str, Any]]: ...
    async def create_deployment(
        self,
        name: str,
        replicas: int = 1,
        gpus: int = 0,
        grace_s: int = 2,
        labels: Mapping[str, str] | None = None,
    ) -> None: ...
    async def create_budget(
        self,
        name: str,
        match_labels: Mapping[str, str],
        min_available: int | None = None,
    ) -> None: ...


@asynccontextmanager
async def embedded(speed: float = 1.0) -> AsyncGenerator[Tower]:
    """A tower and a cluster inside this process."""
    from tests.simulator import Simulator  # noqa: PLC0415
    from tests.simulator.stage import SimulatorStage  # noqa: PLC0415

    async with Simulator(speed=speed) as simulator:
        stage = SimulatorStage(simulator)
        await furnish(stage)
        yield stage


@asynccontextmanager
async def lab() -> AsyncGenerator[Tower]:
    """Real libvirt, QEMU and Kubernetes; ended afterwards if it was started for this."""
    from tests.lab.lab import Lab  # noqa: PLC0415
    from tests.lab.requirements import why_not  # noqa: PLC0415
    from tests.lab.stage import LabStage  # noqa: PLC0415

    if reason := why_not():
        raise DemoError(f"the lab cannot run here: {reason}")
    real = Lab()
    was_up = real.is_up
    stage = LabStage(real)
    starting = asyncio.create_task(stage.start())
    try:
        await asyncio.shield(starting)
        await stage.reset()
        await furnish(stage)
        yield stage
        await stage.reset()
    except (RuntimeError, SubprocessError) as err:
        raise DemoError(f"the lab: {err}") from err
    finally:
        # What is half begun cannot be ended: Ctrl-C waits for it.
        await asyncio.gather(starting, return_exceptions=True)
        if not was_up:
            await stage.stop()


async def furnish(tower: Tower) -> None:
    """Work for the cards, and a service that may lose one pod at a time."""
    search = {"app": "photo-search"}
    await tower.create_deployment("photo-search", replicas=2, grace_s=3, labels=search)
    await tower.create_budget("photo-search", search, min_available=1)
    await tower.create_deployment("chat", gpus=1, labels={"app": "chat"})
