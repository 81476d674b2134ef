"""The machines and cards that these tests speak of, as the host prints them."""

from collections.abc import Iterable

from custom_components.gpu_handoff.tower.card_identity import KnownCard

NODE = "11111111-1111-4111-8111-111111111111"
ALICE = "22222222-2222-4222-8222-222222222222"
BOB = "33333333-3333-4333-8333-333333333333"
CARD1 = KnownCard(
    card_id="card1", address="0000:01:00.0", ids="10de:2684:1043:88e2", model="RTX 4090"
)
CARD2 = KnownCard(
    card_id="card2", address="0000:02:00.0", ids="10de:2204:1043:87d5", model="RTX 3090"
)
BOOT_ID = "31e88434-8ebb-4899-8419-c1ff032ce7ca"

CARDS = """\
function=0000:01:00.0
driver=vfio-pci
group=10
class=0x030000
vendor=0x10de
device=0x2684
subsystem_vendor=0x1043
subsystem_device=0x88e2
power_state=D0
boot_vga=0
function=0000:01:00.1
driver=vfio-pci
group=10
class=0x040300
vendor=0x10de
device=0x22ba
subsystem_vendor=0x1043
subsystem_device=0x88e2
function=0000:02:00.0
driver=vfio-pci
group=11
class=0x030000
vendor=0x10de
device=0x2204
subsystem_vendor=0x1043
subsystem_device=0x87d5
function=0000:02:00.1
driver=vfio-pci
group=11
class=0x040300
vendor=0x10de
device=0x1aef
subsystem_vendor=0x1043
subsystem_device=0x87d5
"""

NAMES = """\
0000:01:00.0 "VGA compatible controller" "NVIDIA Corporation" "AD102 [RTX 4090]" -ra1 "" ""
0000:02:00.0 "VGA compatible controller" "NVIDIA Corporation" "GA102 [RTX 3090]" -ra1 "" ""
"""


def hostdev(address: str, extra: str = "") -> str:
    """A card's function in a domain's XML."""
    domain, bus, rest = address.split(":")
    slot, function = rest.split(".")
    return (
        f"<hostdev mode='subsystem' type='pci' managed='yes'><source>"
        f"<address domain='0x{domain}' bus='0x{bus}' slot='0x{slot}'"
        f" function='0x{function}'/></source>{extra}</hostdev>"
    )


def domain(
    uuid: str, name: str, functions: Iterable[str] = (), *, agent: str | None = "silent"
) -> str:
    """A domain's XML. `agent`: None for no channel."""
    state = " state='connected'" if agent == "connected" else ""
    channel = (
        "<channel type='unix'><target type='virtio'"
        f" name='org.qemu.guest_agent.0'{state}/></channel>"
    )
    escaped = name.replace("&", "&amp;").replace("<", "&lt;")
    return (
        f"<domain type='kvm'>\n  <name>{escaped}</name>\n  <uuid>{uuid}</uuid>\n"
        f"  <devices>{channel if agent else ''}"
        f"{''.join(hostdev(function) for function in functions)}</devices>\n</domain>\n"
    )


def both(*cards: KnownCard) -> list[str]:
    """Both functions of each card."""
    return [f"{card.address[:-1]}{function}" for card in cards for function in (0, 1)]


class Machine:
    """One machine as virsh shows it."""

    def __init__(
        self, uuid: str, name: str, *cards: KnownCard, state: int = 5, reason: int = 1
    ) -> None:
        self.uuid = uuid
        self.name = name
        self.state = state
        self.reason = reason
        self.inactive = domain(uuid, name, both(*cards))
        self.live = self.inactive
        self.agent_connects()

    def agent_connects(self) -> None:
        """The guest agent opens its channel."""
        if self.state == 1:
            self.live = self.inactive.replace("agent.0'", "agent.0' state='connected'")

    def printed(self) -> str:
        """Its part of a refresh."""
        state = f"  state.state={self.state}\n  state.reason={self.reason}\n"
        return (
            f"<<</state {self.uuid}>>>Domain: '{self.name}'\n{state}\n"
            f"<<</live {self.uuid}>>>{self.live}"
            f"<<</inactive {self.uuid}>>>{self.inactive}"
        )


def refresh_text(
    machines: Iterable[Machine],
    asked: Iterable[str] | None = None,
    uri: str = "qemu:///system",
) -> str:
    """A whole refresh, with the parts of the machines that were asked for."""
    machines = list(machines)
    listed = "".join(f"{machine.uuid} {machine.name}\n" for machine in machines)
    wanted = {machine.uuid for machine in machines} if asked is None else set(asked)
    parts = "".join(m.printed() for m in machines if m.uuid in wanted)
    return f"boot_id={BOOT_ID}\n<<</uri>>>{uri}\n<<</list>>>{listed}{parts}<<</end>>>"


def household() -> list[Machine]:
    """The GPU node with both cards, running; Alice and Bob with one each, off."""
    return [
        Machine(NODE, "gpu-node", CARD1, CARD2, state=1),
        Machine(ALICE, "gaming-alice", CARD1),
        Machine(BOB, 'Bob\'s "PC"', CARD2),
    ]
