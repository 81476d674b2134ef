"""The tower and the cluster of a config entry: made from its data, closed together."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from homeassistant.const import CONF_HOST, CONF_PASSWORD, CONF_PORT, CONF_USERNAME

from .cluster.client import Api
from .cluster.kubeconfig import read as read_kubeconfig
from .const import (
    CONF_API_HOST,
    CONF_CLUSTER,
    CONF_CONTEXT,
    CONF_FORCED_COMMAND,
    CONF_HOST_KEY,
    CONF_KUBECONFIG,
    CONF_NOWAIT,
    CONF_PASSPHRASE,
    CONF_PRIVATE_KEY,
    CONF_SUDO,
    CONF_URI,
    CONF_VIA_TUNNEL,
    CONF_VIRSH,
)
from .tower.commands import HostContext
from .tower.ssh import Connection, Credentials

API_TIMEOUT_S = 10.0
"""The library itself would wait for ever."""


def credentials_of(data: Mapping[str, Any]) -> Credentials:
    """Who we are to the host."""
    return Credentials(
        host=data[CONF_HOST],
        port=data[CONF_PORT],
        username=data[CONF_USERNAME],
        host_key=data[CONF_HOST_KEY],
        private_key=data.get(CONF_PRIVATE_KEY),
        passphrase=data.get(CONF_PASSPHRASE),
        password=data.get(CONF_PASSWORD),
        forced_command=data.get(CONF_FORCED_COMMAND, False),
    )


def context_of(data: Mapping[str, Any]) -> HostContext:
    """How virsh is called there."""
    return HostContext(
        uri=data.get(CONF_URI, "qemu:///system"),
        sudo=data.get(CONF_SUDO, ""),
        virsh=data.get(CONF_VIRSH, "virsh"),
        nowait=data.get(CONF_NOWAIT, True),
    )


def context_data(context: HostContext) -> dict[str, Any]:
    """The same, for keeping."""
    return {
        CONF_URI: context.uri,
        CONF_SUDO: context.sudo,
        CONF_VIRSH: context.virsh,
        CONF_NOWAIT: context.nowait,
    }


@dataclass(slots=True)
class Tunnels:
    """Local ports that lead through the tower, one for each address."""

    connection: Connection
    _open: dict[tuple[str, int], int] = field(default_factory=dict)
    _closers: list[Callable[[], Awaitable[None]]] = field(default_factory=list)

    async def dial(self, host: str, port: int) -> tuple[str, int]:
        """Tell where the tunnel to an address begins."""
        if (host, port) not in self._open:
            local_port, closer = await self.connection.forward_local(host, port)
            self._open[host, port] = local_port
            self._closers.append(closer)
        return "127.0.0.1", self._open[host, port]


def api_of(data: Mapping[str, Any], connection: Connection) -> Api | None:
    """The cluster, if one is configured. Raises HandoffError for a bad kubeconfig."""
    cluster = data.get(CONF_CLUSTER)
    if not cluster:
        return None
    kubeconfig = read_kubeconfig(cluster[CONF_KUBECONFIG], cluster.get(CONF_CONTEXT))
    if host := cluster.get(CONF_API_HOST):
        kubeconfig = kubeconfig.at(host)
    dial = Tunnels(connection).dial if cluster.get(CONF_VIA_TUNNEL) else None
    return Api(kubeconfig, dial=dial, timeout_s=API_TIMEOUT_S)
