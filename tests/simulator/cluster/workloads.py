"""Deployments, ReplicaSets and DaemonSets: they make pods anew when some are gone."""

from hashlib import sha256
import json

from . import deletion, pod_object
from .resources import BY_PLURAL
from .store import Change, Object, Store

MINDS = ("pods", "deployments", "replicasets", "daemonsets", "nodes")
_OWNERS = {"Deployment", "ReplicaSet", "DaemonSet", "StatefulSet"}
_DEPENDENTS = ("replicasets", "pods")


class Workloads:
    """One pass makes what is missing; owners take their dependents along."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def work(self) -> None:
        for deployment in self._store.items("deployments"):
            self._have_replica_set(deployment)
        for replica_set in self._store.items("replicasets"):
            self._have_pods(replica_set)
        for daemon_set in self._store.items("daemonsets"):
            self._have_daemons(daemon_set)

    def changed(self, change: Change) -> None:
        """Collect what an owner leaves behind."""
        if not change.deleted or change.after.get("kind") not in _OWNERS:
            return
        uid = change.after["metadata"]["uid"]
        for plural in _DEPENDENTS:
            for item in self._owned(plural, uid):
                self._remove(plural, item)

    def _remove(self, plural: str, item: Object) -> None:
        meta = item["metadata"]
        if plural == "pods":
            deletion.ask_to_go(self._store, item, None, evicted=False)
        else:
            self._store.delete(plural, meta["name"], meta["namespace"])

    def _owned(self, plural: str, uid: str) -> list[Object]:
        return [
            item
            for item in self._store.items(plural)
            if (owner := pod_object.controller_of(item)) and owner["uid"] == uid
        ]

    def _have_replica_set(self, deployment: Object) -> None:
        meta, spec = deployment["metadata"], deployment["spec"]
        owned = self._owned("replicasets", meta["uid"])
        if not owned:
            self._create("replicasets", deployment, _replica_set(deployment))
        elif owned[0]["spec"]["replicas"] != spec["replicas"]:
            owned[0]["spec"]["replicas"] = spec["replicas"]
            self._store.update("replicasets", owned[0])

    def _have_pods(self, replica_set: Object) -> None:
        uid = replica_set["metadata"]["uid"]
        living = [
            item
            for item in self._owned("pods", uid)
            if not pod_object.is_leaving(item) and not pod_object.is_finished(item)
        ]
        wanted = int(replica_set["spec"]["replicas"])
        for _ in range(wanted - len(living)):
            self._create("pods", replica_set, self._pod(replica_set))
        for item in living[wanted:]:
            deletion.ask_to_go(self._store, item, None, evicted=False)

    def _have_daemons(self, daemon_set: Object) -> None:
        owned = self._owned("pods", daemon_set["metadata"]["uid"])
        served = {it["spec"].get("nodeName") for it in owned}
        for node in self._store.items("nodes"):
            if (name := node["metadata"]["name"]) not in served:
                item = self._pod(daemon_set)
                item["spec"]["nodeName"] = name
                self._create("pods", daemon_set, item)

    def _pod(self, owner: Object) -> Object:
        meta = owner["metadata"]
        return pod_object.pod(
            owner["spec"]["template"],
            namespace=meta["namespace"],
            generate_name=f"{meta['name']}-",
        )

    def _create(self, plural: str, owner: Object, item: Object) -> None:
        item["metadata"]["ownerReferences"] = [pod_object.owner_reference(owner)]
        self._store.create(BY_PLURAL[plural], item)


def _replica_set(deployment: Object) -> Object:
    meta, spec = deployment["metadata"], deployment["spec"]
    text = json.dumps(spec["template"], sort_keys=True)
    digest = sha256(text.encode()).hexdigest()[:10]
    template = json.loads(text)
    template["metadata"].setdefault("labels", {})["pod-template-hash"] = digest
    return {
        "kind": "ReplicaSet",
        "apiVersion": "apps/v1",
        "metadata": {
            "name": f"{meta['name']}-{digest}",
            "namespace": meta["namespace"],
            "labels": dict(template["metadata"]["labels"]),
        },
        "spec": {
            "replicas": spec.get("replicas", 1),
            "selector": spec["selector"],
            "template": template,
        },
    }
