"""The scripts, run by a real POSIX shell against made-up hosts."""

from pathlib import Path
import shutil
import subprocess

import pytest

from custom_components.gpu_handoff.tower.answer import Answer, without_banner
from custom_components.gpu_handoff.tower.commands import VERBS, HostContext
from custom_components.gpu_handoff.tower.complaints import error_of
from custom_components.gpu_handoff.tower.hello import Hello, read_hello
from custom_components.gpu_handoff.tower.pci import read_cards, read_models
from custom_components.gpu_handoff.tower.virsh import read_refresh

from .cast import ALICE, BOB, household, refresh_text
from .shell_host import PASSING_SUDO, ShellHost

SHELLS = ("sh", "dash", "bash", "fish", "tcsh", "zsh", "ksh")


@pytest.fixture
def host(tmp_path: Path) -> ShellHost:
    return ShellHost(tmp_path)


def answer(ran: subprocess.CompletedProcess[str]) -> Answer:
    """What the connection makes of it."""
    said = Answer(stdout=ran.stdout, stderr=ran.stderr, exit_status=ran.returncode)
    return without_banner(said, "games")


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("verb", sorted(set(VERBS) - {"events"}))
def test_every_login_shell_runs_every_request(
    host: ShellHost, shell: str, verb: str
) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    args = () if verb in {"ping", "hello", "kubeconfig", "cards"} else (ALICE,)
    ran = host.run(verb, args, shell=path)
    by_sh = host.run(verb, args)
    assert answer(ran) == answer(by_sh)
    assert "yntax" not in ran.stderr


def test_a_shell_that_runs_nothing_is_a_sentence(host: ShellHost) -> None:
    path = shutil.which("nologin") or "/usr/sbin/nologin"
    if not Path(path).exists():
        pytest.skip("nologin is not installed")
    ran = subprocess.run([path, "-c", "x"], check=False, capture_output=True, text=True)
    said = Answer(stdout=ran.stdout, stderr=ran.stderr, exit_status=ran.returncode)
    with pytest.raises(Exception, match="account_disabled"):
        without_banner(said, "games")


def test_one_refresh_is_one_virsh_for_all_machines(host: ShellHost) -> None:
    host.write("stdout", refresh_text(household()).split("\n", 1)[1])
    refresh = read_refresh(answer(host.run("refresh", [ALICE, BOB])).stdout)
    assert len(host.calls) == 1
    assert host.calls[0] == (
        "-q -c qemu:///system echo <<</uri>>>; uri; echo <<</list>>>;"
        " list --all --uuid --name;"
        + "".join(
            f" echo <<</state {vm}>>>; domstats --state --raw --nowait {vm};"
            f" echo <<</live {vm}>>>; dumpxml --domain {vm};"
            f" echo <<</inactive {vm}>>>; dumpxml --inactive --domain {vm};"
            for vm in (ALICE, BOB)
        )
        + " echo <<</end>>>"
    )
    assert refresh.names[ALICE] == "gaming-alice"
    assert len(refresh.boot_id) == len(ALICE)
    assert refresh.whole


def test_an_old_virsh_is_asked_without_the_option_it_lacks(host: ShellHost) -> None:
    host.run("refresh", [ALICE], HostContext(nowait=False))
    assert "nowait" not in host.calls[0]


ORDERS = {
    "start": f"start --domain {ALICE}",
    "resume": f"resume --domain {ALICE}",
    "wake": f"dompmwakeup --domain {ALICE}",
    "shutdown-agent": f"shutdown --domain {ALICE} --mode agent",
    "shutdown-acpi": f"shutdown --domain {ALICE} --mode acpi",
}


@pytest.mark.parametrize(("verb", "said"), ORDERS.items())
def test_an_order_names_the_machine_by_its_uuid(
    host: ShellHost, verb: str, said: str
) -> None:
    host.run(verb, [ALICE])
    assert host.calls == [f"-q -c qemu:///system {said}"]


def test_virshs_own_words_and_exit_status_come_through(host: ShellHost) -> None:
    host.write("stderr", "error: Domain is already active\n")
    host.write("rc", "1")
    ran = answer(host.run("start", [ALICE]))
    assert (ran.stderr, ran.exit_status) == ("error: Domain is already active\n", 1)


def test_another_uri_and_sudo_are_used(host: ShellHost) -> None:
    sudo = host.program("sudo", PASSING_SUDO)
    uri = "qemu+unix:///system?socket=/run/libvirt/virtqemud-sock"
    virsh = str(host.bin / "virsh")
    host.run("start", [ALICE], HostContext(uri=uri, sudo=str(sudo), virsh=virsh))
    assert host.calls == [
        f"sudo -n {virsh} -q -c {uri} start --domain {ALICE}",
        f"-q -c {uri} start --domain {ALICE}",
    ]


def test_virsh_outside_the_path_of_the_login_is_found(host: ShellHost) -> None:
    (host.bin / "virsh").rename(host.root / "virsh")
    hidden = host.root / "run/current-system/sw/bin"
    hidden.mkdir(parents=True)
    (host.root / "virsh").rename(hidden / "virsh")
    (hidden / "virsh").chmod(0o755)
    hello = read_hello(answer(host.run("hello")).stdout)
    assert hello.virsh == str(hidden / "virsh")


def test_a_host_without_virsh_says_so(host: ShellHost) -> None:
    (host.bin / "virsh").unlink()
    ran = answer(host.run("refresh"))
    assert ran.exit_status == 127
    assert error_of(ran).reason.key == "virsh_not_found"
    assert read_hello(answer(host.run("hello")).stdout).virsh == ""


def test_a_host_without_timeout_works_all_the_same(host: ShellHost) -> None:
    (host.bin / "timeout").unlink()
    host.write("stdout", "<<</uri>>>qemu:///system\n<<</end>>>")
    assert read_refresh(answer(host.run("refresh")).stdout).whole


def test_a_banner_does_not_matter(host: ShellHost) -> None:
    ran = host.run("ping")
    ran.stdout = "Welcome to the tower, no newline" + ran.stdout
    assert answer(ran).stdout == ""


def test_hello_tells_who_the_host_is(host: ShellHost) -> None:
    host.write("etc/machine-id", "5a1f0c9e7d3b4e62a8c4d0e1f2b3a495\n")
    hello = read_hello(answer(host.run("hello")).stdout)
    assert hello.machine_id == "5a1f0c9e7d3b4e62a8c4d0e1f2b3a495"
    assert hello.hostname
    assert hello.uid >= 0
    assert hello.user
    assert hello.virsh == str(host.bin / "virsh")
    assert hello.version == "9.0.0"
    assert hello.nowait


def test_hello_finds_the_older_place_of_the_machine_id(host: ShellHost) -> None:
    host.write("var/lib/dbus/machine-id", "aa\n")
    assert read_hello(answer(host.run("hello")).stdout).machine_id == "aa"


def test_hello_on_a_host_with_nothing_is_empty_and_no_error(host: ShellHost) -> None:
    host.write("help", "")
    ran = host.run("hello")
    hello = read_hello(answer(ran).stdout)
    assert not hello.nowait
    assert (hello.machine_id, hello.sudo, hello.sockets) == ("", "", [])
    assert ran.stderr == ""


def test_hello_tells_a_sudo_that_works_from_one_that_does_not(host: ShellHost) -> None:
    host.program("usr/bin/sudo", "", setuid=True)
    host.program("usr/local/bin/sudo", "")
    hello = read_hello(answer(host.run("hello")).stdout)
    assert hello.sudo == str(host.root / "usr/bin/sudo")
    assert hello.powerless_sudo == str(host.root / "usr/local/bin/sudo")


def test_hello_is_read_line_by_line() -> None:
    assert read_hello("sudo=/a\nsudo=/b\nsocket=/x\nsocket=/y\n") == Hello(
        sudo="/a", sockets=["/x", "/y"]
    )


def turing(host: ShellHost) -> None:
    """A card with four functions, one more card, and what is no card."""
    host.pci("0000:00:1f.3", "snd_hda_intel", "9", **{"class": "0x040300"})
    host.pci("0000:15:00.0", "pcieport", "21", **{"class": "0x060400"})
    host.pci(
        "0000:16:00.0",
        "vfio-pci",
        "21",
        vendor="0x10de",
        device="0x1e89",
        subsystem_vendor="0x1b4c",
        subsystem_device="0x12ed",
        **{"class": "0x030000"},
    )
    host.pci("0000:16:00.1", "vfio-pci", "21", **{"class": "0x040300"})
    host.pci("0000:16:00.2", "xhci_hcd", "21", **{"class": "0x0c0330"})
    host.pci("0000:16:00.3", None, "21", **{"class": "0x0c8000"})
    host.pci("0000:86:00.0", "nvidia", "40", vendor="0x10de", **{"class": "0x030200"})


def test_every_function_of_a_card_is_printed_and_nothing_else(host: ShellHost) -> None:
    turing(host)
    ran = host.run("cards")
    cards = read_cards(answer(ran).stdout)
    assert [str(card.address) for card in cards] == ["0000:16:00.0", "0000:86:00.0"]
    first = cards[0]
    assert [f.driver for f in first.functions] == [
        "vfio-pci",
        "vfio-pci",
        "xhci_hcd",
        None,
    ]
    assert first.group == "21"
    assert first.ids == "10de:1e89:1b4c:12ed"
    assert [str(address) for address in first.spoilers] == ["0000:16:00.2"]
    assert "0000:15:00.0" in ran.stdout
    assert "0000:00:1f.3" not in ran.stdout
    assert ran.stderr == ""


def test_a_host_without_an_iommu_has_cards_without_groups(host: ShellHost) -> None:
    host.write("sys/bus/pci/devices/0000:01:00.0/class", "0x030000\n")
    host.write("sys/bus/pci/devices/0000:02:00.0/class", "0x020000\n")
    cards = read_cards(answer(host.run("cards")).stdout)
    assert [card.group for card in cards] == [None]


def test_a_host_without_pci_has_no_cards(host: ShellHost) -> None:
    ran = host.run("cards", ["0000:01:00.0"])
    assert answer(ran) == Answer()


def test_who_has_a_host_card_open_is_found(host: ShellHost) -> None:
    turing(host)
    host.write(
        "proc/driver/nvidia/gpus/0000:86:00.0/information",
        "Model: \t\t Tesla P100\nDevice Minor: \t 0\n",
    )
    device = host.root / "dev/nvidia0"
    device.parent.mkdir()
    device.touch()
    line = host.here
    host.here = lambda text: line(text).replace(  # type: ignore[method-assign]
        '"/dev/nvidia*"', f'"{host.root}/dev/nvidia*"'
    )
    with device.open():
        ran = host.run("cards", ["0000:86:00.0"])
    tesla = read_cards(ran.stdout.replace(f"open={host.root}", "open="))[1]
    assert tesla.host_driver == "nvidia"
    assert len(tesla.opened_by) == 1
    assert tesla.opened_by[0].endswith(")")


def test_nobody_is_looked_for_where_machines_have_the_card(host: ShellHost) -> None:
    turing(host)
    (host.bin / "find").unlink()
    host.program("find", '#!/bin/sh\necho find >>"$FAKE_HOST/calls"\n')
    host.run("cards", ["0000:16:00.0"])
    assert host.calls == []
    host.run("cards", ["0000:16:00.0", "0000:86:00.0"])
    assert host.calls == ["find"]


def test_a_console_on_a_card_has_it_open(host: ShellHost) -> None:
    turing(host)
    host.write("sys/bus/pci/devices/0000:86:00.0/graphics/fb0/name", "x")
    for name, bind, text in (
        ("vtcon0", "0", "(S) dummy device"),
        ("vtcon1", "1", "(M) frame buffer device"),
    ):
        host.write(f"sys/class/vtconsole/{name}/bind", f"{bind}\n")
        host.write(f"sys/class/vtconsole/{name}/name", f"{text}\n")
    host.write("sys/bus/pci/devices/0000:86:00.0/drm/card0/dev", "226:0")
    ran = answer(host.run("cards"))
    tesla = read_cards(ran.stdout)[1]
    assert tesla.opened_by == ("(M) frame buffer device",)
    assert tesla.functions[0].nodes == ["/dev/dri/card0"]


LSPCI = """\
#!/bin/sh
echo "$4 \\"VGA compatible controller\\" \\"NVIDIA\\" \\"AD102 [GeForce RTX 4090]\\" -ra1"
"""


def test_cards_are_named_by_lspci_where_it_is_there(host: ShellHost) -> None:
    assert answer(host.run("names", ["0000:01:00.0"])).stdout == ""
    host.program("lspci", LSPCI)
    models = read_models(answer(host.run("names", ["0000:01:00.0"])).stdout)
    assert list(models.values()) == ["GeForce RTX 4090"]


def test_the_clusters_file_is_printed_as_it_is(host: ShellHost) -> None:
    host.write("etc/rancher/k3s/k3s.yaml", "apiVersion: v1\n")
    assert answer(host.run("kubeconfig")).stdout == "apiVersion: v1\n"


def test_a_host_without_a_cluster_says_so(host: ShellHost) -> None:
    assert answer(host.run("kubeconfig")) == Answer(exit_status=2)


def test_the_events_end_when_nobody_listens_any_more(host: ShellHost) -> None:
    """The other side's end of the channel is closed: virsh must not stay behind."""
    ran = host.run("events")
    assert ran.returncode != 0
    assert "qemu:///system" in ran.stdout or ran.stdout.endswith(">>>\n")
