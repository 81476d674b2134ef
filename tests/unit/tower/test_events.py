"""Lines of the event stream."""

import pytest

from custom_components.gpu_handoff.tower.events import (
    EventKind,
    TowerEvent,
    read_event,
)

KID = "5f0b5c1e-6d0e-4c57-9a3e-0c1d8f3b7a01"
BLUE = "6a1d2f30-9c3b-4f2e-8a54-77b0e1c2d302"
LENDER = "0d9e4f6b-2b61-4b5e-9a0f-3f1f5a7c9e03"
NAMES = {"Kid's 'PC': Stopped Shutdown": KID, "gaming-blue": BLUE, "lender": LENDER}

HOSTILE = """\
2026-11-30 20:01:04.422+0000: event 'lifecycle' for domain 'Kid's 'PC': Stopped Shutdown': Resumed Unpaused
2026-11-30 20:01:04.428+0000: event 'lifecycle' for domain 'Kid's 'PC': Stopped Shutdown': Started Booted
2026-11-30 20:01:04.463+0000: event 'lifecycle' for domain 'Kid's 'PC': Stopped Shutdown': Suspended Paused
2026-11-30 20:01:04.466+0000: event 'lifecycle' for domain 'Kid's 'PC': Stopped Shutdown': Crashed Panicked
2026-11-30 20:02:10.100+0000: event 'job-completed' for domain 'lender':
\toperation: 9
\ttime_elapsed: 210
2026-11-30 20:02:11.000+0000: event 'graphics' for domain 'gaming-blue': connect local[ipv4 192.0.2.5 5900] remote[ipv4 192.0.2.77 50112] vnc
\tx509dname=event 'lifecycle' for domain 'lender': Stopped Shutdown
2026-11-30 20:02:12.000+0000: event 'tray-change' for domain 'gaming-blue' disk sata0-0-0: opened
2026-11-30 20:02:13.609+0000: event 'agent-lifecycle' for domain 'lender': state: 'connected' reason: 'channel event'
"""


def test_a_hostile_name_neither_hides_an_event_nor_makes_one_up() -> None:
    events = [
        event for line in HOSTILE.splitlines() if (event := read_event(line, NAMES))
    ]
    assert events == [
        TowerEvent(kind=EventKind.LIFECYCLE, uuid=KID, what="Resumed Unpaused"),
        TowerEvent(kind=EventKind.LIFECYCLE, uuid=KID, what="Started Booted"),
        TowerEvent(kind=EventKind.LIFECYCLE, uuid=KID, what="Suspended Paused"),
        TowerEvent(kind=EventKind.LIFECYCLE, uuid=KID, what="Crashed Panicked"),
        TowerEvent(kind=EventKind.AGENT, uuid=LENDER, what="connected"),
    ]


def line(rest: str) -> str:
    return f"2026-11-30 20:01:04.422+0000: event 'lifecycle' for domain {rest}"


def test_the_longest_name_that_fits_is_meant() -> None:
    names = {"a": BLUE, "a': Stopped Shutdown": KID}
    event = read_event(line("'a': Stopped Shutdown': Started Booted"), names)
    assert event == TowerEvent(
        kind=EventKind.LIFECYCLE, uuid=KID, what="Started Booted"
    )


def test_an_old_virsh_puts_no_quotes_round_a_name() -> None:
    event = read_event(line("gaming-blue: Stopped Shutdown"), NAMES)
    assert event is not None
    assert (event.uuid, event.what) == (BLUE, "Stopped Shutdown")


def test_an_event_of_a_machine_that_nobody_knows_is_a_reason_to_look() -> None:
    event = read_event(line("'new': Defined Added"), NAMES)
    assert event == TowerEvent(
        kind=EventKind.LIFECYCLE, uuid=None, what="Defined Added"
    )


def test_an_agent_that_leaves_is_disconnected() -> None:
    text = line("'lender': state: 'disconnected' reason: 'domain started'")
    event = read_event(text.replace("lifecycle", "agent-lifecycle"), NAMES)
    assert event is not None
    assert event.what == "disconnected"


@pytest.mark.parametrize(
    "text", ["", "events received: 4", "event loop timed out", "\tlifecycle", "junk"]
)
def test_other_lines_are_nothing(text: str) -> None:
    assert read_event(text, NAMES) is None
