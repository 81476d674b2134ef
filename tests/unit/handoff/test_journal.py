"""What outlives a restart."""

import json

import pytest

from custom_components.gpu_handoff.handoff.journal import from_json, to_json
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import Reason
from custom_components.gpu_handoff.handoff.wish import Failure, Want

from .worlds import ALICE, BOB, touched, wish

FULL = wish(
    Want.RESTORE,
    Phase.DRAINING,
    phase_since=100.0,
    spent_s={Phase.CHECKING: 1.5},
    before=touched(stopped=True),
    failure=Failure(phase=Phase.DRAINING, reason=Reason.of("x", a="b"), cancelled=True),
    asked_by="alice",
    asked_at="2026-12-01T00:00:00+00:00",
)


def test_a_wish_comes_back_whole() -> None:
    kept = json.loads(json.dumps(to_json({ALICE: FULL}, now=130.0)))
    assert from_json(kept, now=130.0) == {ALICE: FULL}


def test_the_time_of_the_outage_does_not_count() -> None:
    kept = to_json({ALICE: FULL}, now=130.0)
    assert from_json(kept, now=5.0)[ALICE].phase_since == 5.0 - 30.0


def test_no_journal_is_no_wish() -> None:
    assert from_json(None, now=0.0) == {}


@pytest.mark.parametrize("junk", [None, {}, {"vm_id": ALICE}, "junk", ["x"]])
def test_an_entry_that_cannot_be_read_is_left_out(junk: object) -> None:
    kept = to_json({BOB: wish(vm_id=BOB)}, now=0.0)
    kept["wishes"].insert(0, junk)
    assert list(from_json(kept, now=0.0)) == [BOB]
