"""Who is who in the household, read from the config entry."""

from homeassistant.config_entries import ConfigEntry

from .const import (
    CONF_DRAIN_POLICY,
    CONF_GIVE_BACK,
    CONF_NODE_NAME,
    CONF_VM_ID,
    SUBENTRY_GAMING,
    SUBENTRY_NODE,
)
from .handoff.phases import DEADLINES_S
from .handoff.world import DrainPolicy, GamingVm, GpuNode, House, VmId


def house_of(entry: ConfigEntry) -> House:
    """Build the heart's view of the household."""
    gaming = [
        GamingVm(vm_id=subentry.data[CONF_VM_ID])
        for subentry in entry.get_subentries_of_type(SUBENTRY_GAMING)
    ]
    nodes = node_names(entry)
    options = entry.options
    return House(
        gaming={vm.vm_id: vm for vm in gaming},
        nodes={
            vm_id: GpuNode(vm_id=vm_id, in_cluster=name is not None)
            for vm_id, name in nodes.items()
        },
        deadlines_s={
            phase: float(options[phase]) for phase in DEADLINES_S if phase in options
        },
        drain_policy=DrainPolicy(options.get(CONF_DRAIN_POLICY, DrainPolicy.RESTORE)),
        give_back_by_itself=options.get(CONF_GIVE_BACK, True),
    )


def node_names(entry: ConfigEntry) -> dict[VmId, str | None]:
    """Each GPU node's machine, with its name in the cluster if it is in one."""
    return {
        subentry.data[CONF_VM_ID]: subentry.data.get(CONF_NODE_NAME)
        for subentry in entry.get_subentries_of_type(SUBENTRY_NODE)
    }


def titles(entry: ConfigEntry) -> dict[VmId, str]:
    """What people call each machine."""
    return {
        subentry.data[CONF_VM_ID]: subentry.title
        for subentry in entry.subentries.values()
        if CONF_VM_ID in subentry.data
    }
