"""Pods, as the controllers and the kubelet write them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .node_object import GPU
from .store import Object, timestamp

FINISHED = {"Succeeded", "Failed"}


@dataclass(slots=True, kw_only=True)
class PodPlan:
    """What a pod is made from. `prefers`: the node where it would rather run."""

    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    grace_s: int = 3
    gpus: int = 0
    prefers: str | None = None
    node: str | None = None
    node_selector: Mapping[str, str] = field(default_factory=dict)
    empty_dir: bool = False
    claim: str | None = None
    finalizers: tuple[str, ...] = ()


def template(plan: PodPlan) -> Object:
    """The part that a Deployment has under `template`."""
    meta: Object = {"labels": dict(plan.labels)}
    if plan.annotations:
        meta["annotations"] = dict(plan.annotations)
    if plan.finalizers:
        meta["finalizers"] = list(plan.finalizers)
    return {"metadata": meta, "spec": _spec(plan)}


def pod(
    template_: Object,
    *,
    namespace: str,
    name: str | None = None,
    generate_name: str | None = None,
    owner: Object | None = None,
) -> Object:
    meta = {**template_["metadata"], "namespace": namespace}
    if name:
        meta["name"] = name
    if generate_name:
        meta["generateName"] = generate_name
    if owner:
        meta["ownerReferences"] = [owner]
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": meta,
        "spec": dict(template_["spec"]),
        "status": {"phase": "Pending", "qosClass": "BestEffort"},
    }


def owner_reference(item: Object) -> Object:
    meta = item["metadata"]
    return {
        "apiVersion": item["apiVersion"],
        "kind": item["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_of(item: Object) -> Object | None:
    references = item["metadata"].get("ownerReferences") or ()
    return next((it for it in references if it.get("controller")), None)


def _spec(plan: PodPlan) -> Object:
    container: Object = {
        "name": "c",
        "image": "registry.invalid/c",
        "resources": {},
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "Always",
    }
    if plan.gpus:
        amount = {GPU: str(plan.gpus)}
        container["resources"] = {"limits": amount, "requests": dict(amount)}
    spec: Object = {
        "volumes": _volumes(plan),
        "containers": [container],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": plan.grace_s,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "default",
        "securityContext": {},
        "schedulerName": "default-scheduler",
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    if plan.node_selector:
        spec["nodeSelector"] = dict(plan.node_selector)
    if plan.node:
        spec["nodeName"] = plan.node
    if plan.prefers:
        spec["affinity"] = {"nodeAffinity": _preference(plan.prefers)}
    return spec


def _volumes(plan: PodPlan) -> list[Object]:
    volumes: list[Object] = [
        {"name": "kube-api-access-sim", "projected": {"defaultMode": 420}}
    ]
    if plan.empty_dir:
        volumes.append({"name": "scratch", "emptyDir": {}})
    if plan.claim:
        source = {"claimName": plan.claim}
        volumes.append({"name": "data", "persistentVolumeClaim": source})
    return volumes


def _preference(name: str) -> Object:
    expression = {
        "key": "kubernetes.io/hostname",
        "operator": "In",
        "values": [name],
    }
    return {
        "preferredDuringSchedulingIgnoredDuringExecution": [
            {"weight": 100, "preference": {"matchExpressions": [expression]}}
        ]
    }


def preferred_node(item: Object) -> str | None:
    affinity = item["spec"].get("affinity", {}).get("nodeAffinity", {})
    for term in affinity.get("preferredDuringSchedulingIgnoredDuringExecution", ()):
        for expression in term["preference"].get("matchExpressions", ()):
            return str(expression["values"][0])
    return None


def gpus(item: Object) -> int:
    containers = item["spec"].get("containers") or ()
    return sum(
        int((it.get("resources") or {}).get("limits", {}).get(GPU, 0))
        for it in containers
    )


def is_ready(item: Object) -> bool:
    return any(
        it["type"] == "Ready" and it["status"] == "True"
        for it in item["status"].get("conditions") or ()
    )


def is_leaving(item: Object) -> bool:
    return "deletionTimestamp" in item["metadata"]


def is_finished(item: Object) -> bool:
    return item["status"].get("phase") in FINISHED


def condition(kind: str, state: str, **more: Any) -> Object:
    return {
        "type": kind,
        "status": state,
        "lastProbeTime": None,
        "lastTransitionTime": timestamp(),
        **more,
    }


def set_condition(item: Object, new: Object) -> None:
    conditions = item["status"].setdefault("conditions", [])
    conditions[:] = [it for it in conditions if it["type"] != new["type"]]
    conditions.append(new)
