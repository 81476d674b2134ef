"""What a person puts into the cluster: deployments, budgets, odd pods."""

from collections.abc import Mapping
from typing import Any

from . import deletion, pod_object
from .budgets import Budgets
from .pod_object import PodPlan
from .resources import BY_PLURAL
from .store import Object, Store
from .volumes import Volumes

NAMESPACE = "default"


class Contents:
    """Makers of objects; each answers with the object as it was stored."""

    store: Store
    volumes: Volumes
    budgets: Budgets

    @property
    def nodes(self) -> dict[str, Object]:
        return {it["metadata"]["name"]: it for it in self.store.items("nodes")}

    @property
    def pods(self) -> dict[str, Object]:
        """By namespace/name."""
        return {
            f"{it['metadata']['namespace']}/{it['metadata']['name']}": it
            for it in self.store.items("pods")
        }

    @property
    def pdbs(self) -> dict[str, Object]:
        return {
            f"{it['metadata']['namespace']}/{it['metadata']['name']}": it
            for it in self.store.items("poddisruptionbudgets")
        }

    def create_namespace(self, name: str) -> Object:
        if found := self.store.find("namespaces", name):
            return found
        return self._create("namespaces", {"name": name}, {"finalizers": []})

    def create_deployment(
        self,
        name: str,
        *,
        replicas: int = 1,
        namespace: str = NAMESPACE,
        plan: PodPlan | None = None,
    ) -> Object:
        """Its pods carry `app: NAME` unless the plan has labels of its own."""
        plan = plan or PodPlan()
        plan.labels = dict(plan.labels) or {"app": name}
        if plan.claim:
            self.volumes.add(plan.claim, namespace)
        self.create_namespace(namespace)
        spec = {
            "replicas": replicas,
            "selector": {"matchLabels": dict(plan.labels)},
            "template": pod_object.template(plan),
        }
        return self._create("deployments", _meta(name, namespace), spec)

    def create_daemon_set(
        self, name: str, *, namespace: str = NAMESPACE, plan: PodPlan | None = None
    ) -> Object:
        plan = plan or PodPlan()
        plan.labels = dict(plan.labels) or {"app": name}
        self.create_namespace(namespace)
        spec = {
            "selector": {"matchLabels": dict(plan.labels)},
            "template": pod_object.template(plan),
        }
        return self._create("daemonsets", _meta(name, namespace), spec)

    def create_pod(
        self,
        name: str,
        *,
        namespace: str = NAMESPACE,
        plan: PodPlan | None = None,
        owner: Object | None = None,
    ) -> Object:
        """A pod by itself; `owner` is an ownerReference, of something real or not."""
        self.create_namespace(namespace)
        template = pod_object.template(plan or PodPlan())
        item = pod_object.pod(template, namespace=namespace, name=name, owner=owner)
        return self.store.create(BY_PLURAL["pods"], item)

    def create_mirror_pod(self, name: str, node: str) -> Object:
        """A static pod of a node, as its kubelet shows it."""
        plan = PodPlan(annotations={"kubernetes.io/config.mirror": "a1"}, node=node)
        owner = {
            "apiVersion": "v1",
            "kind": "Node",
            "name": node,
            "uid": self.store.get("nodes", node)["metadata"]["uid"],
            "controller": True,
        }
        return self.create_pod(
            f"{name}-{node}", namespace="kube-system", plan=plan, owner=owner
        )

    def create_pdb(
        self,
        name: str,
        *,
        match_labels: Mapping[str, str] | None = None,
        selector: Mapping[str, Any] | None = None,
        min_available: int | str | None = None,
        max_unavailable: int | str | None = None,
        always_allow_unhealthy: bool = False,
        namespace: str = NAMESPACE,
    ) -> Object:
        chosen = {"matchLabels": dict(match_labels)} if match_labels else selector
        spec: Object = {} if chosen is None else {"selector": dict(chosen)}
        if min_available is not None:
            spec["minAvailable"] = min_available
        if max_unavailable is not None:
            spec["maxUnavailable"] = max_unavailable
        if always_allow_unhealthy:
            spec["unhealthyPodEvictionPolicy"] = "AlwaysAllow"
        self.create_namespace(namespace)
        return self._create("poddisruptionbudgets", _meta(name, namespace), spec)

    def delete_pdb(self, name: str, namespace: str = NAMESPACE) -> None:
        self.store.delete("poddisruptionbudgets", name, namespace)

    def delete_content(self, namespace: str = NAMESPACE) -> None:
        """Everything in a namespace, at once."""
        kinds = ("deployments", "daemonsets", "replicasets", "poddisruptionbudgets")
        for plural in kinds:
            for item in self.store.items(plural, namespace):
                self.store.delete(plural, item["metadata"]["name"], namespace)
        for item in self.store.items("pods", namespace):
            item["metadata"].pop("finalizers", None)
            deletion.finish(self.store, self.store.update("pods", item))

    def _create(self, plural: str, meta: Object, spec: Object) -> Object:
        resource = BY_PLURAL[plural]
        item: Object = {
            "kind": resource.kind,
            "apiVersion": resource.api_version,
            "metadata": meta,
            "spec": spec,
        }
        return self.store.create(resource, item)


def _meta(name: str, namespace: str) -> Object:
    return {"name": name, "namespace": namespace}
