"""The part of the set-up that is about the cluster."""

from collections.abc import Mapping
from typing import Any

from homeassistant.config_entries import ConfigFlow, ConfigFlowResult
from homeassistant.const import CONF_HOST, CONF_PORT

from . import flow_forms as forms
from .cluster.client import Api
from .cluster.kubeconfig import read as read_kubeconfig
from .cluster.nodes import FoundNode, find_nodes, node_of
from .cluster.rights import check_rights
from .connections import api_of, context_of, credentials_of
from .const import (
    CONF_API_HOST,
    CONF_CLUSTER,
    CONF_CONTEXT,
    CONF_HOST_KEY,
    CONF_KUBECONFIG,
    CONF_NODE_NAME,
    CONF_VIA_TUNNEL,
)
from .handoff.reason import HandoffError
from .tower import requests
from .tower.discover import Found
from .tower.ssh import Connection, fetch_host_key


class ClusterSteps(ConfigFlow):
    """Steps that a set-up passes once it has a GPU node."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._data: dict[str, Any] = {}
        self._found: Found | None = None
        self._gaming: list[str] = []
        self._nodes: list[str] = []
        self._node_names: dict[str, str] = {}
        self._seen: list[FoundNode] = []
        self._server: dict[str, Any] = {}
        self._server_words: dict[str, str] = {}

    def _finish(self) -> ConfigFlowResult:
        raise NotImplementedError

    def _words(self) -> dict[str, str]:
        return {}

    async def async_step_cluster(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask how the cluster is reached, if there is one."""
        return self.async_show_menu(
            step_id="cluster",
            menu_options=[
                "paste_kubeconfig",
                "read_kubeconfig",
                "server",
                "no_cluster",
            ],
        )

    async def async_step_no_cluster(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Do without: the node is any machine that borrows cards."""
        return self._finish()

    async def async_step_paste_kubeconfig(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for a kubeconfig."""
        if user_input is not None:
            return await self._take(
                "paste_kubeconfig", user_input[CONF_KUBECONFIG], user_input
            )
        return self.async_show_form(
            step_id="paste_kubeconfig", data_schema=forms.KUBECONFIG
        )

    async def async_step_read_kubeconfig(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Read the kubeconfig from the tower itself."""
        if user_input is None:
            return self.async_show_form(step_id="read_kubeconfig")
        connection = self._connection()
        try:
            text = await requests.kubeconfig(connection)
        except HandoffError as err:
            return self._again("read_kubeconfig", None, err, {})
        finally:
            await connection.close()
        return await self._take("read_kubeconfig", text, {})

    async def async_step_server(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for another host that is the cluster's server, and look at its key."""
        if user_input is None:
            return self.async_show_form(step_id="server", data_schema=forms.SERVER)
        host, port = user_input[CONF_HOST], int(user_input[CONF_PORT])
        try:
            key = await fetch_host_key(host, port)
        except HandoffError as err:
            return self._again("server", forms.SERVER, err, user_input)
        self._server = {**user_input, CONF_PORT: port, CONF_HOST_KEY: key.line}
        self._server_words = {"host": host, "fingerprint": key.fingerprint}
        return await self.async_step_server_key()

    async def async_step_server_key(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Have its key confirmed, then read the kubeconfig over a short connection."""
        if user_input is None:
            return self.async_show_form(
                step_id="server_key", description_placeholders=self._server_words
            )
        secrets = {**self._data, **self._server}
        connection = Connection(credentials_of(secrets))
        try:
            text = await requests.kubeconfig(connection)
        except HandoffError as err:
            return self._again("server_key", None, err, {}, self._server_words)
        finally:
            await connection.close()
        return await self._take("server_key", text, {}, at=self._server[CONF_HOST])

    async def _take(
        self,
        step_id: str,
        text: str,
        typed: Mapping[str, Any],
        *,
        at: str | None = None,
    ) -> ConfigFlowResult:
        """Check a kubeconfig before anything is sent; offer the tunnel for 127.0.0.1.

        Read from a server of its own, 127.0.0.1 means that server: `at`.
        """
        schema = forms.KUBECONFIG if step_id == "paste_kubeconfig" else None
        try:
            kubeconfig = read_kubeconfig(text)
        except HandoffError as err:
            return self._again(step_id, schema, err, typed, self._server_words)
        self._data[CONF_CLUSTER] = {
            CONF_KUBECONFIG: text,
            CONF_CONTEXT: kubeconfig.context,
            CONF_VIA_TUNNEL: False,
            CONF_API_HOST: at if kubeconfig.is_loopback else None,
        }
        if kubeconfig.is_loopback and at is None:
            return await self.async_step_tunnel()
        return await self._look(step_id, schema, typed)

    async def async_step_tunnel(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """127.0.0.1 means the machine that the file was made on: go there over SSH."""
        if user_input is not None:
            self._data[CONF_CLUSTER][CONF_VIA_TUNNEL] = user_input[CONF_VIA_TUNNEL]
            return await self._look("tunnel", forms.TUNNEL, user_input)
        return self.async_show_form(
            step_id="tunnel",
            data_schema=forms.TUNNEL,
            description_placeholders=self._api_words(),
        )

    def _api_words(self) -> dict[str, str]:
        """What the steps about the cluster's address say of it."""
        kubeconfig = read_kubeconfig(self._data[CONF_CLUSTER][CONF_KUBECONFIG])
        return {"address": str(kubeconfig.address), **self._server_words}

    async def _look(
        self, step_id: str, schema: Any, typed: Mapping[str, Any]
    ) -> ConfigFlowResult:
        """Ask the cluster for its nodes."""
        connection = self._connection()
        api = api_of(self._data, connection)
        try:
            self._seen = await _nodes_of(api)
        except HandoffError as err:
            return self._again(step_id, schema, err, typed, self._api_words())
        finally:
            if api:
                await api.close()
            await connection.close()
        return await self.async_step_node()

    async def async_step_node(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask which node each GPU node's machine is; its firmware tells."""
        left = [vm_id for vm_id in self._nodes if vm_id not in self._node_names]
        if user_input is not None:
            self._node_names[left.pop(0)] = user_input[CONF_NODE_NAME]
        if not left:
            return self._finish()
        same = node_of(left[0], self._seen)
        name = self._found.view.vms[left[0]].name if self._found else left[0]
        return self.async_show_form(
            step_id="node",
            data_schema=forms.node(
                [node.name for node in self._seen], same.name if same else None
            ),
            description_placeholders={"vm": name},
        )

    def _connection(self) -> Connection:
        return Connection(credentials_of(self._data), context_of(self._data))

    def _again(
        self,
        step_id: str,
        schema: Any,
        err: HandoffError,
        typed: Mapping[str, Any],
        words: Mapping[str, str] | None = None,
    ) -> ConfigFlowResult:
        """Show a form once more, with a sentence of its own and what was typed."""
        if schema is not None:
            schema = self.add_suggested_values_to_schema(schema, typed)
        return self.async_show_form(
            step_id=step_id,
            data_schema=schema,
            errors={"base": err.reason.key},
            description_placeholders={
                **self._words(),
                **(words or {}),
                **err.reason.placeholders,
            },
        )


async def _nodes_of(api: Api | None) -> list[FoundNode]:
    """Find the nodes, and name the rights that a handover would lack later."""
    seen = await find_nodes(api) if api else []
    if api is None or not seen:
        raise HandoffError("no_nodes")
    await check_rights(api)
    return seen
