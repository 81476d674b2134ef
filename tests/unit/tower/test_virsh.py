"""A refresh, taken apart."""

from custom_components.gpu_handoff.handoff.world import Power
from custom_components.gpu_handoff.tower.virsh import read_refresh

from .cast import ALICE, BOB, BOOT_ID, NODE, household, refresh_text


def test_every_part_of_a_refresh_is_found() -> None:
    refresh = read_refresh(refresh_text(household()))
    assert refresh.boot_id == BOOT_ID
    assert refresh.uri == "qemu:///system"
    assert refresh.names == {
        NODE: "gpu-node",
        ALICE: "gaming-alice",
        BOB: 'Bob\'s "PC"',
    }
    assert refresh.states[NODE] == (Power.RUNNING, "booted")
    assert refresh.live[ALICE].startswith("<domain")
    assert refresh.inactive[BOB].rstrip().endswith("</domain>")
    assert refresh.whole


def test_blank_lines_of_a_talkative_virsh_do_not_matter() -> None:
    text = refresh_text(household()).replace(">>>", ">>>\n").replace("<<<", "\n<<<")
    refresh = read_refresh(text)
    assert refresh.names[ALICE] == "gaming-alice"
    assert refresh.states[NODE][0] is Power.RUNNING
    assert refresh.live[ALICE].startswith("<domain")


def test_a_command_that_said_nothing_leaves_only_its_own_part_empty() -> None:
    """virsh's echo ends no line: the next mark then follows the last one directly."""
    text = (
        f"<<</uri>>>qemu:///system\n<<</list>>>{ALICE} a\n"
        f"<<</state {ALICE}>>><<</live {ALICE}>>><<</inactive {ALICE}>>><domain/>\n"
        "<<</end>>>"
    )
    refresh = read_refresh(text)
    assert refresh.states[ALICE] == (Power.UNKNOWN, "")
    assert ALICE not in refresh.live
    assert refresh.inactive[ALICE] == "<domain/>"
    assert refresh.whole


def test_what_was_cut_off_is_not_whole() -> None:
    text = refresh_text(household())
    assert not read_refresh(text.replace("<<</end>>>", "")).whole
    assert not read_refresh("").whole


def test_names_are_taken_as_they_are() -> None:
    names = [
        "--all",
        " leading and trailing ",
        "tab\there",
        'quote\'s "and" more',
        "ゲーム carol",
        "emoji🎮",
        "27",
        NODE,
        "<<<list>>>",
        "sep\u2028arator",
    ]
    listed = "".join(
        f"44444444-4444-4444-8444-{index:012d} {name}\n"
        for index, name in enumerate(names)
    )
    refresh = read_refresh(f"<<</uri>>>x\n<<</list>>>{listed}<<</end>>>")
    assert list(refresh.names.values()) == names


def test_a_name_with_a_newline_in_it_stays_one_name() -> None:
    listed = f"{ALICE} two\nlines\n{BOB} bob\n"
    refresh = read_refresh(f"<<</list>>>junk\n{listed}<<</end>>>")
    assert refresh.names == {ALICE: "two\nlines", BOB: "bob"}


def test_text_inside_xml_cannot_pass_for_a_part() -> None:
    xml = f"<domain><title>x <<</state {BOB}>>> state.state=5</title></domain>"
    refresh = read_refresh(f"<<</live {ALICE}>>>{xml}\n<<</end>>>")
    assert BOB not in refresh.states
