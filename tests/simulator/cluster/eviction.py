"""The eviction subresource: may this pod be disturbed, and if so, it is asked to go."""

from . import deletion, pod_object, status
from .resources import Place
from .selectors import matches
from .status import Answer
from .store import Object, Store, timestamp

_UNPROTECTED = {"Pending", "Succeeded", "Failed"}


def evict(store: Store, place: Place, body: Object, *, dry_run: bool) -> Answer:
    """Answer as the API server does, in its order."""
    name, namespace = place.name or "", place.namespace or ""
    if body.get("metadata", {}).get("name") != name:
        raise status.bad_request("name in URL does not match name in Eviction object")
    item = store.get("pods", name, namespace)
    options = body.get("deleteOptions") or {}
    dry_run = dry_run or options.get("dryRun") == ["All"]
    if not _is_free(item):
        _ask_budget(store, item, dry_run=dry_run)
    deletion.check_uid(item, options, "Pod")
    if not dry_run:
        grace_s = options.get("gracePeriodSeconds")
        item = store.get("pods", name, namespace)
        deletion.ask_to_go(store, item, grace_s, evicted=True)
    return status.success(201)


def _is_free(item: Object) -> bool:
    phase = item["status"].get("phase")
    return phase in _UNPROTECTED or pod_object.is_leaving(item)


def _ask_budget(store: Store, item: Object, *, dry_run: bool) -> None:
    meta = item["metadata"]
    labels = meta.get("labels") or {}
    budgets = [
        it
        for it in store.items("poddisruptionbudgets", meta["namespace"])
        if matches(it["spec"].get("selector"), labels)
    ]
    if len(budgets) > 1:
        raise status.two_budgets()
    if not budgets:
        return
    budget = budgets[0]
    state = budget.get("status") or {}
    if not pod_object.is_ready(item) and _lets_unready_go(budget, state):
        return
    if state.get("observedGeneration", 0) < budget["metadata"]["generation"]:
        raise status.budget_unprocessed(budget["metadata"]["name"])
    if state.get("disruptionsAllowed", 0) < 1:
        raise status.budget_spent(_cause(budget, state))
    if not dry_run:
        state["disruptionsAllowed"] -= 1
        state.setdefault("disruptedPods", {})[meta["name"]] = timestamp()
        store.update("poddisruptionbudgets", budget)


def _lets_unready_go(budget: Object, state: Object) -> bool:
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    desired = int(state.get("desiredHealthy", 0))
    return 0 < desired <= int(state.get("currentHealthy", 0))


def _cause(budget: Object, state: Object) -> str:
    name = budget["metadata"]["name"]
    healthy, desired = state.get("currentHealthy", 0), state.get("desiredHealthy", 0)
    if desired < healthy or "desiredHealthy" not in state:
        return f"The disruption budget {name} does not allow evicting pods currently"
    return (
        f"The disruption budget {name} needs {desired} healthy pods "
        f"and has {healthy} currently"
    )
