"""The volumes of drained pods are waited for, where we may look."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.volumes import Attachments

from .fake_api import FakeApi, status
from .objects import NODE, pod, until

CLAIM = paths.claim("games", "media")
POD = pod(
    "web", volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "media"}}]
)


def attachment(name: str, volume: str, node: str = NODE) -> dict[str, object]:
    return {
        "metadata": {"name": name},
        "spec": {"nodeName": node, "source": {"persistentVolumeName": volume}},
    }


class Stage:
    """A cluster in which the pod's volume is attached to the node."""

    def __init__(self) -> None:
        self.api = FakeApi()
        claims = CLAIM.rpartition("/")[0]
        self.api.objects[claims] = {
            "/media": {"metadata": {"name": "media"}, "spec": {"volumeName": "pv-1"}}
        }
        self.mine = self.api.put(paths.ATTACHMENTS, attachment("va-1", "pv-1"))
        self.api.put(paths.ATTACHMENTS, attachment("va-2", "pv-2"))
        self.changes = 0
        self.volumes = Attachments(self.api, NODE, self._changed)

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.fixture
async def running(stage: Stage) -> AsyncIterator[Stage]:
    task = asyncio.create_task(stage.volumes.run())
    yield stage
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_nothing_is_asked_before_there_is_something_to_expect(
    stage: Stage,
) -> None:
    await stage.volumes.ask()
    await stage.volumes.expect([pod("plain")])
    assert stage.api.requests == []
    assert stage.volumes.names == ()


async def test_an_attached_volume_is_named_by_its_claim(stage: Stage) -> None:
    await stage.volumes.expect([POD])
    assert stage.volumes.names == ("games/media",)


async def test_a_volume_attached_elsewhere_does_not_count(stage: Stage) -> None:
    stage.api.put(paths.ATTACHMENTS, attachment("va-1", "pv-1", node="cpu1"))
    await stage.volumes.expect([POD])
    assert stage.volumes.names == ()


async def test_a_claim_that_is_not_bound_has_no_volume(stage: Stage) -> None:
    claims = CLAIM.rpartition("/")[0]
    stage.api.objects[claims]["/media"]["spec"] = {}
    await stage.volumes.expect([POD])
    assert stage.volumes.names == ()


@pytest.mark.parametrize("path", [CLAIM, paths.ATTACHMENTS])
async def test_where_we_may_not_look_nothing_is_waited_for(
    stage: Stage, path: str
) -> None:
    stage.api.script["GET", path] = [status(403, "forbidden")]
    await stage.volumes.expect([POD])
    assert stage.volumes.names == ()


async def test_a_detached_volume_is_heard_of(running: Stage) -> None:
    await running.volumes.expect([POD])
    await until(lambda: running.api.watching(paths.ATTACHMENTS))
    before = running.changes
    running.api.delete(paths.ATTACHMENTS, running.mine)
    await until(lambda: running.volumes.names == ())
    assert running.changes == before + 1


async def test_the_watch_ends_with_the_drain_and_begins_with_the_next(
    running: Stage,
) -> None:
    for _ in range(2):
        await running.volumes.expect([POD])
        await until(lambda: running.api.watching(paths.ATTACHMENTS) == 1)
        running.volumes.forget()
        assert running.volumes.names == ()
        await until(lambda: running.api.watching(paths.ATTACHMENTS) == 0)


async def test_a_volume_that_is_known_is_not_asked_for_again(stage: Stage) -> None:
    await stage.volumes.expect([POD])
    lists = len(stage.api.sent("GET"))
    await stage.volumes.expect([POD])
    assert len(stage.api.sent("GET")) == lists + 1
