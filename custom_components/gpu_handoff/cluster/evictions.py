"""Evictions: one request for each pod, and what the server's answer means for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..handoff.reason import HandoffError, Reason
from . import paths
from .budgets import budgets_of, why_blocked
from .client import Api
from .pods import full_name
from .reply import Reply

RETRY_S = 5.0
"""Between two tries where the server names no time, as kubectl does."""

_TWO_BUDGETS = "more than one PodDisruptionBudget"
_CONFLICTS = "due to conflicts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an eviction came to; `retry_in_s` is None where no further try helps."""

    why: Reason | None = None
    final: bool = False
    retry_in_s: float | None = None


GONE = Verdict(retry_in_s=RETRY_S)
"""Accepted, or there was nothing to evict: the pod's end shows by itself."""


async def evict(api: Api, pod: Mapping[str, Any]) -> Verdict:
    """Ask for the eviction of exactly this pod. Raises Unreachable."""
    meta = pod["metadata"]
    namespace, name = meta.get("namespace", "default"), meta["name"]
    reply = await api.send(
        "POST",
        paths.eviction(namespace, name),
        body={
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": name, "namespace": namespace},
            "deleteOptions": {"preconditions": {"uid": meta["uid"]}},
        },
    )
    return await _verdict(api, pod, reply)


async def _verdict(api: Api, pod: Mapping[str, Any], reply: Reply) -> Verdict:
    if reply.ok or reply.status in (404, 409):
        return GONE
    name = full_name(pod)
    if reply.status == 403 and reply.has_cause("NamespaceTerminating"):
        return GONE
    if reply.status == 429:
        return await _too_many(api, pod, reply)
    if reply.status == 500 and _TWO_BUDGETS in reply.message:
        why, _ = await _budget(api, pod)
        two = why or Reason.of("pod_two_budgets", pod=name, budgets="?")
        return Verdict(why=two, final=True)
    if reply.status >= 500 and _CONFLICTS in reply.message:
        return Verdict(retry_in_s=RETRY_S)
    cause = reply.message[:200] or f"HTTP {reply.status}"
    refused = Reason.of("pod_eviction_refused", pod=name, cause=cause)
    return Verdict(why=refused, final=True)


async def _too_many(api: Api, pod: Mapping[str, Any], reply: Reply) -> Verdict:
    """A budget that is spent, or a server that is only busy: no budget is blamed then."""
    later_s = RETRY_S if reply.retry_after_s is None else reply.retry_after_s
    if not reply.has_cause("DisruptionBudget"):
        return Verdict(retry_in_s=later_s)
    why, final = await _budget(api, pod)
    if why is None:
        why = Reason.of("pod_budget_spent", pod=full_name(pod), cause=reply.message)
    return Verdict(why=why, final=final, retry_in_s=None if final else later_s)


async def _budget(api: Api, pod: Mapping[str, Any]) -> tuple[Reason | None, bool]:
    """Name the budget; without the right to read budgets the server's words must do."""
    namespace = pod["metadata"].get("namespace", "default")
    try:
        listed = await api.get(paths.budgets(namespace))
    except HandoffError:
        return None, False
    mine = budgets_of(pod, listed.get("items") or ())
    return why_blocked(full_name(pod), mine)
