"""The eviction subresource, word for word as a real API server answered."""

from typing import Any

import pytest

from tests.simulator import Simulator
from tests.simulator.cluster.pod_object import PodPlan

from .conftest import Call

SPENT = "Cannot evict pod as it would violate the pod's disruption budget."


def first_pod(sim: Simulator, app: str) -> str:
    return next(
        item["metadata"]["name"]
        for item in sim.cluster.pods.values()
        if item["metadata"]["labels"].get("app") == app
        and "deletionTimestamp" not in item["metadata"]
    )


def eviction(name: str, **options: Any) -> dict[str, Any]:
    body: dict[str, Any] = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": name, "namespace": "default"},
    }
    return body | ({"deleteOptions": options} if options else {})


def path(name: str) -> str:
    return f"/api/v1/namespaces/default/pods/{name}/eviction"


@pytest.fixture
async def web(sim: Simulator) -> str:
    """A pod of a Deployment that runs on the GPU node."""
    sim.cluster.create_deployment("web", replicas=3, plan=PodPlan(prefers="gpu1"))
    await sim.cluster.settled()
    return first_pod(sim, "web")


async def test_an_eviction_is_a_graceful_deletion(
    sim: Simulator, call: Call, web: str
) -> None:
    status, body, _ = await call("POST", path(web), eviction(web))
    assert status == 201
    assert body == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Success",
        "code": 201,
    }
    meta = sim.cluster.pods[f"default/{web}"]["metadata"]
    assert meta["deletionGracePeriodSeconds"] == 3
    await sim.clock.sleep(5)
    assert f"default/{web}" not in sim.cluster.pods


async def test_the_replica_set_makes_another_pod_at_once(
    sim: Simulator, call: Call, web: str
) -> None:
    sim.cluster.cordon_by_hand("gpu1")
    await call("POST", path(web), eviction(web))
    await sim.clock.sleep(5)
    nodes = [item["spec"]["nodeName"] for item in sim.cluster.pods.values()]
    assert sorted(nodes) == ["cpu1", "gpu1", "gpu1"]


async def test_a_second_eviction_is_201_again(call: Call, web: str) -> None:
    await call("POST", path(web), eviction(web))
    assert (await call("POST", path(web), eviction(web)))[0] == 201


async def test_a_pod_that_is_gone_is_404(call: Call) -> None:
    status, body, _ = await call("POST", path("nope"), eviction("nope"))
    assert (status, body["message"]) == (404, 'pods "nope" not found')


async def test_a_spent_budget_is_429_without_a_time(
    sim: Simulator, call: Call, web: str
) -> None:
    sim.cluster.create_pdb("web", match_labels={"app": "web"}, min_available=3)
    await sim.cluster.settled()
    status, body, headers = await call("POST", path(web), eviction(web))
    assert status == 429
    assert "Retry-After" not in headers
    assert body["message"] == SPENT
    assert body["details"] == {
        "causes": [
            {
                "reason": "DisruptionBudget",
                "message": "The disruption budget web needs 3 healthy pods "
                "and has 3 currently",
            }
        ]
    }


async def test_a_budget_is_spent_by_an_eviction_and_comes_back(
    sim: Simulator, call: Call, web: str
) -> None:
    sim.cluster.create_pdb("web", match_labels={"app": "web"}, max_unavailable=1)
    await sim.cluster.settled()
    assert (await call("POST", path(web), eviction(web)))[0] == 201
    other = first_pod(sim, "web")
    assert (await call("POST", path(other), eviction(other)))[0] == 429
    await sim.clock.sleep(6)
    assert (await call("POST", path(other), eviction(other)))[0] == 201


async def test_a_new_budget_asks_to_come_back_in_ten_seconds(
    sim: Simulator, call: Call, web: str
) -> None:
    sim.cluster.budgets.paused = True
    sim.cluster.create_pdb("new", match_labels={"app": "web"}, min_available=1)
    status, body, headers = await call("POST", path(web), eviction(web))
    assert (status, headers["Retry-After"]) == (429, "10")
    assert body["details"]["retryAfterSeconds"] == 10
    assert body["details"]["causes"][0]["message"] == (
        "The disruption budget new is still being processed by the server."
    )


async def test_a_budget_over_a_pod_without_controller_never_allows_it(
    sim: Simulator, call: Call
) -> None:
    sim.cluster.create_pod("bare", plan=PodPlan(labels={"app": "bare"}, node="gpu1"))
    sim.cluster.create_pdb("bare", match_labels={"app": "bare"}, max_unavailable=1)
    await sim.cluster.settled()
    await sim.clock.sleep(1)
    _, body, _ = await call("POST", path("bare"), eviction("bare"))
    assert body["details"]["causes"][0]["message"] == (
        "The disruption budget bare does not allow evicting pods currently"
    )


async def test_two_budgets_are_500_without_a_reason(
    sim: Simulator, call: Call, web: str
) -> None:
    for name in ("one", "two"):
        sim.cluster.create_pdb(name, match_labels={"app": "web"}, min_available=0)
    status, body, _ = await call("POST", path(web), eviction(web))
    assert status == 500
    assert "reason" not in body
    assert "more than one PodDisruptionBudget" in body["message"]


async def test_another_uid_is_a_conflict(call: Call, web: str) -> None:
    asked = "00000000-0000-4000-8000-000000000000"
    body = eviction(web, preconditions={"uid": asked})
    status, answer, _ = await call("POST", path(web), body)
    assert (status, answer["reason"]) == (409, "Conflict")
    assert f"the UID in the precondition ({asked})" in answer["message"]


async def test_a_dry_run_deletes_nothing(sim: Simulator, call: Call, web: str) -> None:
    status, _, _ = await call("POST", path(web), eviction(web, dryRun=["All"]))
    assert status == 201
    assert "deletionTimestamp" not in sim.cluster.pods[f"default/{web}"]["metadata"]


async def test_an_unready_pod_is_protected_unless_its_budget_says_otherwise(
    sim: Simulator, call: Call
) -> None:
    plan = PodPlan(annotations={"sim/never-ready": "1"}, prefers="gpu1")
    sim.cluster.create_deployment("sick", plan=plan)
    sim.cluster.create_pdb("sick", match_labels={"app": "sick"}, min_available=1)
    await sim.cluster.settled()
    await sim.clock.sleep(1)
    name = first_pod(sim, "sick")
    _, body, _ = await call("POST", path(name), eviction(name))
    assert body["details"]["causes"][0]["message"] == (
        "The disruption budget sick needs 1 healthy pods and has 0 currently"
    )
    sim.cluster.delete_pdb("sick")
    sim.cluster.create_pdb(
        "sick",
        match_labels={"app": "sick"},
        min_available=1,
        always_allow_unhealthy=True,
    )
    assert (await call("POST", path(name), eviction(name)))[0] == 201


async def test_a_finalizer_holds_a_pod(sim: Simulator, call: Call) -> None:
    plan = PodPlan(finalizers=("example.invalid/hold",), node="gpu1", grace_s=1)
    sim.cluster.create_pod("held", plan=plan)
    await sim.cluster.settled()
    await call("POST", path("held"), eviction("held"))
    await sim.clock.sleep(5)
    assert "default/held" in sim.cluster.pods
