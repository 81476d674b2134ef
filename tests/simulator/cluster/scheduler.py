"""The scheduler: binds pods that wait to a node that can have them."""

from . import node_object, pod_object
from .node_object import GPU
from .store import Object, Store

MINDS = ("pods", "nodes")


class Scheduler:
    """One pass binds all pods that can be bound."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def work(self) -> None:
        for item in self._store.items("pods"):
            waits = not item["spec"].get("nodeName") and not pod_object.is_finished(
                item
            )
            if waits and not pod_object.is_leaving(item):
                self._place(item)

    def _place(self, item: Object) -> None:
        fitting = [it for it in self._store.items("nodes") if self._fits(item, it)]
        preferred = pod_object.preferred_node(item)
        fitting.sort(key=lambda it: it["metadata"]["name"] != preferred)
        if fitting:
            item["spec"]["nodeName"] = fitting[0]["metadata"]["name"]
            new = pod_object.condition("PodScheduled", "True")
        elif any(
            it["type"] == "PodScheduled" for it in item["status"].get("conditions", ())
        ):
            return
        else:
            new = pod_object.condition(
                "PodScheduled",
                "False",
                reason="Unschedulable",
                message="0/2 nodes are available: no node fits.",
            )
        pod_object.set_condition(item, new)
        self._store.update("pods", item)

    def _fits(self, item: Object, node: Object) -> bool:
        labels = node["metadata"].get("labels") or {}
        wanted = (item["spec"].get("nodeSelector") or {}).items()
        return (
            node_object.is_ready(node)
            and not node["spec"].get("unschedulable")
            and all(labels.get(key) == value for key, value in wanted)
            and pod_object.gpus(item) <= self._free_gpus(node)
        )

    def _free_gpus(self, node: Object) -> int:
        name = node["metadata"]["name"]
        taken = sum(
            pod_object.gpus(it)
            for it in self._store.items("pods")
            if it["spec"].get("nodeName") == name and not pod_object.is_finished(it)
        )
        return int(node["status"]["allocatable"].get(GPU, 0)) - taken
