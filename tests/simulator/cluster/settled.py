"""Whether the controllers have nothing left to do for now."""

from collections import Counter

from . import pod_object
from .store import Store


def is_settled(store: Store) -> bool:
    """Every pod is made and seen by the scheduler, runs where it is; budgets are counted."""
    pods = store.items("pods")
    starting = (
        it["spec"].get("nodeName") and it["status"].get("phase") == "Pending"
        for it in pods
    )
    unseen = (not it["status"].get("conditions") for it in pods)
    counted = (
        (it.get("status") or {}).get("observedGeneration")
        for it in store.items("poddisruptionbudgets")
    )
    return not any(starting) and not any(unseen) and all(counted) and _complete(store)


def _complete(store: Store) -> bool:
    """Whether every Deployment has its ReplicaSet, and each of these its pods."""
    living = Counter(
        owner["uid"]
        for it in store.items("pods")
        if (owner := pod_object.controller_of(it)) and not pod_object.is_leaving(it)
    )
    sets = store.items("replicasets")
    enough = (living[it["metadata"]["uid"]] >= it["spec"]["replicas"] for it in sets)
    return len(store.items("deployments")) <= len(sets) and all(enough)
