"""Pods are judged as kubectl drain judges them, with the household's defaults."""

from typing import Any

import pytest

from custom_components.gpu_handoff.cluster.pods import DrainOptions, claims_of, judge
from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason
from custom_components.gpu_handoff.handoff.world import Fate

from .objects import pod

EMPTYDIR = [{"name": "t", "emptyDir": {}}]
MIRROR = {"kubernetes.io/config.mirror": "0f0f"}
GOING = {"deletionTimestamp": "2026-11-30T19:00:00Z"}
STRICT = DrainOptions(delete_emptydir=False)

CORNERS: dict[str, tuple[dict[str, Any], Fate, str | None]] = {
    "ds-run": (
        pod("ds-run", owner="DaemonSet", volumes=EMPTYDIR),
        Fate.IGNORE,
        None,
    ),
    "ds-done": (pod("ds-done", owner="DaemonSet", phase="Succeeded"), Fate.EVICT, None),
    "static": (pod("static", owner="Node", annotations=MIRROR), Fate.IGNORE, None),
    "scratch": (
        pod("scratch", owner=None, phase="Failed", volumes=EMPTYDIR),
        Fate.EVICT,
        None,
    ),
    "loner": (pod("loner", owner=None), Fate.BLOCKED, "pod_unmanaged"),
    "tmp": (
        pod("tmp", volumes=[{"name": "t", "emptyDir": {"medium": "Memory"}}]),
        Fate.BLOCKED,
        "pod_emptydir",
    ),
    "job": (pod("job", owner="Job"), Fate.EVICT, None),
    "half-owned": (
        pod("half-owned", ownerReferences=[{"kind": "Session", "name": "s"}]),
        Fate.BLOCKED,
        "pod_unmanaged",
    ),
    "leaving": (
        pod("leaving", finalizers=["example.net/hold"], **GOING),
        Fate.LEAVING,
        "pod_finalizer",
    ),
}


@pytest.mark.parametrize("name", CORNERS)
def test_the_corners_of_kubectls_filters(name: str) -> None:
    raw, fate, key = CORNERS[name]
    found, why = judge(raw, STRICT)
    assert found is fate
    assert (why and why.key) == key


def test_a_pod_held_by_a_finalizer_names_it() -> None:
    _, why = judge(CORNERS["leaving"][0], STRICT)
    assert why == Reason.of(
        "pod_finalizer", pod="games/leaving", finalizer="example.net/hold"
    )


def test_a_pod_on_its_way_out_is_waited_for_without_a_reason() -> None:
    assert judge(pod("p", **GOING), STRICT) == (Fate.LEAVING, None)


def test_a_bare_pod_on_its_way_out_does_not_block() -> None:
    assert judge(pod("p", owner=None, **GOING), STRICT) == (Fate.LEAVING, None)


def test_a_daemonset_pod_on_its_way_out_is_not_waited_for() -> None:
    assert judge(pod("p", owner="DaemonSet", **GOING), STRICT) == (Fate.IGNORE, None)


def test_a_household_lets_emptydir_go() -> None:
    assert judge(CORNERS["tmp"][0], DrainOptions()) == (Fate.EVICT, None)


def test_bare_pods_go_only_where_that_is_allowed() -> None:
    options = DrainOptions(evict_unmanaged=True)
    assert judge(CORNERS["loner"][0], options) == (Fate.EVICT, None)


def test_a_protected_pod_blocks_and_names_the_selector() -> None:
    options = DrainOptions(protect="tier in (db, cache)")
    fate, why = judge(pod("pg", labels={"tier": "db"}), options)
    assert fate is Fate.BLOCKED
    assert why == Reason.of(
        "pod_protected", pod="games/pg", selector="tier in (db, cache)"
    )


def test_protection_covers_daemonsets_too_since_the_node_will_stop() -> None:
    options = DrainOptions(protect="app=backup")
    raw = pod("b", owner="DaemonSet", labels={"app": "backup"})
    assert judge(raw, options)[0] is Fate.BLOCKED


def test_a_protected_pod_that_has_finished_can_go() -> None:
    options = DrainOptions(protect="app=backup")
    raw = pod("b", labels={"app": "backup"}, phase="Succeeded")
    assert judge(raw, options)[0] is Fate.EVICT


def test_a_selector_that_cannot_be_read_is_said() -> None:
    with pytest.raises(HandoffError, match="selector_invalid"):
        judge(pod("p"), DrainOptions(protect="a in b"))


def test_claims_are_named_with_their_namespace() -> None:
    volumes = [
        {"name": "a", "persistentVolumeClaim": {"claimName": "media"}},
        {"name": "b", "ephemeral": {"volumeClaimTemplate": {}}},
        {"name": "c", "emptyDir": {}},
    ]
    claims = list(claims_of(pod("web-0", volumes=volumes)))
    assert claims == [("games", "media"), ("games", "web-0-b")]
