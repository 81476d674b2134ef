"""The API server: patches, conflicts, rights, watches, and its record."""

import asyncio
from collections.abc import AsyncIterator
import json
from typing import Any

import aiohttp
import pytest

from tests.simulator import Simulator
from tests.simulator.cluster.pod_object import PodPlan

from .conftest import Call

NODE = "/api/v1/nodes/gpu1"
MERGE = "application/merge-patch+json"


async def events(
    http: aiohttp.ClientSession, path: str, **query: str
) -> AsyncIterator[dict[str, Any]]:
    parameters = {"watch": "1", "timeoutSeconds": "1"} | query
    async with http.get(path, params=parameters) as answer:
        assert answer.status == 200
        async for line in answer.content:
            yield json.loads(line)


async def test_a_merge_patch_cordons(call: Call, sim: Simulator) -> None:
    status, body, _ = await call(
        "PATCH", NODE, {"spec": {"unschedulable": True}}, MERGE
    )
    assert status == 200
    assert body["spec"]["unschedulable"] is True
    await sim.clock.sleep(1)
    assert sim.cluster.nodes["gpu1"]["spec"]["taints"][0]["key"] == (
        "node.kubernetes.io/unschedulable"
    )


async def test_an_old_version_is_a_conflict(call: Call) -> None:
    patch = {"metadata": {"resourceVersion": "1"}, "spec": {"unschedulable": True}}
    status, body, _ = await call("PATCH", NODE, patch, MERGE)
    assert status == 409
    assert body["message"] == (
        'Operation cannot be fulfilled on nodes "gpu1": the object has been modified; '
        "please apply your changes to the latest version and try again"
    )
    assert body["details"] == {"name": "gpu1", "kind": "nodes"}


async def test_a_strategic_patch_merges_taints_by_key(call: Call) -> None:
    kind = "application/strategic-merge-patch+json"
    for key in ("one", "two"):
        patch = {"spec": {"taints": [{"key": key, "effect": "NoSchedule"}]}}
        _, body, _ = await call("PATCH", NODE, patch, kind)
    assert [taint["key"] for taint in body["spec"]["taints"]] == ["one", "two"]


async def test_a_json_patch_tests_before_it_writes(call: Call) -> None:
    kind = "application/json-patch+json"
    steps = [
        {"op": "test", "path": "/metadata/resourceVersion", "value": "1"},
        {"op": "add", "path": "/spec/unschedulable", "value": True},
    ]
    assert (await call("PATCH", NODE, steps, kind))[0] == 422
    steps = [
        {"op": "add", "path": "/metadata/annotations", "value": {}},
        {"op": "add", "path": "/metadata/annotations/a~1b", "value": "c"},
    ]
    _, body, _ = await call("PATCH", NODE, steps, kind)
    assert body["metadata"]["annotations"] == {"a/b": "c"}


async def test_a_patch_of_an_unknown_kind_is_refused(call: Call) -> None:
    assert (await call("PATCH", NODE, {}, "application/json"))[0] == 415


async def test_a_list_has_no_kind_in_its_items(call: Call) -> None:
    _, body, _ = await call("GET", "/api/v1/nodes?limit=1")
    assert body["kind"] == "NodeList"
    assert "kind" not in body["items"][0]
    assert body["metadata"]["remainingItemCount"] == 1
    token = body["metadata"]["continue"]
    _, rest, _ = await call("GET", f"/api/v1/nodes?limit=1&continue={token}")
    assert rest["items"][0]["metadata"]["name"] == "gpu1"


async def test_a_watch_shows_what_changes_and_ends_with_a_bookmark(
    call: Call, http: aiohttp.ClientSession
) -> None:
    _, body, _ = await call("GET", NODE)
    version = body["metadata"]["resourceVersion"]
    await call("PATCH", NODE, {"spec": {"unschedulable": True}}, MERGE)
    seen = [
        event
        async for event in events(
            http,
            "/api/v1/nodes",
            resourceVersion=version,
            fieldSelector="metadata.name=gpu1",
            allowWatchBookmarks="true",
        )
    ]
    assert seen[0]["type"] == "MODIFIED"
    assert seen[0]["object"]["spec"]["unschedulable"] is True
    assert seen[-1]["type"] == "BOOKMARK"


async def test_a_pod_that_comes_into_view_is_added(
    sim: Simulator, http: aiohttp.ClientSession
) -> None:
    sim.cluster.create_pod("bare", plan=PodPlan(prefers="gpu1"))
    kinds = [
        event["type"]
        async for event in events(
            http,
            "/api/v1/pods",
            resourceVersion=str(sim.cluster.store.version - 1),
            fieldSelector="spec.nodeName=gpu1",
        )
    ]
    assert kinds == ["ADDED", "MODIFIED"]


async def test_initial_events_end_with_a_marked_bookmark(
    http: aiohttp.ClientSession,
) -> None:
    seen = [
        event
        async for event in events(
            http,
            "/api/v1/nodes",
            sendInitialEvents="true",
            resourceVersionMatch="NotOlderThan",
            allowWatchBookmarks="true",
        )
    ]
    assert [event["type"] for event in seen[:3]] == ["ADDED", "ADDED", "BOOKMARK"]
    assert seen[2]["object"]["metadata"]["annotations"] == {
        "k8s.io/initial-events-end": "true"
    }


async def test_a_version_that_is_forgotten_is_an_error_inside_200(
    sim: Simulator, http: aiohttp.ClientSession
) -> None:
    version = sim.cluster.store.version
    await sim.cluster.restart()
    seen = [
        event
        async for event in events(http, "/api/v1/nodes", resourceVersion=str(version))
    ]
    assert [(event["type"], event["object"]["code"]) for event in seen] == [
        ("ERROR", 410)
    ]
    assert seen[0]["object"]["reason"] == "Expired"


async def test_410_may_come_as_a_status(sim: Simulator, call: Call) -> None:
    sim.cluster.faults.watches_are_gone = True
    sim.cluster.faults.lists_are_gone = True
    assert (await call("GET", "/api/v1/nodes?watch=1&resourceVersion=1"))[0] == 410
    assert (await call("GET", "/api/v1/nodes"))[0] == 410


async def test_a_server_that_is_down_refuses_and_comes_back(
    sim: Simulator, call: Call
) -> None:
    await sim.cluster.go_down()
    with pytest.raises(aiohttp.ClientConnectorError):
        await call("GET", NODE)
    await sim.cluster.come_up()
    assert (await call("GET", NODE))[0] == 200


async def test_a_server_that_hangs_answers_when_it_is_over(
    sim: Simulator, call: Call
) -> None:
    sim.cluster.faults.hang = True
    asked = asyncio.create_task(call("GET", NODE))
    await asyncio.sleep(0.1)
    assert not asked.done()
    sim.cluster.faults.hang = False
    assert (await asked)[0] == 200


async def test_what_is_forbidden_says_who_may_not_do_what(
    sim: Simulator, call: Call
) -> None:
    sim.cluster.access.forbidden.add(("patch", "nodes"))
    status, body, _ = await call("PATCH", NODE, {}, MERGE)
    assert status == 403
    assert body["message"] == (
        'nodes "gpu1" is forbidden: User "admin" cannot patch resource "nodes" '
        'in API group "" at the cluster scope'
    )


async def test_an_access_review_tells_the_same(sim: Simulator, call: Call) -> None:
    sim.cluster.access.forbidden.add(("create", "pods/eviction"))
    asked = {"verb": "create", "resource": "pods", "subresource": "eviction"}
    reviews = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
    status, body, _ = await call(
        "POST", reviews, {"spec": {"resourceAttributes": asked}}
    )
    assert (status, body["status"]) == (201, {"allowed": False})


async def test_an_unknown_token_is_401(
    sim: Simulator, http: aiohttp.ClientSession
) -> None:
    headers = {"Authorization": "Bearer stale"}
    async with http.get(NODE, headers=headers) as answer:
        assert answer.status == 401
        assert (await answer.json())["message"] == "Unauthorized"


async def test_nobody_is_anonymous(sim: Simulator, http: aiohttp.ClientSession) -> None:
    async with http.get(NODE, headers={"Authorization": ""}) as answer:
        assert answer.status == 403
        assert 'User "system:anonymous"' in (await answer.json())["message"]


async def test_throttling_names_no_budget(
    sim: Simulator, http: aiohttp.ClientSession
) -> None:
    sim.cluster.faults.throttle = 1
    async with http.get(NODE) as answer:
        assert (answer.status, answer.headers["Retry-After"]) == (429, "1")
        assert answer.content_type == "text/plain"


async def test_every_request_is_on_record(sim: Simulator, call: Call) -> None:
    await call("PATCH", NODE, {"spec": {"unschedulable": True}}, MERGE)
    entry = sim.cluster.audit[-1]
    at = entry.pop("at")
    assert at.endswith("Z")
    assert entry == {
        "user": "admin",
        "verb": "patch",
        "resource": "nodes",
        "subresource": None,
        "ns": None,
        "name": "gpu1",
        "body": {"spec": {"unschedulable": True}},
        "code": 200,
    }


async def test_health_and_version_are_told(
    http: aiohttp.ClientSession, call: Call
) -> None:
    async with http.get("/readyz") as answer:
        assert await answer.text() == "ok"
    assert (await call("GET", "/version"))[1]["gitVersion"] == "v1.37.2"
