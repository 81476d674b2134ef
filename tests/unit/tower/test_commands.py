"""The table of requests, and how they are said."""

import pytest

from custom_components.gpu_handoff.tower.commands import (
    VERBS,
    WIDTHS,
    HostContext,
    Lane,
    command_line,
    parse_command_line,
    request_line,
)

from .cast import ALICE

ODD = HostContext(
    uri="qemu+unix:///system?socket=/run/libvirt/virtqemud-sock",
    sudo="/run/wrappers/bin/sudo",
    virsh="/run/current-system/sw/bin/virsh",
    nowait=False,
)


@pytest.mark.parametrize("context", [HostContext(), ODD])
@pytest.mark.parametrize("verb", VERBS)
def test_a_request_is_one_line_that_every_login_shell_takes_as_it_is(
    verb: str, context: HostContext
) -> None:
    line = command_line(verb, [ALICE], context)
    head, script, tail = line.split("'")
    assert head == "/bin/sh -c "
    assert tail == f" gpu-handoff {ALICE}"
    assert not set(script) & set("\n\\!")


@pytest.mark.parametrize("context", [HostContext(), ODD])
@pytest.mark.parametrize("verb", VERBS)
def test_a_request_can_be_read_back(verb: str, context: HostContext) -> None:
    line = command_line(verb, [ALICE, "0000:01:00.0"], context)
    assert parse_command_line(line) == (verb, (ALICE, "0000:01:00.0"), context)


def test_the_short_form_of_a_forced_command_can_be_read_back() -> None:
    assert request_line("start", [ALICE]) == f"start {ALICE}"
    assert parse_command_line(f"start {ALICE}") == ("start", (ALICE,), HostContext())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "uname -a",
        "start --all",
        "/bin/sh -c 'echo hello' gpu-handoff",
        f"{command_line('ping')} ; reboot",
        command_line("ping").replace("gpu-handoff>>>", "other>>>"),
    ],
)
def test_any_other_line_is_no_request(text: str) -> None:
    assert parse_command_line(text) is None


@pytest.mark.parametrize(
    "word", ["--all", "-c", "gaming-alice", "", "a b", "$(id)", "ünï", "X", "'"]
)
def test_only_uuids_addresses_and_numbers_are_arguments(word: str) -> None:
    with pytest.raises(ValueError, match="not an argument"):
        command_line("start", [word])


def test_a_verb_that_is_not_in_the_table_cannot_be_said() -> None:
    with pytest.raises(ValueError, match="no such verb"):
        command_line("destroy", [ALICE])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("uri", "qemu:///system; reboot"),
        ("uri", 'qemu:///system"'),
        ("uri", "$(id)"),
        ("uri", "qemu:///system\n"),
        ("sudo", "sudo"),
        ("sudo", "/usr/bin/sudo -n sh"),
        ("virsh", "virsh -c other"),
        ("virsh", "/usr/bin/virsh`id`"),
    ],
)
def test_a_context_that_would_be_more_than_a_word_of_shell_is_refused(
    field: str, value: str
) -> None:
    with pytest.raises(ValueError, match="not a"):
        HostContext(**{field: value})  # type: ignore[arg-type]


def test_nothing_in_the_table_kills_a_machine() -> None:
    words = " ".join(verb.script for verb in VERBS.values())
    for deadly in ("destroy", "reset", "undefine", "managedsave", "qemu-monitor"):
        assert deadly not in words


def test_all_channels_together_stay_below_sshds_default_of_ten() -> None:
    assert sum(WIDTHS.values()) < 10
    assert set(WIDTHS) == set(Lane)


def test_a_shutdown_through_the_agent_may_block_for_a_minute() -> None:
    assert VERBS["shutdown-agent"].timeout_s > 65


def test_the_host_gives_up_before_we_do() -> None:
    assert all(verb.local_timeout_s > verb.timeout_s for verb in VERBS.values())


def test_only_the_events_are_a_stream() -> None:
    assert [verb.name for verb in VERBS.values() if verb.stream] == ["events"]
