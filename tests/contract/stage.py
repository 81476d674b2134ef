"""A tower and a cluster to test on: the simulator is one, the lab is another."""

from collections.abc import Mapping
from typing import Any, Protocol

GPU_NODE = "11111111-1111-4111-8111-111111111111"
ALICE = "22222222-2222-4222-8222-222222222222"
BOB = "33333333-3333-4333-8333-333333333333"
CAROL = "44444444-4444-4444-8444-444444444444"
NODE = "gpu1"


class Stage(Protocol):
    """How the stage is reached, and what a person or a fault does on it.

    `speed`: how much faster than real time it is. Each test begins with `reset`: only the
    GPU node runs, Ready with both cards, uncordoned, with no pods or budgets of a test.
    """

    speed: float

    @property
    def ssh_host(self) -> str: ...
    @property
    def ssh_port(self) -> int: ...
    @property
    def username(self) -> str: ...
    @property
    def private_key(self) -> str: ...
    @property
    def host_key(self) -> str: ...
    @property
    def kubeconfig(self) -> str: ...

    async def reset(self) -> None: ...
    async def virsh(self, *args: str) -> str:
        """What virsh said, both outputs as one text; it never raises."""
        ...

    async def power(self, vm_id: str) -> str: ...
    async def set_knobs(self, vm_id: str, **knobs: Any) -> None:
        """Words for the guest's next start, as the lab's guests understand them."""
        ...

    async def create_deployment(
        self,
        name: str,
        *,
        replicas: int = 1,
        gpus: int = 0,
        grace_s: int = 2,
        labels: Mapping[str, str] | None = None,
        on_node: str | None = NODE,
    ) -> None:
        """Returns when its pods run; they would rather run on `on_node`."""
        ...

    async def create_budget(
        self,
        name: str,
        match_labels: Mapping[str, str],
        *,
        min_available: int | None = None,
        max_unavailable: int | None = None,
    ) -> None: ...
    async def delete_namespace_content(self) -> None: ...
    async def cordon_by_hand(self) -> None: ...
    async def node(self) -> dict[str, Any]: ...
    async def audit(self) -> list[dict[str, Any]]:
        """Requests to the API server: user, verb, resource, subresource, name, code."""
        ...

    async def restart_libvirtd(self) -> None: ...
    async def stop_api(self) -> None: ...
    async def start_api(self) -> None: ...
