"""Disruption budgets: which ones a pod has, and whether waiting helps."""

from collections.abc import Iterable, Mapping
from typing import Any

from ..handoff.reason import HandoffError, Reason
from . import paths
from .client import Api
from .pods import RawPod, full_name, is_managed
from .selector import matches

type RawBudget = Mapping[str, Any]


async def list_budgets(api: Api, namespace: str) -> tuple[RawBudget, ...]:
    """List a namespace's budgets; none where we may not look."""
    try:
        listed = await api.get(paths.budgets(namespace))
    except HandoffError:
        return ()
    return tuple(listed.get("items") or ())


def budgets_of(pod: RawPod, budgets: Iterable[RawBudget]) -> list[RawBudget]:
    """Pick the budgets of the pod's namespace that select it."""
    meta = pod["metadata"]
    return [
        budget
        for budget in budgets
        if budget["metadata"].get("namespace") == meta.get("namespace")
        and matches(_spec(budget).get("selector"), meta.get("labels") or {})
    ]


def why_kept(pod: RawPod, budgets: Iterable[RawBudget]) -> tuple[Reason | None, bool]:
    """Say why budgets keep a pod, and whether that is final; nothing if they let it go."""
    mine = budgets_of(pod, budgets)
    if len(mine) > 1:
        names = ", ".join(sorted(budget["metadata"]["name"] for budget in mine))
        return Reason.of("pod_two_budgets", pod=full_name(pod), budgets=names), True
    return _why_kept_by(pod, mine[0]) if mine else (None, False)


def _why_kept_by(pod: RawPod, budget: RawBudget) -> tuple[Reason | None, bool]:
    status = budget.get("status") or {}
    names = {"pod": full_name(pod), "budget": budget["metadata"]["name"]}
    if not _is_observed(budget):
        return Reason.of("pod_budget_unprocessed", **names), False
    if cause := _cannot_be_computed(status):
        return Reason.of("pod_budget_stuck", **names, cause=cause), True
    if status.get("disruptionsAllowed", 0) > 0:
        return None, False
    if status.get("expectedPods", 0) == 0 and not is_managed(pod):
        return Reason.of("pod_budget_counts_none", **names), True
    return Reason.of(
        "pod_budget",
        **names,
        healthy=status.get("currentHealthy", 0),
        desired=status.get("desiredHealthy", 0),
    ), False


def _spec(budget: RawBudget) -> Mapping[str, Any]:
    return budget.get("spec") or {}


def _is_observed(budget: RawBudget) -> bool:
    seen = (budget.get("status") or {}).get("observedGeneration", 0)
    wanted: int = budget["metadata"].get("generation", 0)
    return bool(seen >= wanted)


def _cannot_be_computed(status: Mapping[str, Any]) -> str:
    """SyncFailed keeps a budget at 0 until somebody changes it."""
    for condition in status.get("conditions") or ():
        stuck = condition.get("reason") == "SyncFailed"
        if condition.get("type") == "DisruptionAllowed" and stuck:
            return str(condition.get("message") or "SyncFailed")
    return ""
