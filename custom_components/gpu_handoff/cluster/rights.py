"""Whether our login may do what a handover needs, asked before it is needed."""

import asyncio

from ..handoff.reason import HandoffError
from . import paths
from .client import Api

NEEDED = (
    ("list", "", "nodes", ""),
    ("watch", "", "nodes", ""),
    ("patch", "", "nodes", ""),
    ("list", "", "pods", ""),
    ("watch", "", "pods", ""),
    ("create", "", "pods", "eviction"),
    ("list", "coordination.k8s.io", "leases", ""),
    ("watch", "coordination.k8s.io", "leases", ""),
)
"""Verb, API group, resource, subresource. Budgets and volumes are asked for only if we may."""


async def check_rights(api: Api) -> None:
    """Raise HandoffError that names what is missing; a worker's kubeconfig lacks most."""
    answers = await asyncio.gather(*(_may(api, *right) for right in NEEDED))
    missing = [
        f"{verb} {resource}/{sub}" if sub else f"{verb} {resource}"
        for (verb, _, resource, sub), may in zip(NEEDED, answers, strict=True)
        if not may
    ]
    if missing:
        raise HandoffError("cluster_rights_missing", rights=", ".join(missing))


async def _may(api: Api, verb: str, group: str, resource: str, sub: str) -> bool:
    wanted = {"verb": verb, "group": group, "resource": resource, "subresource": sub}
    if resource == "leases":
        wanted["namespace"] = "kube-node-lease"
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": wanted},
    }
    answer = await api.post(paths.ACCESS_REVIEWS, review)
    return bool((answer.get("status") or {}).get("allowed"))
