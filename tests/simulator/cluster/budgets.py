"""The disruption controller: how many pods of a budget may be disturbed now."""

from dataclasses import dataclass
from math import ceil

from . import pod_object
from .selectors import matches
from .store import Object, Store, timestamp

MINDS = ("pods", "poddisruptionbudgets", "replicasets")
_SCALED = {"ReplicaSet": "replicasets", "StatefulSet": "statefulsets"}


@dataclass(slots=True)
class Budgets:
    """Counts anew at each pass. `paused`: new budgets stay unprocessed."""

    store: Store
    paused: bool = False

    def work(self) -> None:
        if not self.paused:
            for budget in self.store.items("poddisruptionbudgets"):
                self._count(budget)

    def fail_sync(self, name: str, namespace: str) -> None:
        """Leave a budget as the controller does that cannot find its pods' owner."""

        def edit(budget: Object) -> None:
            message = f"found no controllers for pod {name!r}"
            status = budget.setdefault("status", {})
            status |= {
                "observedGeneration": budget["metadata"]["generation"],
                "disruptionsAllowed": 0,
                "conditions": [_condition(budget, "False", "SyncFailed", message)],
            }

        self.store.change("poddisruptionbudgets", name, edit, namespace)

    def _count(self, budget: Object) -> None:
        status = budget.get("status") or {}
        if any(it["reason"] == "SyncFailed" for it in status.get("conditions", ())):
            return
        pods = self._pods(budget)
        disrupted = {
            name: at
            for name, at in (status.get("disruptedPods") or {}).items()
            if any(_name(it) == name and not pod_object.is_leaving(it) for it in pods)
        }
        healthy = sum(
            pod_object.is_ready(it)
            and not pod_object.is_leaving(it)
            and _name(it) not in disrupted
            for it in pods
        )
        expected, desired = self._wanted(budget, pods)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        budget["status"] = {
            "observedGeneration": budget["metadata"]["generation"],
            "disruptionsAllowed": allowed,
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "conditions": [_told(budget, allowed)],
        }
        if disrupted:
            budget["status"]["disruptedPods"] = disrupted
        self.store.update("poddisruptionbudgets", budget)

    def _pods(self, budget: Object) -> list[Object]:
        selector = budget["spec"].get("selector")
        return [
            item
            for item in self.store.items("pods", budget["metadata"]["namespace"])
            if matches(selector, item["metadata"].get("labels") or {})
            and not pod_object.is_finished(item)
        ]

    def _wanted(self, budget: Object, pods: list[Object]) -> tuple[int, int]:
        """Expected and desired healthy pods."""
        least, most = (
            budget["spec"].get(key) for key in ("minAvailable", "maxUnavailable")
        )
        if isinstance(least, int):
            return len(pods), least
        expected = self._scale(pods)
        if least is not None:
            return expected, _share(least, expected)
        gone = most if isinstance(most, int) else _share(most or "0%", expected)
        return expected, max(0, expected - gone)

    def _scale(self, pods: list[Object]) -> int:
        """The sum of the owners' replicas; a pod without an owner counts for nothing."""
        owners = {
            (owner["kind"], owner["name"], it["metadata"]["namespace"])
            for it in pods
            if (owner := pod_object.controller_of(it)) and owner["kind"] in _SCALED
        }
        found = (
            self.store.find(_SCALED[kind], name, namespace)
            for kind, name, namespace in owners
        )
        return sum(int(it["spec"]["replicas"]) for it in found if it)


def _share(text: str, whole: int) -> int:
    return ceil(int(text.rstrip("%")) * whole / 100)


def _name(item: Object) -> str:
    return str(item["metadata"]["name"])


def _told(budget: Object, allowed: int) -> Object:
    state, reason = (
        ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
    )
    before = (budget.get("status") or {}).get("conditions") or [{}]
    new = _condition(budget, state, reason, "")
    if before[0].get("status") == state:
        new["lastTransitionTime"] = before[0]["lastTransitionTime"]
    return new


def _condition(budget: Object, state: str, reason: str, message: str) -> Object:
    return {
        "type": "DisruptionAllowed",
        "status": state,
        "observedGeneration": budget["metadata"]["generation"],
        "lastTransitionTime": timestamp(),
        "reason": reason,
        "message": message,
    }
