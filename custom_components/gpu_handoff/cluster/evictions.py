"""Evictions: one request for each pod, and what the server's answer means for it."""

from dataclasses import dataclass
from enum import StrEnum

from ..handoff.reason import Reason
from . import paths
from .budgets import list_budgets, why_kept
from .client import Api
from .pods import RawPod, full_name
from .reply import Reply

RETRY_S = 5.0
"""Between two tries where the server names no time, as kubectl does."""
LET_GO_S = 10.0
"""An accepted pod that is not seen to leave within this time is asked to go again."""

_PASSING = frozenset({502, 503, 504})


class Outcome(StrEnum):
    """What came of one eviction: under way, gone already, not yet, or never."""

    ACCEPTED = "accepted"
    GONE = "gone"
    LATER = "later"
    NEVER = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an eviction came to, why, and when another one may be sent."""

    outcome: Outcome
    why: Reason | None = None
    retry_in_s: float = RETRY_S


async def evict(api: Api, pod: RawPod) -> Verdict:
    """Ask for the eviction of exactly this pod; raises Unreachable."""
    meta = pod["metadata"]
    path = paths.eviction(meta["namespace"], meta["name"])
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": meta["name"], "namespace": meta["namespace"]},
        "deleteOptions": {"preconditions": {"uid": meta["uid"]}},
    }
    reply = await api.send("POST", path, body=body)
    if reply.status == 401:
        raise api.refusal("POST", path, reply.status, reply.message)
    return _plain(pod, reply) or await _by_budget(api, pod, reply)


def _plain(pod: RawPod, reply: Reply) -> Verdict | None:
    """Answers that say all there is to know; None if a budget may be behind it."""
    if reply.ok:
        return Verdict(outcome=Outcome.ACCEPTED, retry_in_s=LET_GO_S)
    status, later_s = reply.status, _later_s(reply)
    if status == 404 or (status == 409 and "precondition" in reply.message):
        return Verdict(outcome=Outcome.GONE)
    if status == 409 or _is_passing(reply):
        return _later(later_s)
    if reply.has_cause("NamespaceTerminating"):
        reason = Reason.of("pod_namespace_ends", pod=full_name(pod))
        return _later(later_s, reason)
    if status == 429 and not reply.has_cause("DisruptionBudget"):
        return _later(later_s, _refusal(reply, "cluster_busy"))
    if status == 403:
        return _never(_refusal(reply, "cluster_forbidden"))
    return None


async def _by_budget(api: Api, pod: RawPod, reply: Reply) -> Verdict:
    """A 429 or 500 that budgets explain; the server's own words where they do not."""
    budgets = await list_budgets(api, pod["metadata"]["namespace"])
    why, final = why_kept(pod, budgets)
    if reply.status == 429:
        why = why or _server_words(pod, reply)
        return _never(why) if final else _later(_later_s(reply), why)
    if why is not None and why.key == "pod_two_budgets":
        return _never(why)
    cause = reply.message[:200] or f"HTTP {reply.status}"
    return _never(Reason.of("pod_eviction_refused", pod=full_name(pod), cause=cause))


def _is_passing(reply: Reply) -> bool:
    """A server that restarts, or that lost a race for a budget's bookkeeping."""
    return reply.status in _PASSING or reply.body.get("reason") in (
        "Timeout",
        "ServerTimeout",
    )


def _server_words(pod: RawPod, reply: Reply) -> Reason:
    said = [str(c.get("message")) for c in reply.causes if c.get("message")]
    cause = ", ".join(said)[:200] or reply.message[:200]
    return Reason.of("pod_budget_said", pod=full_name(pod), cause=cause)


def _later_s(reply: Reply) -> float:
    return RETRY_S if reply.retry_after_s is None else reply.retry_after_s


def _later(retry_in_s: float, why: Reason | None = None) -> Verdict:
    return Verdict(outcome=Outcome.LATER, why=why, retry_in_s=retry_in_s)


def _never(why: Reason) -> Verdict:
    return Verdict(outcome=Outcome.NEVER, why=why)


def _refusal(reply: Reply, key: str) -> Reason:
    return Reason.of(key, verb="create", resource="pods/eviction", code=reply.status)
