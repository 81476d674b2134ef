"""How a pod goes: it is asked to, its kubelet lets it end, its finalizers let it go."""

from . import pod_object, status
from .store import Object, Store, timestamp


def check_uid(item: Object, options: Object, kind: str) -> None:
    """Hold the deletion to its precondition."""
    asked = (options.get("preconditions") or {}).get("uid")
    found = item["metadata"]["uid"]
    if asked and asked != found:
        raise status.wrong_uid(kind, item["metadata"]["name"], asked, found)


def ask_to_go(
    store: Store, item: Object, grace_s: int | None, *, evicted: bool
) -> None:
    """Begin a graceful deletion. A pod that runs nowhere is gone at once."""
    meta = item["metadata"]
    default_s = item["spec"].get("terminationGracePeriodSeconds", 30)
    grace_s = default_s if grace_s is None else grace_s
    on_node = bool(item["spec"].get("nodeName"))
    if not on_node or pod_object.is_finished(item) or grace_s == 0:
        finish(store, item)
        return
    if pod_object.is_leaving(item):
        return

    def edit(current: Object) -> None:
        current["metadata"]["deletionTimestamp"] = timestamp(grace_s)
        current["metadata"]["deletionGracePeriodSeconds"] = grace_s
        current["metadata"]["generation"] = meta.get("generation", 1) + 1
        if evicted:
            pod_object.set_condition(
                current,
                pod_object.condition(
                    "DisruptionTarget",
                    "True",
                    reason="EvictionByEvictionAPI",
                    message="Eviction API: evicting",
                ),
            )

    store.change("pods", meta["name"], edit, meta["namespace"])


def finish(store: Store, item: Object) -> None:
    """Remove a pod whose containers have ended, unless a finalizer holds it."""
    meta = item["metadata"]
    current = store.find("pods", meta["name"], meta["namespace"])
    if current is None or current["metadata"]["uid"] != meta["uid"]:
        return
    if not current["metadata"].get("finalizers"):
        store.delete("pods", meta["name"], meta["namespace"])
        return

    def edit(held: Object) -> None:
        held["metadata"].setdefault("deletionTimestamp", timestamp())
        held["metadata"]["deletionGracePeriodSeconds"] = 0

    store.change("pods", meta["name"], edit, meta["namespace"])
