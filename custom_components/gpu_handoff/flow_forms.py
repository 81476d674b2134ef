"""The forms of the set-up, as schemas."""

from collections.abc import Mapping
from typing import Any

from homeassistant.const import CONF_HOST, CONF_PASSWORD, CONF_PORT, CONF_USERNAME
from homeassistant.helpers.selector import (
    BooleanSelector,
    NumberSelector,
    NumberSelectorConfig,
    NumberSelectorMode,
    SelectOptionDict,
    SelectSelector,
    SelectSelectorConfig,
    SelectSelectorMode,
    TextSelector,
    TextSelectorConfig,
    TextSelectorType,
)
import probatio

from .const import (
    CONF_DRAIN_POLICY,
    CONF_GIVE_BACK,
    CONF_KUBECONFIG,
    CONF_NODE_NAME,
    CONF_PASSPHRASE,
    CONF_PRIVATE_KEY,
    CONF_PROTECT,
    CONF_URI,
    CONF_VIA_TUNNEL,
    SUBENTRY_GAMING,
    SUBENTRY_NODE,
)
from .handoff.phases import DEADLINES_S
from .handoff.world import DrainPolicy, VmId
from .tower.discover import Found, Role

_SECRET = TextSelector(TextSelectorConfig(type=TextSelectorType.PASSWORD))
_LINES = TextSelector(TextSelectorConfig(multiline=True))
_PORT = NumberSelector(
    NumberSelectorConfig(min=1, max=65535, step=1, mode=NumberSelectorMode.BOX)
)

_HOST: dict[Any, Any] = {
    probatio.Required(CONF_HOST): TextSelector(),
    probatio.Required(CONF_PORT, default=22): _PORT,
    probatio.Required(CONF_USERNAME, default="root"): TextSelector(),
}
SERVER = probatio.Schema(_HOST)
TOWER = probatio.Schema(
    {
        **_HOST,
        probatio.Required(CONF_URI, default="qemu:///system"): TextSelector(),
    }
)
OWN_KEY = probatio.Schema(
    {
        probatio.Required(probatio.Secret(CONF_PRIVATE_KEY)): _LINES,
        probatio.Optional(probatio.Secret(CONF_PASSPHRASE)): _SECRET,
    }
)
PASSWORD = probatio.Schema({probatio.Required(probatio.Secret(CONF_PASSWORD)): _SECRET})
KUBECONFIG = probatio.Schema(
    {probatio.Required(probatio.Secret(CONF_KUBECONFIG)): _LINES}
)
TUNNEL = probatio.Schema(
    {probatio.Required(CONF_VIA_TUNNEL, default=True): BooleanSelector()}
)


def roles(found: Found) -> probatio.Schema:
    """Who is who, with what was found proposed."""
    options = [
        SelectOptionDict(value=vm_id, label=_label(found, vm_id))
        for vm_id in sorted(found.view.vms, key=lambda i: found.view.vms[i].name)
    ]
    several = SelectSelector(
        SelectSelectorConfig(
            options=options, multiple=True, mode=SelectSelectorMode.LIST
        )
    )
    proposed = {
        role: [vm_id for vm_id, r in found.roles.items() if r is role] for role in Role
    }
    return probatio.Schema(
        {
            probatio.Optional(SUBENTRY_GAMING, default=proposed[Role.GAMING]): several,
            probatio.Optional(SUBENTRY_NODE, default=proposed[Role.GPU_NODE]): several,
        }
    )


def _label(found: Found, vm_id: VmId) -> str:
    vm = found.view.vms[vm_id]
    models = sorted(found.view.cards[card_id].model for card_id in vm.wants)
    return f"{vm.name} ({', '.join(models)})" if models else vm.name


def node(names: list[str], proposed: str | None) -> probatio.Schema:
    """Which node of the cluster a machine is."""
    selector = SelectSelector(SelectSelectorConfig(options=names))
    key = (
        probatio.Required(CONF_NODE_NAME, default=proposed)
        if proposed
        else probatio.Required(CONF_NODE_NAME)
    )
    return probatio.Schema({key: selector})


def options(now: Mapping[str, Any]) -> probatio.Schema:
    """The options, with what is set now."""
    seconds = NumberSelector(
        NumberSelectorConfig(
            min=1,
            max=86400,
            step=1,
            mode=NumberSelectorMode.BOX,
            unit_of_measurement="s",
        )
    )
    policy = SelectSelector(
        SelectSelectorConfig(
            options=[policy.value for policy in DrainPolicy],
            translation_key=CONF_DRAIN_POLICY,
        )
    )
    fields: dict[Any, Any] = {
        probatio.Required(
            CONF_DRAIN_POLICY, default=now.get(CONF_DRAIN_POLICY, DrainPolicy.RESTORE)
        ): policy,
        probatio.Required(
            CONF_GIVE_BACK, default=now.get(CONF_GIVE_BACK, True)
        ): BooleanSelector(),
        probatio.Optional(
            CONF_PROTECT, description={"suggested_value": now.get(CONF_PROTECT, "")}
        ): TextSelector(),
    }
    for phase, default in DEADLINES_S.items():
        key = probatio.Required(str(phase), default=int(now.get(phase, default)))
        fields[key] = seconds
    return probatio.Schema(fields)
