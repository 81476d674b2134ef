"""The machines of the lab. The simulator has the same ones."""

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

CARD_1 = ("0000:01:00.0", "0000:01:00.1")
CARD_2 = ("0000:02:00.0", "0000:02:00.1")
NODE_NAME = "gpu1"
OTHER_NODE = "cpu1"


@dataclass(frozen=True)
class Machine:
    """A domain. Some names are hostile on purpose."""

    uuid: str
    name: str
    cards: tuple[str, ...]
    memory_mib: int = 96
    knobs: dict[str, object] = field(default_factory=dict)


GPU_NODE = Machine(
    "11111111-1111-4111-8111-111111111111", "gpu-node", CARD_1 + CARD_2, 384
)
ALICE = Machine("22222222-2222-4222-8222-222222222222", "gaming-alice", CARD_1)
BOB = Machine("33333333-3333-4333-8333-333333333333", 'Bob\'s "PC"', CARD_2)
CAROL = Machine("44444444-4444-4444-8444-444444444444", "ゲーム carol", CARD_2)
CAST = (GPU_NODE, ALICE, BOB, CAROL)

DOMAIN = """
<domain type='qemu'>
  <name>{name}</name>
  <uuid>{uuid}</uuid>
  <memory unit='MiB'>{memory}</memory>
  <vcpu>1</vcpu>
  <os>
    <type arch='x86_64' machine='q35'>hvm</type>
    <kernel>{kernel}</kernel>
    <initrd>{initrd}</initrd>
    <cmdline>console=ttyS0 quiet nokaslr {words}</cmdline>
  </os>
  <features><acpi/><tcg><tb-cache unit='MiB'>32</tb-cache></tcg></features>
  <on_poweroff>destroy</on_poweroff>
  <on_reboot>restart</on_reboot>
  <on_crash>{on_crash}</on_crash>
  <devices>
    <emulator>{emulator}</emulator>
    <serial type='file'><source path='{console}'/><target port='0'/></serial>
    <channel type='unix'><target type='virtio' name='org.qemu.guest_agent.0'/></channel>
    <controller type='usb' model='none'/>
    <video><model type='vga' vram='8192'/></video>
    <graphics type='vnc'><listen type='socket'/></graphics>
    <memballoon model='none'/>
    <panic model='isa'/>
    {devices}
  </devices>
</domain>
"""
NETWORK = "<interface type='user'><model type='virtio'/></interface>"


def domain_xml(
    machine: Machine,
    *,
    kernel: object,
    initrd: object,
    emulator: object,
    console: object,
    knobs: dict[str, object],
) -> str:
    """Write a machine's definition; knobs become words on its kernel's command line."""
    words = {k: v for k, v in knobs.items() if v is not None and k != "on_crash"}
    devices = [_hostdev(address) for address in machine.cards]
    if machine is GPU_NODE:
        devices.append(NETWORK)
    return DOMAIN.format(
        name=escape(machine.name),
        uuid=machine.uuid,
        memory=machine.memory_mib,
        kernel=kernel,
        initrd=initrd,
        emulator=emulator,
        console=console,
        words=escape(" ".join(f"{key}={value}" for key, value in words.items())),
        on_crash=knobs.get("on_crash", "destroy"),
        devices="\n    ".join(devices),
    )


def _hostdev(address: str) -> str:
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    source = (
        f"domain='0x{domain}' bus='0x{bus}' slot='0x{slot}' function='0x{function}'"
    )
    return (
        "<hostdev mode='subsystem' type='pci' managed='yes'>"
        f"<source><address {source}/></source></hostdev>"
    )
