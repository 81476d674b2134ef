"""What an API server says of itself is read without trusting its shape."""

from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.reply import Reply, retry_after_s


@pytest.mark.parametrize(
    ("header", "body", "seconds"),
    [
        (None, {}, None),
        ("10", {}, 10.0),
        ("0.5", {}, 0.5),
        ("-3", {}, 0.0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", {}, None),
        (None, {"details": {"retryAfterSeconds": 10}}, 10.0),
        ("soon", {"details": {"retryAfterSeconds": 10}}, 10.0),
        (None, {"details": []}, None),
        (None, {"details": None}, None),
        ("nan", {}, None),
        ("inf", {}, None),
    ],
)
def test_when_to_come_back(
    header: str | None, body: dict[str, Any], seconds: float | None
) -> None:
    assert retry_after_s(header, body) == seconds


@pytest.mark.parametrize(
    "body", [{}, {"details": None}, {"details": []}, {"details": {"causes": ["x"]}}]
)
def test_a_failure_without_causes_has_none(body: dict[str, Any]) -> None:
    reply = Reply(status=429, body=body)
    assert reply.causes == ()
    assert not reply.has_cause("DisruptionBudget")


@pytest.mark.parametrize(
    ("method", "path", "verb", "resource"),
    [
        ("GET", paths.NODES, "list", "nodes"),
        ("GET", paths.node("gpu1"), "get", "nodes"),
        ("PATCH", paths.node("gpu1"), "patch", "nodes"),
        ("WATCH", paths.PODS, "watch", "pods"),
        ("POST", paths.eviction("a", "b"), "create", "pods/eviction"),
        ("GET", paths.budgets("a"), "list", "poddisruptionbudgets"),
        ("GET", paths.claim("a", "b"), "get", "persistentvolumeclaims"),
        ("GET", paths.LEASES, "list", "leases"),
        ("POST", paths.ACCESS_REVIEWS, "create", "selfsubjectaccessreviews"),
    ],
)
def test_requests_are_named_as_a_role_names_them(
    method: str, path: str, verb: str, resource: str
) -> None:
    assert paths.verb_of(method, path) == verb
    assert paths.resource_of(path) == resource
