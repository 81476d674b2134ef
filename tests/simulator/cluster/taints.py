"""The node controller's mark on nodes that take no pods."""

from .store import Object, Store, timestamp

MINDS = ("nodes",)
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"


class Taints:
    """Keeps the taint in step with `spec.unschedulable`."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def work(self) -> None:
        for node in self._store.items("nodes"):
            spec = node["spec"]
            taints = spec.pop("taints", [])
            left = [it for it in taints if it["key"] != UNSCHEDULABLE]
            if spec.get("unschedulable"):
                left += _present(taints) or [_new()]
            if left:
                spec["taints"] = left
            self._store.update("nodes", node)


def _present(taints: list[Object]) -> list[Object]:
    return [it for it in taints if it["key"] == UNSCHEDULABLE]


def _new() -> Object:
    return {"key": UNSCHEDULABLE, "effect": "NoSchedule", "timeAdded": timestamp()}
