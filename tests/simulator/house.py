"""What stands in the simulated house: cards, machines and who they are."""

from dataclasses import dataclass, replace

GPU_NODE = "11111111-1111-4111-8111-111111111111"
ALICE = "22222222-2222-4222-8222-222222222222"
BOB = "33333333-3333-4333-8333-333333333333"
CAROL = "44444444-4444-4444-8444-444444444444"


@dataclass(slots=True, kw_only=True)
class PciFunction:
    """One function on the host's bus. `driver` is who has it when no machine does."""

    address: str
    class_code: str
    vendor: str
    device: str
    subsystem_vendor: str = "1043"
    subsystem_device: str = "88e2"
    driver: str | None = "vfio-pci"
    group: int | None = None
    class_text: str = ""
    vendor_text: str = ""
    device_text: str = ""
    boot_vga: bool = False
    device_nodes: tuple[str, ...] = ()
    console: str | None = None
    dead: bool = False

    @property
    def is_display(self) -> bool:
        return self.class_code.startswith("03")


@dataclass(slots=True, kw_only=True)
class VmPlan:
    """A machine's definition. `hostdevs`: addresses of the functions that it wants."""

    uuid: str
    name: str
    hostdevs: tuple[str, ...] = ()
    has_agent_channel: bool = True
    on_crash: str = "destroy"
    memory_kib: int = 16777216


@dataclass(slots=True, kw_only=True)
class House:
    """Everything that a simulator starts with."""

    functions: list[PciFunction]
    vms: list[VmPlan]
    gpu_node: str | None = GPU_NODE
    node_name: str = "gpu1"
    other_node: str = "cpu1"
    running_at_first: tuple[str, ...] = (GPU_NODE,)


CARD_1 = ("0000:01:00.0", "0000:01:00.1")
CARD_2 = ("0000:02:00.0", "0000:02:00.1")

_ALICES_VGA = PciFunction(
    address=CARD_1[0],
    class_code="030000",
    vendor="10de",
    device="2684",
    group=10,
    class_text="VGA compatible controller",
    vendor_text="NVIDIA Corporation",
    device_text="AD102 [GeForce RTX 4090]",
)
_BOBS_VGA = PciFunction(
    address=CARD_2[0],
    class_code="030000",
    vendor="10de",
    device="2204",
    subsystem_device="87d5",
    group=11,
    class_text="VGA compatible controller",
    vendor_text="NVIDIA Corporation",
    device_text="GA102 [GeForce RTX 3090]",
)
_HOSTS_OWN = PciFunction(
    address="0000:00:02.0",
    class_code="030000",
    vendor="8086",
    device="1912",
    subsystem_device="8694",
    driver="i915",
    group=0,
    class_text="VGA compatible controller",
    vendor_text="Intel Corporation",
    device_text="HD Graphics 530",
    boot_vga=True,
    device_nodes=("/dev/dri/card0", "/dev/dri/renderD128"),
    console="(M) frame buffer device",
)


def _audio_of(display: PciFunction, device: str, text: str) -> PciFunction:
    return replace(
        display,
        address=f"{display.address[:-1]}1",
        class_code="040300",
        device=device,
        class_text="Audio device",
        device_text=text,
    )


def default_house() -> House:
    """Two cards and the host's own; a GPU node and three players."""
    return House(
        functions=[
            replace(_HOSTS_OWN),
            replace(_ALICES_VGA),
            _audio_of(_ALICES_VGA, "22ba", "AD102 High Definition Audio Controller"),
            replace(_BOBS_VGA),
            _audio_of(_BOBS_VGA, "1aef", "GA102 High Definition Audio Controller"),
        ],
        vms=[
            VmPlan(uuid=GPU_NODE, name="gpu-node", hostdevs=CARD_1 + CARD_2),
            VmPlan(uuid=ALICE, name="gaming-alice", hostdevs=CARD_1),
            VmPlan(uuid=BOB, name='Bob\'s "PC"', hostdevs=CARD_2),
            VmPlan(uuid=CAROL, name="ゲーム carol", hostdevs=CARD_2),
        ],
    )
