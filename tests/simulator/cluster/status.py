"""The API server's own answers that are no object: `Status`, with its exact words."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Answer:
    """HTTP status, JSON body and extra headers."""

    code: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


class ApiFailure(Exception):
    """Raised where a request cannot be done; carries the answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(str(answer.body.get("message")))
        self.answer = answer


def success(code: int, **details: Any) -> Answer:
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
    }
    if details:
        body["details"] = details
    if code != 200:
        body["code"] = code
    return Answer(code, body)


def failure(
    code: int,
    message: str,
    reason: str | None = None,
    details: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> ApiFailure:
    body: dict[str, Any] = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": message,
    }
    if reason:
        body["reason"] = reason
    if details:
        body["details"] = details
    body["code"] = code
    return ApiFailure(Answer(code, body, headers or {}))


def not_found(plural: str, name: str) -> ApiFailure:
    message = f'{plural} "{name}" not found'
    return failure(404, message, "NotFound", {"name": name, "kind": plural})


def no_such_path() -> ApiFailure:
    message = "the server could not find the requested resource"
    return failure(404, message, "NotFound", {})


def already_exists(plural: str, name: str) -> ApiFailure:
    message = f'{plural} "{name}" already exists'
    return failure(409, message, "AlreadyExists", {"name": name, "kind": plural})


def conflict(plural: str, name: str) -> ApiFailure:
    message = (
        f'Operation cannot be fulfilled on {plural} "{name}": the object has been '
        "modified; please apply your changes to the latest version and try again"
    )
    return failure(409, message, "Conflict", {"name": name, "kind": plural})


def wrong_uid(kind: str, name: str, asked: str, found: str) -> ApiFailure:
    message = (
        f'Operation cannot be fulfilled on {kind} "{name}": the UID in the precondition '
        f"({asked}) does not match the UID in record ({found}). The object might have "
        "been deleted and then recreated"
    )
    return failure(409, message, "Conflict", {"name": name, "kind": kind})


def unauthorized() -> ApiFailure:
    return failure(401, "Unauthorized", "Unauthorized")


def forbidden(
    *,
    user: str,
    verb: str,
    resource: str,
    group: str,
    namespace: str | None,
    name: str | None,
) -> ApiFailure:
    plural = resource.partition("/")[0]
    subject = f'{plural} "{name}"' if name else plural
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    message = (
        f'{subject} is forbidden: User "{user}" cannot {verb} resource "{resource}" '
        f'in API group "{group}" {where}'
    )
    details = {"name": name, "kind": plural} if name else {"kind": plural}
    return failure(403, message, "Forbidden", details)


def bad_request(message: str) -> ApiFailure:
    return failure(400, message, "BadRequest")


def unsupported_patch(kind: str) -> ApiFailure:
    message = (
        "the body of the request was in an unknown format - accepted media types "
        "include: application/json-patch+json, application/merge-patch+json, "
        f"application/strategic-merge-patch+json (got {kind})"
    )
    return failure(415, message, "UnsupportedMediaType", {})


def patch_rejected(message: str) -> ApiFailure:
    return failure(422, message, "Invalid", {})


def too_old_watch(asked: int, oldest: int) -> ApiFailure:
    message = f"too old resource version: {asked} ({oldest})"
    return failure(410, message, "Expired")


def too_old_list() -> ApiFailure:
    message = "The resourceVersion for the provided list is too old."
    return failure(410, message, "Expired")


def budget_spent(cause: str) -> ApiFailure:
    return _budget(cause, {}, {})


def budget_unprocessed(name: str) -> ApiFailure:
    cause = f"The disruption budget {name} is still being processed by the server."
    return _budget(cause, {"retryAfterSeconds": 10}, {"Retry-After": "10"})


def two_budgets() -> ApiFailure:
    message = (
        "This pod has more than one PodDisruptionBudget, "
        "which the eviction subresource does not support."
    )
    return failure(500, message)


def _budget(
    cause: str, more: Mapping[str, Any], headers: Mapping[str, str]
) -> ApiFailure:
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    details = {"causes": [{"reason": "DisruptionBudget", "message": cause}], **more}
    return failure(429, message, "TooManyRequests", details, headers)
