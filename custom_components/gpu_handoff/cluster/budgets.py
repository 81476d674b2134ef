"""Disruption budgets: which ones a pod has, and whether waiting helps."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..handoff.reason import Reason
from .selector import matches


def budgets_of(
    pod: Mapping[str, Any], budgets: Iterable[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """The budgets of the pod's namespace that select it."""
    meta = pod["metadata"]
    return [
        budget
        for budget in budgets
        if budget["metadata"].get("namespace") == meta.get("namespace")
        and matches(budget.get("spec", {}).get("selector"), meta.get("labels") or {})
    ]


def why_blocked(
    pod_name: str, budgets: list[Mapping[str, Any]]
) -> tuple[Reason | None, bool]:
    """Say why these budgets keep a pod, and whether that is final."""
    if len(budgets) > 1:
        names = ", ".join(sorted(budget["metadata"]["name"] for budget in budgets))
        return Reason.of("pod_two_budgets", pod=pod_name, budgets=names), True
    for budget in budgets:
        status, name = budget.get("status", {}), budget["metadata"]["name"]
        if cause := _cannot_be_computed(status):
            return Reason.of(
                "pod_budget_stuck", pod=pod_name, budget=name, cause=cause
            ), True
        if status.get("disruptionsAllowed", 0) < 1:
            return Reason.of(
                "pod_budget",
                pod=pod_name,
                budget=name,
                healthy=status.get("currentHealthy", 0),
                desired=status.get("desiredHealthy", 0),
            ), False
    return None, False


def _cannot_be_computed(status: Mapping[str, Any]) -> str:
    """SyncFailed keeps a budget at 0 until somebody changes it."""
    for condition in status.get("conditions") or ():
        stuck = condition.get("reason") == "SyncFailed"
        if condition.get("type") == "DisruptionAllowed" and stuck:
            return str(condition.get("message") or "SyncFailed")
    return ""
