"""What each verb does with an object or a list of them."""

from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
import json
from typing import Any

from . import deletion, eviction, patches, status
from .access import Access, User
from .resources import Place
from .selectors import field_test, label_test
from .status import Answer
from .store import Object, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """One request, read."""

    place: Place
    query: Mapping[str, str]
    content_type: str
    body: Any

    @property
    def plural(self) -> str:
        return self.place.resource.plural

    @property
    def name(self) -> str:
        return self.place.name or ""

    @property
    def dry_run(self) -> bool:
        return "dryRun" in self.query


def concerns(place: Place, query: Mapping[str, str]) -> Callable[[Object], bool]:
    """The selectors of a list or a watch as one question."""
    by_field = field_test(query.get("fieldSelector", ""))
    by_label = label_test(query.get("labelSelector", ""))

    def test(item: Object) -> bool:
        meta = item["metadata"]
        return (
            place.namespace in (None, meta.get("namespace"))
            and place.name in (None, meta["name"])
            and by_field(item)
            and by_label(meta.get("labels") or {})
        )

    return test


def show(store: Store, ask: Ask) -> Answer:
    return Answer(200, store.get(ask.plural, ask.name, ask.place.namespace))


def list_all(store: Store, ask: Ask) -> Answer:
    test = concerns(ask.place, ask.query)
    items = [it for it in store.items(ask.plural) if test(it)]
    meta: Object = {"resourceVersion": str(store.version)}
    start = _start(ask.query.get("continue"))
    limit = int(ask.query.get("limit") or 0) or len(items)
    page, rest = items[start : start + limit], items[start + limit :]
    if rest:
        meta["continue"] = _token(start + limit)
        meta["remainingItemCount"] = len(rest)
    resource = ask.place.resource
    body = {
        "kind": f"{resource.kind}List",
        "apiVersion": resource.api_version,
        "metadata": meta,
        "items": [_without_kind(it) for it in page],
    }
    return Answer(200, body)


def create(store: Store, ask: Ask) -> Answer:
    item = dict(ask.body)
    resource = ask.place.resource
    item["kind"], item["apiVersion"] = resource.kind, resource.api_version
    if resource.namespaced:
        item.setdefault("metadata", {})["namespace"] = ask.place.namespace
    item.setdefault("spec", {})
    if resource.plural == "pods":
        item.setdefault("status", {"phase": "Pending"})
    return Answer(201, item if ask.dry_run else store.create(resource, item))


def update(store: Store, ask: Ask) -> Answer:
    return Answer(200, store.update(ask.plural, dict(ask.body)))


def patch(store: Store, ask: Ask) -> Answer:
    before = store.get(ask.plural, ask.name, ask.place.namespace)
    after = patches.apply(ask.content_type, before, ask.body)
    asked, found = (
        str(it.get("metadata", {}).get("resourceVersion")) for it in (after, before)
    )
    if asked != found:
        raise status.conflict(ask.plural, ask.name)
    if ask.dry_run:
        return Answer(200, after)
    return Answer(200, store.update(ask.plural, after))


def delete(store: Store, ask: Ask) -> Answer:
    item = store.get(ask.plural, ask.name, ask.place.namespace)
    options = ask.body or {}
    deletion.check_uid(item, options, ask.place.resource.kind)
    if ask.dry_run:
        return Answer(200, item)
    if ask.plural == "pods":
        grace = ask.query.get("gracePeriodSeconds", options.get("gracePeriodSeconds"))
        grace_s = None if grace is None else int(grace)
        deletion.ask_to_go(store, item, grace_s, evicted=False)
        return Answer(200, store.find("pods", ask.name, ask.place.namespace) or item)
    store.delete(ask.plural, ask.name, ask.place.namespace)
    details = {"name": ask.name, "kind": ask.plural, "uid": item["metadata"]["uid"]}
    return status.success(200, **details)


def evict(store: Store, ask: Ask) -> Answer:
    return eviction.evict(store, ask.place, ask.body or {}, dry_run=ask.dry_run)


def review(access: Access, user: User, body: Object) -> Answer:
    """Answer a SelfSubjectAccessReview."""
    asked = body["spec"].get("resourceAttributes") or {}
    resource = asked.get("resource", "")
    if subresource := asked.get("subresource"):
        resource = f"{resource}/{subresource}"
    allowed = access.allows(user, asked.get("verb", ""), resource)
    answer = {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": body["spec"],
        "status": {"allowed": allowed},
    }
    return Answer(201, answer)


def _without_kind(item: Object) -> Object:
    return {key: it for key, it in item.items() if key not in ("kind", "apiVersion")}


def _token(start: int) -> str:
    return b64encode(
        json.dumps({"v": "meta.k8s.io/v1", "start": start}).encode()
    ).decode()


def _start(token: str | None) -> int:
    return int(json.loads(b64decode(token))["start"]) if token else 0


VERBS: Mapping[tuple[str, str | None], Callable[[Store, Ask], Answer]] = {
    ("get", None): show,
    ("list", None): list_all,
    ("create", None): create,
    ("update", None): update,
    ("patch", None): patch,
    ("delete", None): delete,
    ("get", "status"): show,
    ("update", "status"): update,
    ("patch", "status"): patch,
    ("create", "eviction"): evict,
}
