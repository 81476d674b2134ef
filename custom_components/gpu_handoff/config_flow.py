"""The set-up: the host and its key, the login, who is who, the cluster."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any, override

from homeassistant.config_entries import (
    SOURCE_REAUTH,
    ConfigEntry,
    ConfigEntryState,
    ConfigFlow,
    ConfigFlowResult,
    ConfigSubentryData,
    OptionsFlow,
)
from homeassistant.const import CONF_HOST, CONF_PASSWORD, CONF_PORT, CONF_USERNAME
from homeassistant.core import callback

from . import flow_forms as forms
from .cluster.selector import parse as parse_selector
from .cluster_step import ClusterSteps
from .connections import context_data, context_of, credentials_of
from .const import (
    CONF_CARDS,
    CONF_CLUSTER,
    CONF_HOST_KEY,
    CONF_NODE_NAME,
    CONF_PASSPHRASE,
    CONF_PRIVATE_KEY,
    CONF_PROTECT,
    CONF_URI,
    CONF_VM_ID,
    DOMAIN,
    SUBENTRY_GAMING,
    SUBENTRY_NODE,
)
from .handoff.reason import HandoffError, Reason
from .names import person_of
from .tower.commands import HostContext
from .tower.discover import Found, look_around
from .tower.ssh import Connection, KeyPair, fetch_host_key, generate_key_pair


class HandoffConfigFlow(ClusterSteps, ConfigFlow, domain=DOMAIN):
    """Asks one thing at a time and checks each answer before it goes on."""

    VERSION = 1
    MINOR_VERSION = 1

    def __init__(self) -> None:
        """Know nothing yet."""
        super().__init__()
        self._fingerprint = ""
        self._own_key: KeyPair | None = None

    @staticmethod
    @callback
    @override
    def async_get_options_flow(config_entry: ConfigEntry) -> OptionsFlow:
        return HandoffOptionsFlow()

    @override
    async def async_step_user(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the host, and look at its key."""
        if user_input is not None:
            self._data.update(user_input, **{CONF_PORT: int(user_input[CONF_PORT])})
            try:
                _check_uri(user_input[CONF_URI])
                key = await fetch_host_key(self._data[CONF_HOST], self._data[CONF_PORT])
            except HandoffError as err:
                return self._again("user", forms.TOWER, err, user_input)
            self._data[CONF_HOST_KEY] = key.line
            self._fingerprint = key.fingerprint
            return await self.async_step_host_key()
        return self.async_show_form(step_id="user", data_schema=forms.TOWER)

    async def async_step_host_key(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Have a person compare the fingerprint; from then on the key is pinned."""
        if user_input is not None:
            return await self.async_step_login()
        return self.async_show_form(
            step_id="host_key",
            description_placeholders={
                "host": self._data[CONF_HOST],
                "fingerprint": self._fingerprint,
            },
        )

    async def async_step_login(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask how to log in."""
        return self.async_show_menu(
            step_id="login", menu_options=["new_key", "own_key", "password"]
        )

    async def async_step_new_key(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Show the public line of a key that we made, to be pasted on the host."""
        if self._own_key is None:
            self._own_key = generate_key_pair()
        if user_input is not None:
            return await self._log_in(
                "new_key", None, {CONF_PRIVATE_KEY: self._own_key.private}
            )
        return self.async_show_form(
            step_id="new_key", description_placeholders=self._words()
        )

    async def async_step_own_key(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for a private key, with its passphrase if it has one."""
        if user_input is not None:
            return await self._log_in("own_key", forms.OWN_KEY, user_input)
        return self.async_show_form(step_id="own_key", data_schema=forms.OWN_KEY)

    async def async_step_password(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for the password."""
        if user_input is not None:
            return await self._log_in("password", forms.PASSWORD, user_input)
        return self.async_show_form(step_id="password", data_schema=forms.PASSWORD)

    async def _log_in(
        self, step_id: str, schema: Any, secrets: Mapping[str, Any]
    ) -> ConfigFlowResult:
        """Log in and look around; each thing that is missing has its own sentence."""
        none = dict.fromkeys((CONF_PRIVATE_KEY, CONF_PASSPHRASE, CONF_PASSWORD))
        self._data.update(none | dict(secrets))
        connection = Connection(credentials_of(self._data), context_of(self._data))
        try:
            self._found = found = await look_around(connection)
        except HandoffError as err:
            return self._again(step_id, schema, err, secrets)
        finally:
            await connection.close()
        self._data.update(context_data(found.context))
        await self.async_set_unique_id(
            sha256(found.machine_id.encode()).hexdigest()[:32]
        )
        if self.source == SOURCE_REAUTH:
            self._abort_if_unique_id_mismatch(reason="another_host")
            entry = self._get_reauth_entry()
            result = self.async_update_and_abort(entry, data_updates=self._data)
            if entry.state is not ConfigEntryState.LOADED:
                # Nobody listens to a change of an entry that is not loaded.
                self.hass.config_entries.async_schedule_reload(entry.entry_id)
            return result
        self._abort_if_unique_id_configured()
        self._data[CONF_CARDS] = [card.as_dict() for card in found.known_cards]
        return await self.async_step_roles()

    async def async_step_roles(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask who is who."""
        schema = forms.roles(self._looked_at)
        if user_input is not None:
            gaming = user_input.get(SUBENTRY_GAMING, [])
            nodes = user_input.get(SUBENTRY_NODE, [])
            problem = None
            if not gaming:
                problem = HandoffError("no_gaming_vm")
            elif both := set(gaming) & set(nodes):
                name = self._looked_at.view.vms[both.pop()].name
                problem = HandoffError("both_roles", vm=name)
            if problem is not None:
                return self._again("roles", schema, problem, user_input)
            self._gaming, self._nodes = gaming, nodes
            if nodes:
                return await self.async_step_cluster()
            return self._finish()
        return self.async_show_form(step_id="roles", data_schema=schema)

    async def async_step_reauth(
        self, entry_data: Mapping[str, Any]
    ) -> ConfigFlowResult:
        """Begin again with the host's key: a changed one must be seen by a person."""
        self._data = dict(entry_data)
        return await self.async_step_reauth_confirm()

    async def async_step_reauth_confirm(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Look at the host's key once more."""
        words = {
            "host": str(self._data[CONF_HOST]),
            "user": str(self._data[CONF_USERNAME]),
        }
        if user_input is not None:
            try:
                key = await fetch_host_key(self._data[CONF_HOST], self._data[CONF_PORT])
            except HandoffError as err:
                return self._again("reauth_confirm", None, err, {}, words)
            changed = key.line != self._data[CONF_HOST_KEY]
            self._data[CONF_HOST_KEY] = key.line
            self._fingerprint = key.fingerprint
            return await (
                self.async_step_host_key() if changed else self.async_step_login()
            )
        return self.async_show_form(
            step_id="reauth_confirm", description_placeholders=words
        )

    @override
    def _finish(self) -> ConfigFlowResult:
        found = self._looked_at
        gaming = [
            self._subentry(
                SUBENTRY_GAMING, vm_id, person_of(found.view.vms[vm_id].name)
            )
            for vm_id in self._gaming
        ]
        nodes = [
            self._subentry(
                SUBENTRY_NODE,
                vm_id,
                found.view.vms[vm_id].name,
                **{CONF_NODE_NAME: self._node_names.get(vm_id)},
            )
            for vm_id in self._nodes
        ]
        self._data.setdefault(CONF_CLUSTER, None)
        return self.async_create_entry(
            title=found.hostname or self._data[CONF_HOST],
            data=self._data,
            subentries=[*gaming, *nodes],
        )

    @staticmethod
    def _subentry(
        kind: str, vm_id: str, title: str, **more: str | None
    ) -> ConfigSubentryData:
        return ConfigSubentryData(
            subentry_type=kind,
            title=title,
            unique_id=vm_id,
            data={CONF_VM_ID: vm_id, **more},
        )

    @property
    def _looked_at(self) -> Found:
        if self._found is None:
            raise RuntimeError("nothing was looked at yet")
        return self._found

    @override
    def _words(self) -> dict[str, str]:
        public = self._own_key.public if self._own_key else ""
        words = {"public_key": public}
        for key in (CONF_HOST, CONF_USERNAME):
            words[key] = str(self._data.get(key, ""))
        return words


def _check_uri(uri: str) -> None:
    """Refuse what is no libvirt URI: it becomes part of a command."""
    try:
        HostContext(uri=uri)
    except ValueError as err:
        raise HandoffError("uri_invalid", uri=uri[:80]) from err


class HandoffOptionsFlow(OptionsFlow):
    """How long each phase may take, and what a drain may do."""

    async def async_step_init(
        self, user_input: dict[str, Any] | None = None
    ) -> ConfigFlowResult:
        """Ask for all of it at once."""
        shown: Mapping[str, Any] = self.config_entry.options
        err = None
        if user_input is not None:
            shown = user_input
            err = _trouble_with(user_input.get(CONF_PROTECT, ""))
            if err is None:
                return self.async_create_entry(data=user_input)
        return self.async_show_form(
            step_id="init",
            data_schema=forms.options(shown),
            errors={CONF_PROTECT: err.key} if err else None,
            description_placeholders=dict(err.placeholders) if err else None,
        )


def _trouble_with(selector: str) -> Reason | None:
    """Why this is no label selector."""
    try:
        parse_selector(selector)
    except HandoffError as err:
        return err.reason
    return None
