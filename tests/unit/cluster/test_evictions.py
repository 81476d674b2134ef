"""What the server's answer to an eviction means; the bodies are a real server's."""

from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.evictions import Outcome, Verdict, evict
from custom_components.gpu_handoff.cluster.reply import Reply
from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason

from .fake_api import FakeApi, status
from .objects import budget, pod

POD = pod("web-1", labels={"app": "web"})
PATH = paths.eviction("games", "web-1")
BUDGETS = paths.budgets("games")
VIOLATES = "Cannot evict pod as it would violate the pod's disruption budget."
TWO = (
    "This pod has more than one PodDisruptionBudget, which the eviction subresource "
    "does not support."
)
WRONG_UID = (
    'Operation cannot be fulfilled on Pod "web-1": the UID in the precondition '
    "(00000000-0000-4000-8000-000000000000) does not match the UID in record "
    "(2c0dd793-2e65-4c19-b64c-46caa2021bde). The object might have been deleted and "
    "then recreated"
)


def spent(message: str, retry_after_s: float | None = None) -> Reply:
    """A 429 that blames a budget."""
    cause = {"reason": "DisruptionBudget", "message": message}
    body = {
        "kind": "Status",
        "message": VIOLATES,
        "reason": "TooManyRequests",
        "details": {"causes": [cause]},
        "code": 429,
    }
    return Reply(status=429, body=body, retry_after_s=retry_after_s)


async def answer(reply: Reply, *budgets: dict[str, Any]) -> Verdict:
    """Evict, and be answered with this."""
    api = FakeApi()
    api.objects[BUDGETS] = {item["metadata"]["name"]: item for item in budgets}
    api.script["POST", PATH] = [reply]
    return await evict(api, POD)


async def test_exactly_this_pod_is_asked_for() -> None:
    api = FakeApi()
    verdict = await evict(api, POD)
    assert verdict.outcome is Outcome.ACCEPTED
    assert api.sent("POST") == [
        (
            PATH,
            {
                "apiVersion": "policy/v1",
                "kind": "Eviction",
                "metadata": {"name": "web-1", "namespace": "games"},
                "deleteOptions": {"preconditions": {"uid": "uid-web-1"}},
            },
        )
    ]


async def test_a_spent_budget_is_named_with_its_numbers_and_tried_again() -> None:
    needs = "The disruption budget web needs 3 healthy pods and has 3 currently"
    web = budget(
        "web", {"matchLabels": {"app": "web"}}, currentHealthy=3, desiredHealthy=3
    )
    assert await answer(spent(needs), web) == Verdict(
        outcome=Outcome.LATER,
        why=Reason.of(
            "pod_budget", pod="games/web-1", budget="web", healthy=3, desired=3
        ),
        retry_in_s=5.0,
    )


async def test_the_server_may_say_when_to_come_back() -> None:
    words = "The disruption budget new is still being processed by the server."
    new = budget("new", {}, observedGeneration=0)
    verdict = await answer(spent(words, 10.0), new)
    assert verdict.retry_in_s == 10.0
    assert verdict.why is not None
    assert verdict.why.key == "pod_budget_unprocessed"


async def test_without_the_right_to_read_budgets_the_servers_words_do() -> None:
    needs = "The disruption budget web needs 3 healthy pods and has 3 currently"
    api = FakeApi()
    api.script["POST", PATH] = [spent(needs)]
    api.script["GET", BUDGETS] = [status(403, "forbidden")]
    verdict = await evict(api, POD)
    assert verdict.why == Reason.of("pod_budget_said", pod="games/web-1", cause=needs)
    assert verdict.outcome is Outcome.LATER


async def test_a_budget_that_cannot_be_computed_is_final() -> None:
    failed = {
        "type": "DisruptionAllowed",
        "reason": "SyncFailed",
        "message": "no scale",
    }
    verdict = await answer(spent("vm"), budget("vm", {}, conditions=[failed]))
    assert verdict.outcome is Outcome.NEVER
    assert verdict.why == Reason.of(
        "pod_budget_stuck", pod="games/web-1", budget="vm", cause="no scale"
    )


async def test_a_busy_server_blames_no_budget() -> None:
    busy = Reply(status=429, body={"message": "too many requests"}, retry_after_s=1.0)
    verdict = await answer(busy, budget("web", {}))
    assert (verdict.outcome, verdict.retry_in_s) == (Outcome.LATER, 1.0)
    assert verdict.why is not None
    assert verdict.why.key == "cluster_busy"


async def test_a_busy_server_that_names_no_time_is_given_five_seconds() -> None:
    assert (await answer(status(429))).retry_in_s == 5.0


async def test_two_budgets_are_permanent_and_both_are_named() -> None:
    verdict = await answer(status(500, TWO), budget("one", {}), budget("two", {}))
    assert verdict.outcome is Outcome.NEVER
    assert verdict.why == Reason.of(
        "pod_two_budgets", pod="games/web-1", budgets="one, two"
    )


async def test_two_budgets_that_may_not_be_read_are_permanent_all_the_same() -> None:
    verdict = await answer(status(500, TWO))
    assert verdict.outcome is Outcome.NEVER
    assert verdict.why == Reason.of(
        "pod_eviction_refused", pod="games/web-1", cause=TWO
    )


@pytest.mark.parametrize(
    "reply", [status(404, 'pods "web-1" not found'), status(409, WRONG_UID)]
)
async def test_a_pod_that_is_gone_or_another_is_gone(reply: Reply) -> None:
    assert (await answer(reply)).outcome is Outcome.GONE


@pytest.mark.parametrize(
    "reply",
    [
        status(409, "the object has been modified"),
        status(503, "apiserver is shutting down"),
        status(
            504,
            'couldn\'t update PodDisruptionBudget "web" due to conflicts',
            reason="Timeout",
        ),
        status(500, "etcdserver: request timed out", reason="ServerTimeout"),
    ],
)
async def test_what_passes_is_tried_again(reply: Reply) -> None:
    assert (await answer(reply)) == Verdict(outcome=Outcome.LATER)


async def test_a_namespace_that_ends_takes_its_pods_along() -> None:
    causes = {"causes": [{"reason": "NamespaceTerminating"}]}
    verdict = await answer(status(403, "being terminated", details=causes))
    assert verdict.outcome is Outcome.LATER
    assert verdict.why == Reason.of("pod_namespace_ends", pod="games/web-1")


async def test_a_missing_right_is_final() -> None:
    verdict = await answer(status(403, "forbidden"))
    assert verdict.outcome is Outcome.NEVER
    assert verdict.why is not None
    assert verdict.why.key == "cluster_forbidden"


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        (status(500, "admission webhook denied it"), "admission webhook denied it"),
        (status(422), "HTTP 422"),
    ],
)
async def test_anything_else_is_final_with_the_servers_words(
    reply: Reply, cause: str
) -> None:
    verdict = await answer(reply, budget("web", {}, disruptionsAllowed=1))
    assert verdict.outcome is Outcome.NEVER
    assert verdict.why == Reason.of(
        "pod_eviction_refused", pod="games/web-1", cause=cause
    )


async def test_a_login_that_is_refused_is_no_pods_fault() -> None:
    with pytest.raises(HandoffError, match="token_refused"):
        await answer(status(401, "Unauthorized"))
