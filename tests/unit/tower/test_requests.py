"""Orders to machines, and the cluster's file on the host."""

import pytest

from custom_components.gpu_handoff.handoff.world import ActKind
from custom_components.gpu_handoff.tower import requests
from custom_components.gpu_handoff.tower.answer import Answer
from custom_components.gpu_handoff.tower.errors import (
    ActFailed,
    HandoffError,
    Unreachable,
)

from .cast import ALICE, BOB, NODE, refresh_text
from .fake_host import FakeHost

ORDERS = {
    ActKind.START: "start",
    ActKind.RESUME: "resume",
    ActKind.WAKE: "wake",
    ActKind.SHUT_DOWN_BY_AGENT: "shutdown-agent",
    ActKind.SHUT_DOWN_BY_ACPI: "shutdown-acpi",
}


@pytest.mark.parametrize(("kind", "verb"), ORDERS.items())
async def test_each_act_is_one_verb_with_the_machines_uuid(
    host: FakeHost, kind: ActKind, verb: str
) -> None:
    await requests.order(host.connection, kind, ALICE)
    assert host.asked == [(verb, ALICE)]


async def test_a_machine_that_is_active_already_was_started(host: FakeHost) -> None:
    """Of two starts at once one loses, and the machine runs all the same."""
    host.answers["start"] = Answer(
        stderr="error: Domain is already active\n", exit_status=1
    )
    await requests.order(host.connection, ActKind.START, ALICE)


async def test_a_start_that_libvirt_refuses_names_who_has_the_card(
    host: FakeHost,
) -> None:
    host.answers["start"] = Answer(
        stderr="error: Failed to start domain 'gaming-alice'\n"
        "error: Requested operation is not valid: PCI device 0000:01:00.0 is in use by"
        " driver QEMU, domain gpu-node\n",
        exit_status=1,
    )
    with pytest.raises(ActFailed) as caught:
        await requests.order(host.connection, ActKind.START, ALICE)
    assert caught.value.reason.key == "start_refused_card_in_use"
    assert caught.value.reason.placeholders["holder"] == "gpu-node"


async def test_not_running_is_no_success_of_a_shutdown(host: FakeHost) -> None:
    """libvirt says the same of a paused machine, which still holds its cards."""
    host.answers["shutdown-agent"] = Answer(
        stderr="error: Failed to shutdown domain 'x'\n"
        "error: Requested operation is not valid: domain is not running\n",
        exit_status=1,
    )
    with pytest.raises(ActFailed):
        await requests.order(host.connection, ActKind.SHUT_DOWN_BY_AGENT, ALICE)


async def test_an_order_whose_end_was_not_seen_is_unknown(host: FakeHost) -> None:
    host.answers["start"] = Answer(stdout="Domain 'gam", exit_status=None)
    with pytest.raises(Unreachable) as caught:
        await requests.order(host.connection, ActKind.START, ALICE)
    assert caught.value.reason.key == "connection_lost"


async def test_new_machines_are_asked_for_at_once(host: FakeHost) -> None:
    seen = await requests.refresh(host.connection, frozenset({NODE}))
    assert host.asked == [("refresh", NODE), ("refresh", NODE, ALICE, BOB)]
    assert set(seen.states) == {NODE, ALICE, BOB}


async def test_known_machines_are_one_request(host: FakeHost) -> None:
    await requests.refresh(host.connection, frozenset({NODE, ALICE, BOB}))
    assert host.count("refresh") == 1


@pytest.mark.parametrize("exit_status", [None, 124, 1])
async def test_a_refresh_that_was_cut_off_is_no_news(
    host: FakeHost, exit_status: int | None
) -> None:
    text = refresh_text(host.machines).replace("<<</end>>>", "")
    host.answers["refresh"] = Answer(stdout=text, exit_status=exit_status)
    with pytest.raises(Unreachable):
        await requests.refresh(host.connection, frozenset())


async def test_the_exit_status_of_the_last_command_does_not_matter(
    host: FakeHost,
) -> None:
    text = refresh_text(host.machines)
    host.answers["refresh"] = Answer(stdout=text, exit_status=1)
    seen = await requests.refresh(host.connection, frozenset({NODE, ALICE, BOB}))
    assert len(seen.names) == 3


async def test_the_clusters_own_file_is_read(host: FakeHost) -> None:
    host.answers["kubeconfig"] = "apiVersion: v1\n"
    assert await requests.kubeconfig(host.connection) == "apiVersion: v1\n"


@pytest.mark.parametrize(
    ("answer", "key"),
    [
        (Answer(exit_status=2), "kubeconfig_not_on_host"),
        (
            Answer(
                stderr="/etc/rancher/k3s/k3s.yaml: Permission denied", exit_status=13
            ),
            "kubeconfig_unreadable_on_host",
        ),
        (
            Answer(stderr="sudo: a password is required\n", exit_status=13),
            "sudo_needs_password",
        ),
        (Answer(exit_status=None), "connection_lost"),
    ],
)
async def test_a_clusters_file_that_cannot_be_had_is_a_sentence(
    host: FakeHost, answer: Answer, key: str
) -> None:
    host.answers["kubeconfig"] = answer
    with pytest.raises(HandoffError) as caught:
        await requests.kubeconfig(host.connection)
    assert caught.value.reason.key == key
