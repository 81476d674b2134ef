"""A GPU node as the heart sees it."""

import asyncio
from collections.abc import AsyncIterator
import logging
from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.backoff import Backoff
from custom_components.gpu_handoff.cluster.cluster_node import STALE_S, ClusterNode
from custom_components.gpu_handoff.handoff.ports import ClusterPort
from custom_components.gpu_handoff.handoff.reason import (
    HandoffError,
    Reason,
    Unreachable,
)
from custom_components.gpu_handoff.handoff.world import Fate, Mark, NodeView

from .fake_api import FakeApi, status
from .objects import NODE, budget, lease, node, pod, until

MARK = Mark(operation="op-1", vm_id="vm-1", boot_id="boot-1")
DOWN = Unreachable("cluster_unreachable", address="a", cause="Connection refused")
LOG = "custom_components.gpu_handoff.cluster.cluster_node"


class Stage:
    """A small cluster and our view of its node."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.changes = 0
        self.api = FakeApi()
        self.api.put(paths.NODES, node())
        self.api.put(paths.LEASES, lease("10:00"))
        self.web = self.api.put(paths.PODS, pod("web"))
        self.node = ClusterNode(
            self.api,
            NODE,
            expected_gpus=2,
            on_change=self._changed,
            clock=lambda: self.now,
        )
        for part in self.node._parts:
            part.backoff = Backoff(first_s=0.001, longest_s=0.005)

    def _changed(self) -> None:
        self.changes += 1

    @property
    def view(self) -> NodeView:
        assert self.node.view is not None
        return self.node.view

    def breaks(self, error: Exception | None) -> None:
        """The API server goes away (or comes back)."""
        self.api.down = error
        if error is not None:
            for path in (paths.NODES, paths.LEASES, paths.PODS):
                self.api.say(path, error)


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def running(stage: Stage) -> AsyncIterator[Stage]:
    task = asyncio.create_task(stage.node.run())
    await until(lambda: all(part.following for part in stage.node._parts))
    yield stage
    await stage.node.close()
    await task


def port_of(cluster: ClusterNode) -> ClusterPort:
    """What the heart sees; checked by the type checker."""
    return cluster


async def test_a_node_is_measured_by_asking_where_nothing_is_watched(
    stage: Stage,
) -> None:
    view = await port_of(stage.node).measure()
    assert view == NodeView(
        name=NODE,
        ready=True,
        schedulable=True,
        boot_id="boot-1",
        gpus=2,
        pods=view.pods,
    )
    assert [found.full_name for found in view.pods] == ["games/web"]
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    assert (await stage.node.measure()).boot_id == "boot-2"


async def test_a_node_is_measured_from_the_watches_while_they_live(
    running: Stage,
) -> None:
    before = len(running.api.requests)
    await running.node.measure()
    assert len(running.api.requests) == before


async def test_watches_that_are_silent_for_long_are_not_believed(
    running: Stage,
) -> None:
    before = len(running.api.requests)
    running.now += STALE_S
    await running.node.measure()
    assert len(running.api.requests) == before + 3


async def test_a_change_made_by_hand_is_seen_at_once(running: Stage) -> None:
    running.api.put(paths.NODES, node(unschedulable=True, ready="False", gpus=None))
    await until(lambda: not running.view.schedulable)
    assert not running.view.ready
    assert running.view.mark is None
    assert running.view.gpus is None
    assert running.view.gpus_why is not None


async def test_what_is_no_news_is_not_told(running: Stage) -> None:
    before = running.changes
    running.api.put(paths.NODES, node())
    running.api.put(paths.PODS, pod("web"))
    await asyncio.sleep(0.02)
    assert running.changes == before


async def test_a_lease_is_fresh_once_it_was_seen_to_change(running: Stage) -> None:
    assert running.view.lease_changed_at is None
    running.now += 7
    running.api.put(paths.LEASES, lease("10:10"))
    await until(lambda: running.view.lease_changed_at == 1007.0)


async def test_a_lease_that_changed_during_a_silence_is_not_fresh(
    running: Stage,
) -> None:
    running.breaks(DOWN)
    await until(lambda: running.node.problem)
    running.api.put(paths.LEASES, lease("10:10"))
    running.breaks(None)
    await until(lambda: running.node.view)
    assert running.view.lease_changed_at is None


async def test_a_cordon_is_seen_as_soon_as_it_is_set(running: Stage) -> None:
    await running.node.cordon(MARK)
    assert (running.view.schedulable, running.view.mark) == (False, MARK)
    await running.node.uncordon()
    assert (running.view.schedulable, running.view.mark) == (True, None)


async def test_a_cordon_set_by_a_person_stays(running: Stage) -> None:
    running.api.put(paths.NODES, node(unschedulable=True))
    await running.node.cordon(MARK)
    await running.node.uncordon()
    assert (running.view.schedulable, running.view.mark) == (False, None)


async def test_our_cordon_is_undone_after_a_restart_too(stage: Stage) -> None:
    await stage.node.cordon(MARK)
    later = ClusterNode(stage.api, NODE, expected_gpus=2, on_change=lambda: None)
    assert (await later.measure()).mark == MARK
    await later.uncordon()
    assert (await later.measure()).schedulable


async def test_an_evicted_pod_leaves_and_is_waited_for(running: Stage) -> None:
    await running.node.evict()
    (seen,) = running.view.pods
    assert seen.fate is Fate.LEAVING
    running.api.delete(paths.PODS, running.web)
    await until(lambda: running.view.pods == ())


async def test_a_spent_budget_shows_on_the_pod(running: Stage) -> None:
    cause = {"causes": [{"reason": "DisruptionBudget", "message": "spent"}]}
    path = paths.eviction("games", "web")
    running.api.script["POST", path] = [status(429, "no", details=cause)]
    running.api.objects[paths.budgets("games")] = {"web": budget("web", {})}
    await running.node.evict()
    (seen,) = running.view.pods
    assert seen.fate is Fate.EVICT
    assert seen.retry_at == running.now + 5.0
    assert seen.why == Reason.of(
        "pod_budget", pod="games/web", budget="web", healthy=1, desired=1
    )


async def test_a_new_operation_forgets_what_the_last_one_was_answered(
    running: Stage,
) -> None:
    await running.node.cordon(MARK)
    path = paths.eviction("games", "web")
    running.api.script["POST", path] = [status(422, "no")]
    await running.node.evict()
    assert running.view.pods[0].final
    await running.node.cordon(MARK)
    assert running.view.pods[0].final
    await running.node.cordon(Mark(operation="op-2", vm_id="v", boot_id="b"))
    assert not running.view.pods[0].final


async def test_volumes_of_evicted_pods_are_in_the_view(running: Stage) -> None:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "media"}}
    running.api.put(paths.PODS, pod("web", volumes=[volume]))
    claims = paths.claim("games", "media").rpartition("/")[0]
    running.api.objects[claims] = {
        "/media": {"metadata": {"name": "media"}, "spec": {"volumeName": "pv-1"}}
    }
    attached: dict[str, Any] = {
        "metadata": {"name": "va"},
        "spec": {"nodeName": NODE, "source": {"persistentVolumeName": "pv-1"}},
    }
    running.api.put(paths.ATTACHMENTS, attached)
    await until(lambda: running.node._pods.items["games/web"]["spec"]["volumes"])
    await running.node.evict()
    assert running.view.volumes == ("games/media",)
    await until(lambda: running.api.watching(paths.ATTACHMENTS))
    running.api.delete(paths.ATTACHMENTS, attached)
    await until(lambda: running.view.volumes == ())


async def test_an_outage_hides_the_node_and_says_why(running: Stage) -> None:
    running.breaks(DOWN)
    await until(lambda: running.node.problem == DOWN.reason)
    assert running.node.view is None
    with pytest.raises(Unreachable):
        await running.node.measure()
    running.breaks(None)
    await until(lambda: running.node.view)
    assert running.node.problem is None


async def test_an_outage_is_logged_once_when_it_begins_and_once_when_it_ends(
    running: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG, logger=LOG):
        running.breaks(DOWN)
        await until(lambda: running.node.problem)
        await asyncio.sleep(0.03)
        running.breaks(None)
        await until(lambda: running.node.view)
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    assert "cluster_unreachable" in caplog.text


async def test_an_answer_by_hand_ends_the_pauses_of_the_watches(stage: Stage) -> None:
    for part in stage.node._parts:
        part.backoff = Backoff(first_s=60.0, longest_s=60.0)
    stage.api.down = DOWN
    task = asyncio.create_task(stage.node.run())
    await until(lambda: all(part.trouble for part in stage.node._parts))
    stage.api.down = None
    await stage.node.measure()
    await until(lambda: all(part.following for part in stage.node._parts))
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_node_that_does_not_exist_is_named(stage: Stage) -> None:
    stranger = ClusterNode(stage.api, "nope", expected_gpus=2, on_change=lambda: None)
    with pytest.raises(Unreachable) as caught:
        await stranger.measure()
    assert caught.value.reason == Reason.of("node_not_found", node="nope")
    assert stranger.problem == caught.value.reason


async def test_a_token_that_is_refused_is_said(stage: Stage) -> None:
    stage.api.script["GET", paths.NODES] = [status(401, "Unauthorized")]
    with pytest.raises(HandoffError, match="token_refused"):
        await stage.node.measure()
    assert stage.node.problem == Reason.of("token_refused")


async def test_cancelling_ends_every_watch(stage: Stage) -> None:
    task = asyncio.create_task(stage.node.run())
    await until(lambda: all(part.following for part in stage.node._parts))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert stage.api.watching(paths.NODES) == 0


async def test_closing_what_never_ran_is_nothing(stage: Stage) -> None:
    await stage.node.close()


async def test_a_fault_of_our_own_is_not_hidden(stage: Stage) -> None:
    stage.api.down = RuntimeError("a bug")
    with pytest.raises(ExceptionGroup):
        await stage.node.run()
