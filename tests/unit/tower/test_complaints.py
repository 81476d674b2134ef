"""What virsh, sudo and the shell say when something is wrong."""

import pytest

from custom_components.gpu_handoff.tower.answer import Answer
from custom_components.gpu_handoff.tower.complaints import error_of, unreachable
from custom_components.gpu_handoff.tower.errors import (
    ActFailed,
    HandoffError,
    Unreachable,
)

CONNECT = "error: failed to connect to the hypervisor\n"
SOCKET = "error: Failed to connect socket to '/var/run/libvirt/libvirt-sock': "
START = "error: Failed to start domain 'gaming-alice'\n"
INVALID = "error: Requested operation is not valid: "
NIXOS_SUDO = (
    "sudo: /run/current-system/sw/bin/sudo must be owned by uid 0 and have the setuid"
    " bit set\n"
)


@pytest.mark.parametrize(
    ("stderr", "rc", "key"),
    [
        (f"{CONNECT}{SOCKET}No such file or directory\n", 1, "libvirt_not_running"),
        (f"{CONNECT}{SOCKET}Connection refused\n", 1, "libvirt_not_running"),
        (f"{CONNECT}{SOCKET}Permission denied\n", 1, "libvirt_permission"),
        (
            f"{CONNECT}error: authentication unavailable: no polkit agent available to"
            " authenticate action 'org.libvirt.unix.manage'\n",
            1,
            "libvirt_permission",
        ),
        (
            "error: Disconnected from qemu:///system due to end of file\n"
            "error: internal error: client socket is closed\n",
            1,
            "libvirt_not_running",
        ),
        (NIXOS_SUDO, 1, "wrong_sudo"),
        ("sudo: a password is required\n", 1, "sudo_needs_password"),
        (
            "sudo: a terminal is required to read the password\n",
            1,
            "sudo_needs_password",
        ),
        ("me is not in the sudoers file.\n", 1, "sudo_refused"),
        (
            "Sorry, user me is not allowed to execute '/usr/bin/virsh' as root.\n",
            1,
            "sudo_refused",
        ),
        ("dash: 1: virsh: not found\n", 127, "virsh_not_found"),
        ("virsh: Command not found.\n", 1, "virsh_not_found"),
        ("sudo: virsh: command not found\n", 1, "virsh_not_found"),
        (
            "timeout: failed to run command 'virsh': No such file or directory\n",
            127,
            "virsh_not_found",
        ),
        ("", 126, "virsh_not_found"),
        ("", 124, "libvirt_slow"),
    ],
)
def test_trouble_with_libvirt_is_a_sentence_of_its_own(
    stderr: str, rc: int, key: str
) -> None:
    error = error_of(Answer(stderr=stderr, exit_status=rc))
    assert isinstance(error, Unreachable)
    assert error.reason.key == key


@pytest.mark.parametrize(
    ("stderr", "key"),
    [
        (
            f"{START}error: unsupported configuration: host doesn't support passthrough"
            " of host PCI devices\n",
            "start_refused_no_iommu",
        ),
        (
            f"{START}error: internal error: vfio 0000:0a:00.0: group 17 is not viable\n"
            "Please ensure all devices within the iommu_group are bound to their vfio"
            " bus driver.\n",
            "start_refused_group",
        ),
        (
            f"{START}error: Cannot access storage file '/nope.iso': Permission denied\n",
            "start_refused_file",
        ),
        (
            f"{START}{INVALID}PCI device 0000:0a:00.0 is in use\n",
            "start_refused_card_busy",
        ),
        (
            "error: Guest agent is not responding: QEMU guest agent is not connected\n",
            "agent_not_answering",
        ),
        (
            "error: argument unsupported: QEMU guest agent is not configured\n",
            "agent_not_answering",
        ),
        (f"{INVALID}domain is not running\n", "act_failed"),
        ("error: failed to get domain 'nope'\n", "vm_not_found"),
        (
            "error: operation forbidden: read only access prevents virDomainCreate\n",
            "libvirt_read_only",
        ),
        ("", "act_failed"),
    ],
)
def test_an_order_that_failed_says_why(stderr: str, key: str) -> None:
    error = error_of(Answer(stderr=stderr, exit_status=1))
    assert isinstance(error, ActFailed)
    assert error.reason.key == key


def test_a_card_in_use_names_its_address_and_its_holder() -> None:
    stderr = (
        f"{START}{INVALID}PCI device 0000:01:00.1 is in use by driver QEMU,"
        ' domain Bob\'s "PC"\n'
    )
    reason = error_of(Answer(stderr=stderr, exit_status=1)).reason
    assert reason.key == "start_refused_card_in_use"
    assert reason.placeholders["address"] == "0000:01:00.1"
    assert reason.placeholders["holder"] == 'Bob\'s "PC"'


def test_the_wrong_sudo_is_named() -> None:
    reason = error_of(Answer(stderr=NIXOS_SUDO, exit_status=1)).reason
    assert reason.placeholders["path"] == "/run/current-system/sw/bin/sudo"


def test_the_cause_is_the_last_line_and_not_the_vague_first_one() -> None:
    stderr = f"{START}{INVALID}domain is not running\n"
    reason = error_of(Answer(stderr=stderr, exit_status=1)).reason
    cause = "Requested operation is not valid: domain is not running"
    assert reason.placeholders["cause"] == cause


def test_a_cause_in_the_daemons_own_language_is_shown_as_it_is() -> None:
    stderr = (
        "error: failed to get domain 'gaming-red'\n"
        "error: ドメインは見つかりませんでした: 'gaming-red'\n"
    )
    reason = error_of(Answer(stderr=stderr, exit_status=1)).reason
    assert reason.key == "vm_not_found"
    assert reason.placeholders["cause"].startswith("ドメイン")


def test_a_lost_connection_is_an_unknown_outcome() -> None:
    error = error_of(Answer(stdout="Domain 'x' sta", exit_status=None))
    assert isinstance(error, Unreachable)
    assert error.reason.key == "connection_lost"


def test_a_failure_without_a_word_shows_its_exit_status() -> None:
    reason = error_of(Answer(exit_status=1)).reason
    assert reason.placeholders["cause"] == "exit status 1"


def test_any_sentence_can_mean_that_nothing_is_known_of_the_host() -> None:
    lost = Unreachable("connection_lost")
    assert unreachable(lost) is lost
    again = unreachable(HandoffError("vm_not_found", cause="x"))
    assert isinstance(again, Unreachable)
    assert again.reason.placeholders == {"cause": "x"}
