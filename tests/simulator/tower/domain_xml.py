"""A guest's XML as `virsh dumpxml` prints it, live or inactive."""

from ..house import VmPlan
from .guest import Guest

_ESCAPES = str.maketrans(
    {"&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&apos;", '"': "&quot;"}
)

_HEAD = """\
<domain type='kvm'{id}>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit='KiB'>{memory_kib}</memory>
  <currentMemory unit='KiB'>{memory_kib}</currentMemory>
  <vcpu placement='static'>8</vcpu>
  <os>
    <type arch='x86_64' machine='pc-q35-7.2'>hvm</type>
    <boot dev='hd'/>
  </os>
  <features>
    <acpi/>
  </features>
  <cpu mode='host-passthrough' check='none' migratable='on'/>
  <clock offset='utc'/>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>{on_crash}</on_crash>
  <devices>
    <emulator>/usr/bin/qemu-system-x86_64</emulator>
    <controller type='virtio-serial' index='0'>{controller_alias}
      <address type='pci' domain='0x0000' bus='0x03' slot='0x00' function='0x0'/>
    </controller>
"""
_CHANNEL_OFF = """\
    <channel type='unix'>
      <target type='virtio' name='org.qemu.guest_agent.0'/>
      <address type='virtio-serial' controller='0' bus='0' port='1'/>
    </channel>
"""
_CHANNEL_ON = """\
    <channel type='unix'>
      <source mode='bind' path='/run/libvirt/qemu/channel/{id}/org.qemu.guest_agent.0'/>
      <target type='virtio' name='org.qemu.guest_agent.0' state='{state}'/>
      <alias name='channel0'/>
      <address type='virtio-serial' controller='0' bus='0' port='1'/>
    </channel>
"""
_HOSTDEV = """\
    <hostdev mode='subsystem' type='pci' managed='yes'>{driver}
      <source>
        <address domain='0x{domain}' bus='0x{bus}' slot='0x{slot}' function='0x{function}'/>
      </source>{alias}
      <address type='pci' domain='0x0000' bus='0x{guest_bus:02x}' slot='0x00' function='0x0'/>
    </hostdev>
"""
_TAIL = """\
    <panic model='isa'/>
  </devices>
</domain>
"""
_FIRST_GUEST_BUS = 5
_BROKEN = "<domain type='kvm'>\n  <name>{name}\n  <devices>\n    <hostdev mode='sub"


def inactive(guest: Guest) -> str:
    """The definition: what the next start will use."""
    plan = guest.plan
    if guest.knobs.broken_xml:
        return _broken(plan)
    channel = _CHANNEL_OFF if plan.has_agent_channel else ""
    hostdevs = (
        _hostdev(address, number, live=False)
        for number, address in enumerate(plan.hostdevs)
    )
    return _head(plan) + channel + "".join(hostdevs) + _TAIL


def live(guest: Guest) -> str:
    """What runs now; of a machine that is off virsh prints the definition."""
    if not guest.active:
        return inactive(guest)
    if guest.knobs.broken_xml:
        return _broken(guest.plan)
    hostdevs = (
        _hostdev(address, number, live=True)
        for number, address in enumerate(guest.holds)
    )
    return (
        _head(guest.plan, guest.domain_id) + _channel(guest) + "".join(hostdevs) + _TAIL
    )


def _head(plan: VmPlan, domain_id: int | None = None) -> str:
    alias = "\n      <alias name='virtio-serial0'/>" if domain_id else ""
    return _HEAD.format(
        id=f" id='{domain_id}'" if domain_id else "",
        name=plan.name.translate(_ESCAPES),
        uuid=plan.uuid,
        memory_kib=plan.memory_kib,
        on_crash=plan.on_crash,
        controller_alias=alias,
    )


def _channel(guest: Guest) -> str:
    if not guest.plan.has_agent_channel:
        return ""
    state = "connected" if guest.agent_connected else "disconnected"
    return _CHANNEL_ON.format(id=guest.domain_id, state=state)


def _hostdev(address: str, number: int, *, live: bool) -> str:
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    return _HOSTDEV.format(
        domain=domain,
        bus=bus,
        slot=slot,
        function=function,
        guest_bus=_FIRST_GUEST_BUS + number,
        driver="\n      <driver name='vfio'/>" if live else "",
        alias=f"\n      <alias name='hostdev{number}'/>" if live else "",
    )


def _broken(plan: VmPlan) -> str:
    return _BROKEN.format(name=plan.name.translate(_ESCAPES))
