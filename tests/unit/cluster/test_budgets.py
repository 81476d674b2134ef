"""Which budget keeps a pod, and whether waiting helps."""

from custom_components.gpu_handoff.cluster.budgets import budgets_of, why_kept
from custom_components.gpu_handoff.handoff.reason import Reason

from .objects import budget, pod

WEB = {"app": "web"}
EVERYTHING = budget("everything", {}, disruptionsAllowed=1)
WEB_BUDGET = budget("web", {"matchLabels": WEB}, disruptionsAllowed=1)
NO_SELECTOR = budget("no-selector", None)
ALL = (EVERYTHING, WEB_BUDGET, NO_SELECTOR)

WEB_1 = pod("web-1", labels=WEB)
BATCH_1 = pod("batch-1", labels={"app": "batch"}, owner="Job")
WEB_9 = pod("web-9", labels=WEB, namespace="tools")


def names(raw: dict[str, object]) -> list[str]:
    return [item["metadata"]["name"] for item in budgets_of(raw, ALL)]


def test_an_empty_selector_matches_all_of_its_namespace_and_a_missing_one_none() -> (
    None
):
    assert names(WEB_1) == ["everything", "web"]
    assert names(BATCH_1) == ["everything"]
    assert names(WEB_9) == []


def test_two_budgets_are_final_and_both_are_named() -> None:
    assert why_kept(WEB_1, ALL) == (
        Reason.of("pod_two_budgets", pod="games/web-1", budgets="everything, web"),
        True,
    )


def test_one_budget_with_room_lets_a_pod_go() -> None:
    assert why_kept(BATCH_1, ALL) == (None, False)


def test_no_budget_lets_a_pod_go() -> None:
    assert why_kept(WEB_9, ALL) == (None, False)


def test_a_budget_that_cannot_be_computed_is_final_and_says_why() -> None:
    cause = (
        "virtualmachineinstances.kubevirt.io does not implement the scale subresource"
    )
    failed = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "SyncFailed",
        "message": cause,
    }
    stuck = budget("vm", {}, currentHealthy=0, desiredHealthy=0, conditions=[failed])
    assert why_kept(BATCH_1, [stuck]) == (
        Reason.of("pod_budget_stuck", pod="games/batch-1", budget="vm", cause=cause),
        True,
    )


def test_too_few_healthy_pods_are_worth_waiting_for() -> None:
    short = {
        "type": "DisruptionAllowed",
        "status": "False",
        "reason": "InsufficientPods",
    }
    spent = budget(
        "web",
        {},
        currentHealthy=1,
        desiredHealthy=2,
        expectedPods=2,
        conditions=[short],
    )
    assert why_kept(WEB_1, [spent]) == (
        Reason.of("pod_budget", pod="games/web-1", budget="web", healthy=1, desired=2),
        False,
    )


def test_a_budget_that_nobody_has_looked_at_yet_is_waited_for() -> None:
    new = budget("new", {}, observedGeneration=0)
    assert why_kept(WEB_1, [new]) == (
        Reason.of("pod_budget_unprocessed", pod="games/web-1", budget="new"),
        False,
    )


def test_a_budget_over_a_bare_pod_never_lets_it_go() -> None:
    bare = pod("bare", owner=None)
    kept = budget("bare", {}, desiredHealthy=0, expectedPods=0)
    assert why_kept(bare, [kept]) == (
        Reason.of("pod_budget_counts_none", pod="games/bare", budget="bare"),
        True,
    )
