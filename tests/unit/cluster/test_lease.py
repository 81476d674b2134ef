"""A lease is fresh when it is seen to change, whatever anybody's clock says."""

import pytest

from custom_components.gpu_handoff.cluster.lease import Lease
from custom_components.gpu_handoff.handoff.reason import Reason

SILENT = Reason.of("cluster_unreachable")


@pytest.fixture
def lease() -> Lease:
    return Lease()


def test_the_first_sight_proves_nothing(lease: Lease) -> None:
    lease.see("2099-01-01T00:00:00Z", 10.0, None)
    assert lease.changed_at is None


def test_a_change_counts_when_it_is_seen(lease: Lease) -> None:
    lease.see("10:00", 10.0, None)
    lease.see("10:10", 21.5, None)
    lease.see("10:10", 30.0, None)
    assert lease.changed_at == 21.5


def test_a_clock_set_back_is_a_change_too(lease: Lease) -> None:
    lease.see("10:00", 10.0, None)
    lease.see("09:00", 20.0, None)
    assert lease.changed_at == 20.0


def test_what_changed_during_a_silence_changed_nobody_knows_when(lease: Lease) -> None:
    lease.see("10:00", 10.0, None)
    lease.see("10:00", 20.0, SILENT)
    lease.see("10:10", 300.0, None)
    assert lease.changed_at is None
    lease.see("10:20", 310.0, None)
    assert lease.changed_at == 310.0


def test_a_lease_that_is_missing_changes_nothing(lease: Lease) -> None:
    lease.see("10:00", 10.0, None)
    lease.see(None, 20.0, None)
    lease.see("10:00", 30.0, None)
    assert lease.changed_at is None
