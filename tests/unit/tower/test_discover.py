"""Looking around on a host for the first time."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from custom_components.gpu_handoff.handoff.world import Card, Power, TowerView, Vm
from custom_components.gpu_handoff.tower.answer import Answer
from custom_components.gpu_handoff.tower.commands import HostContext
from custom_components.gpu_handoff.tower.discover import (
    Found,
    Role,
    look_around,
    propose_roles,
)
from custom_components.gpu_handoff.tower.errors import HandoffError

from .cast import ALICE, BOB, NODE, refresh_text
from .fake_host import FakeHost

HELLO = """\
machine_id=5a1f0c9e7d3b4e62a8c4d0e1f2b3a495
boot_id=31e88434-8ebb-4899-8419-c1ff032ce7ca
hostname=tower
uid=1000
user=games
virsh=/usr/bin/virsh
version=9.0.0
nowait=yes
sudo=/usr/bin/sudo
socket=/run/libvirt/libvirt-sock
"""

CONNECT = "error: failed to connect to the hypervisor\n"
SOCKET = "error: Failed to connect socket to '/var/run/libvirt/libvirt-sock': "
DENIED = Answer(stderr=f"{CONNECT}{SOCKET}Permission denied\n", exit_status=1)
NOT_RUNNING = Answer(
    stderr=f"{CONNECT}{SOCKET}No such file or directory\n", exit_status=1
)
NEEDS_PASSWORD = Answer(stderr="sudo: a password is required\n", exit_status=1)


@pytest.fixture
def host(host: FakeHost) -> FakeHost:
    host.answers["hello"] = HELLO
    return host


def answer_with(host: FakeHost, what: Callable[[HostContext], Answer | None]) -> None:
    """Let the answer to a refresh depend on how virsh is called."""

    def refresh(*args: str) -> Answer:
        said = what(host.context)
        return said or Answer(stdout=refresh_text(host.machines, args))

    host.answers["refresh"] = refresh


async def refusal(host: FakeHost) -> tuple[str, dict[str, str]]:
    with pytest.raises(HandoffError) as caught:
        await look_around(host.connection)
    return caught.value.reason.key, dict(caught.value.reason.placeholders)


async def test_a_host_is_found_with_its_machines_and_cards(host: FakeHost) -> None:
    found = await look_around(host.connection)
    assert found.machine_id == "5a1f0c9e7d3b4e62a8c4d0e1f2b3a495"
    assert found.hostname == "tower"
    assert found.uri == "qemu:///system"
    assert found.context == HostContext(virsh="/usr/bin/virsh")
    assert host.context == found.context
    assert [card.model for card in found.known_cards] == ["RTX 4090", "RTX 3090"]
    assert found.problems == ()


async def test_the_machine_that_shares_most_cards_is_proposed_as_the_node(
    host: FakeHost,
) -> None:
    found = await look_around(host.connection)
    assert {domain.vm_id: domain.role for domain in found.domains} == {
        NODE: Role.GPU_NODE,
        ALICE: Role.GAMING,
        BOB: Role.GAMING,
    }
    names = {domain.name: len(domain.cards) for domain in found.domains}
    assert names == {"gpu-node": 2, "gaming-alice": 1, 'Bob\'s "PC"': 1}


async def test_an_old_virsh_is_not_asked_for_what_it_does_not_have(
    host: FakeHost,
) -> None:
    host.answers["hello"] = HELLO.replace("nowait=yes", "nowait=no")
    assert not (await look_around(host.connection)).context.nowait


async def test_sudo_is_used_where_the_user_may_not_speak_to_libvirt(
    host: FakeHost,
) -> None:
    answer_with(host, lambda context: None if context.sudo else DENIED)
    found = await look_around(host.connection)
    assert found.context.sudo == "/usr/bin/sudo"


async def test_sudo_is_not_used_where_it_is_not_needed(host: FakeHost) -> None:
    assert (await look_around(host.connection)).context.sudo == ""


async def test_sudo_that_asks_for_a_password_is_said(host: FakeHost) -> None:
    answer_with(host, lambda context: NEEDS_PASSWORD if context.sudo else DENIED)
    assert (await refusal(host))[0] == "sudo_needs_password"


async def test_without_any_sudo_the_missing_permission_is_said(host: FakeHost) -> None:
    host.answers["hello"] = HELLO.replace("sudo=/usr/bin/sudo\n", "")
    answer_with(host, lambda _: DENIED)
    assert await refusal(host) == ("libvirt_permission", {"user": "games"})


async def test_a_sudo_without_setuid_is_named_with_the_one_to_use(
    host: FakeHost,
) -> None:
    path = "/run/current-system/sw/bin/sudo"
    host.answers["hello"] = HELLO.replace("sudo=/usr", "powerless_sudo=/usr").replace(
        "/usr/bin/sudo", path
    )
    answer_with(host, lambda _: DENIED)
    assert await refusal(host) == (
        "wrong_sudo",
        {"path": path},
    )


async def test_root_needs_no_sudo(host: FakeHost) -> None:
    host.answers["hello"] = HELLO.replace("uid=1000", "uid=0")
    answer_with(host, lambda _: DENIED)
    assert (await refusal(host))[0] == "libvirt_permission"
    assert host.context.sudo == ""


async def test_a_socket_of_the_modular_daemons_is_used_where_the_usual_is_silent(
    host: FakeHost,
) -> None:
    socket = "/run/libvirt/virtqemud-sock"
    host.answers["hello"] = HELLO.replace("/run/libvirt/libvirt-sock", socket)
    answer_with(host, lambda c: None if socket in c.uri else NOT_RUNNING)
    found = await look_around(host.connection)
    assert found.uri == f"qemu+unix:///system?socket={socket}"


async def test_a_uri_that_a_person_set_is_kept(host: FakeHost) -> None:
    host.context = HostContext(uri="qemu:///other")
    answer_with(host, lambda _: NOT_RUNNING)
    assert (await refusal(host))[0] == "libvirt_not_running"
    assert host.context.uri == "qemu:///other"
    assert host.count("refresh") == 1


async def test_a_libvirt_that_is_not_there_is_said(host: FakeHost) -> None:
    answer_with(host, lambda _: NOT_RUNNING)
    assert (await refusal(host))[0] == "libvirt_not_running"


async def test_a_host_without_virsh_is_said(host: FakeHost) -> None:
    host.answers["hello"] = HELLO.replace("virsh=/usr/bin/virsh\n", "")
    assert (await refusal(host))[0] == "virsh_not_found"


async def test_a_host_without_a_machine_id_cannot_be_told_from_others(
    host: FakeHost,
) -> None:
    host.answers["hello"] = HELLO.replace("machine_id=5", "other=5")
    assert await refusal(host) == ("no_machine_id", {"host": "tower"})


async def test_the_session_daemon_is_said_and_not_shown_as_an_empty_host(
    host: FakeHost,
) -> None:
    host.answers["refresh"] = refresh_text([], uri="qemu:///session")
    assert await refusal(host) == ("session_daemon", {"user": "handoff"})


async def test_a_host_without_machines_is_said(host: FakeHost) -> None:
    host.machines = []
    key, placeholders = await refusal(host)
    assert key == "no_domains"
    assert placeholders == {"host": "tower", "uri": "qemu:///system"}


async def test_a_list_that_libvirt_refused_is_not_an_empty_one(host: FakeHost) -> None:
    host.answers["refresh"] = Answer(
        stdout=refresh_text([]), stderr="error: access denied: 'connect.search'\n"
    )
    assert (await refusal(host))[0] == "libvirt_permission"


async def test_cards_that_cannot_be_read_are_a_problem_and_no_refusal(
    host: FakeHost,
) -> None:
    host.answers["cards"] = Answer(stderr="sh: Input/output error\n", exit_status=2)
    found = await look_around(host.connection)
    assert [reason.key for reason in found.problems] == ["cards_unreadable"]
    assert set(found.view.vms) == {NODE, ALICE, BOB}


async def test_hello_with_odd_values_is_no_traceback(host: FakeHost) -> None:
    host.answers["hello"] = HELLO.replace("uid=1000", "uid=?") + "junk\nx=y\n"
    assert isinstance(await look_around(host.connection), Found)


def vm(vm_id: str, *cards: str, name: str = "", power: Power = Power.OFF) -> Vm:
    return Vm(vm_id=vm_id, name=name or vm_id, power=power, wants=frozenset(cards))


def roles(*vms: Vm) -> dict[str, str]:
    cards = {card for each in vms for card in each.wants}
    view = TowerView(
        vms={each.vm_id: each for each in vms},
        cards={c: Card(card_id=c, model="", address="") for c in cards},
    )
    return {vm_id: str(role) for vm_id, role in propose_roles(view).items()}


def test_a_machine_without_cards_has_no_role() -> None:
    assert roles(vm("nas"), vm("a", "1")) == {"nas": "none", "a": "gaming"}


def test_nobody_lends_where_nothing_is_shared() -> None:
    assert roles(vm("a", "1"), vm("b", "2")) == {"a": "gaming", "b": "gaming"}


def test_a_machine_with_a_card_of_its_own_is_no_lender() -> None:
    assert roles(vm("big", "1", "2"), vm("a", "1"))["big"] == "gaming"


def test_with_one_card_the_name_tells_who_lends() -> None:
    assert roles(vm("windows", "1"), vm("k3s-worker", "1")) == {
        "windows": "gaming",
        "k3s-worker": "gpu_node",
    }


def test_with_one_card_the_machine_that_runs_lends() -> None:
    running = vm("linux", "1", power=Power.RUNNING)
    assert roles(vm("windows", "1"), running)["linux"] == "gpu_node"


def test_where_nothing_tells_them_apart_a_person_has_to_say() -> None:
    assert roles(vm("a", "1"), vm("b", "1")) == {"a": "gaming", "b": "gaming"}


def test_a_host_without_machines_has_no_roles() -> None:
    assert roles() == {}


def test_a_role_does_not_depend_on_the_order_of_the_machines() -> None:
    node, alice, bob = vm("n", "1", "2"), vm("a", "1"), vm("b", "2")
    assert roles(node, alice, bob)["n"] == roles(bob, alice, node)["n"] == "gpu_node"
    assert roles(replace(node, name="x"), alice, bob)["n"] == "gpu_node"
