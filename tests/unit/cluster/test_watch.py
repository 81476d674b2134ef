"""A watched list is what the server has, through ends, breaks and lost history."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.backoff import Backoff
from custom_components.gpu_handoff.cluster.watch import Watched
from custom_components.gpu_handoff.handoff.reason import HandoffError, Unreachable

from .fake_api import FakeApi, status
from .objects import node, until

DOWN = Unreachable("cluster_unreachable", address="a", cause="Connection refused")


class Stage:
    """A watched list of nodes with one node in it."""

    def __init__(self) -> None:
        self.api = FakeApi()
        self.node = self.api.put(paths.NODES, node())
        self.changes = 0
        self.watched = Watched(
            self.api, paths.NODES, "metadata.name=gpu1", self._changed
        )
        self.watched.backoff = Backoff(first_s=0.001, longest_s=0.005)

    def _changed(self) -> None:
        self.changes += 1

    @property
    def lists(self) -> int:
        return len(self.api.sent("GET"))

    @property
    def watches(self) -> list[Any]:
        return [query for _, query in self.api.sent("WATCH")]

    @property
    def boot_ids(self) -> list[str]:
        items = self.watched.items.values()
        return [item["status"]["nodeInfo"]["bootID"] for item in items]

    async def open(self) -> None:
        await until(lambda: self.api.watching(paths.NODES))


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    stage = Stage()
    task = asyncio.create_task(stage.watched.run())
    await stage.open()
    yield stage
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert not stage.watched.following


async def test_the_watch_begins_where_the_list_ended(stage: Stage) -> None:
    (query,) = stage.watches
    assert query["resourceVersion"] == str(stage.api.version)
    assert query["allowWatchBookmarks"] == "true"
    assert query["fieldSelector"] == "metadata.name=gpu1"
    assert 240 <= int(query["timeoutSeconds"]) <= 300
    assert stage.watched.following


async def test_changes_are_taken_over(stage: Stage) -> None:
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    await until(lambda: stage.boot_ids == ["boot-2"])
    stage.api.delete(paths.NODES, stage.api.objects[paths.NODES]["/gpu1"])
    await until(lambda: stage.boot_ids == [])


async def test_a_clean_end_goes_on_from_the_last_bookmark(stage: Stage) -> None:
    bookmark = {"kind": "Node", "metadata": {"resourceVersion": "777"}}
    stage.api.say(paths.NODES, {"type": "BOOKMARK", "object": bookmark})
    stage.api.say(paths.NODES, None)
    await until(lambda: len(stage.watches) == 2)
    assert stage.watches[1]["resourceVersion"] == "777"
    assert stage.lists == 1
    assert stage.watched.trouble is None


async def test_an_end_without_a_word_is_not_asked_again_in_a_hurry(
    stage: Stage,
) -> None:
    stage.watched.backoff = Backoff(first_s=60.0, longest_s=60.0)
    stage.api.say(paths.NODES, None)
    await until(lambda: not stage.api.watching(paths.NODES))
    await asyncio.sleep(0.02)
    assert len(stage.watches) == 1


async def test_a_410_inside_a_watch_lists_anew(stage: Stage) -> None:
    gone = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old"}
    stage.api.say(paths.NODES, {"type": "ERROR", "object": gone})
    await until(lambda: stage.lists == 2)
    assert stage.watched.trouble is None


async def test_a_410_as_a_status_lists_anew(stage: Stage) -> None:
    gone = stage.api.refusal("WATCH", paths.NODES, 410, "too old")
    stage.api.script["WATCH", paths.NODES] = [gone]
    stage.api.say(paths.NODES, None)
    await until(lambda: stage.lists == 2)
    assert stage.watched.trouble is None


async def test_another_error_in_a_watch_is_trouble_for_a_moment(stage: Stage) -> None:
    troubles = []
    stage.watched._on_change = lambda: troubles.append(stage.watched.trouble)
    error = {"kind": "Status", "code": 500, "message": "etcd is sad"}
    stage.api.say(paths.NODES, {"type": "ERROR", "object": error})
    await until(lambda: stage.lists == 2)
    await until(lambda: stage.watched.trouble is None)
    assert troubles[0] is not None
    assert troubles[0].placeholders["cause"] == "etcd is sad"


async def test_an_outage_is_told_once_and_so_is_its_end(stage: Stage) -> None:
    stage.api.down = DOWN
    stage.api.say(paths.NODES, DOWN)
    await until(lambda: stage.watched.trouble)
    changes = stage.changes
    await asyncio.sleep(0.03)
    assert stage.changes == changes
    assert not stage.watched.following
    stage.api.down = None
    await stage.open()
    assert stage.watched.trouble is None
    assert stage.watched.following


async def test_what_happened_during_an_outage_is_seen_after_it(stage: Stage) -> None:
    stage.api.down = DOWN
    stage.api.say(paths.NODES, DOWN)
    await until(lambda: stage.watched.trouble)
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    stage.api.down = None
    await until(lambda: stage.boot_ids == ["boot-2"])


async def test_a_watch_that_is_forbidden_does_not_look_healthy(stage: Stage) -> None:
    forbidden = stage.api.refusal("WATCH", paths.NODES, 403, "forbidden")
    stage.api.script["WATCH", paths.NODES] = [forbidden] * 1000
    stage.api.say(paths.NODES, None)
    await until(lambda: stage.watched.trouble)
    await until(lambda: stage.lists > 4)
    assert stage.watched.trouble is not None
    assert stage.watched.trouble.placeholders == {"verb": "watch", "resource": "nodes"}


async def test_an_older_answer_that_comes_late_changes_nothing(stage: Stage) -> None:
    old = dict(stage.node)
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    await until(lambda: stage.boot_ids == ["boot-2"])
    stage.watched.put(old)
    stage.watched.drop(old)
    assert stage.boot_ids == ["boot-2"]


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"type": "ADDED"},
        {"type": "ADDED", "object": []},
        {"type": "ADDED", "object": {"metadata": None}},
        {"type": "MODIFIED", "object": {"metadata": {"labels": {}}}},
        {"type": "SOMETHING", "object": {"metadata": {"name": "x"}}},
        {"type": "DELETED", "object": {"metadata": {"name": "unknown"}}},
    ],
)
async def test_junk_in_a_watch_is_passed_over(
    stage: Stage, event: dict[str, Any]
) -> None:
    stage.api.say(paths.NODES, event)
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    await until(lambda: stage.boot_ids == ["boot-2"])


async def test_asking_by_hand_fails_with_the_reason() -> None:
    stage = Stage()
    stage.api.script["GET", paths.NODES] = [status(401)]
    with pytest.raises(HandoffError, match="token_refused"):
        await stage.watched.list()
    assert stage.watched.trouble is not None
    await stage.watched.list()
    assert stage.watched.trouble is None
    assert stage.boot_ids == ["boot-1"]
    assert not stage.watched.following


async def test_a_watch_that_speaks_again_after_an_outage_is_followed(
    stage: Stage,
) -> None:
    stage.api.down = DOWN
    with pytest.raises(HandoffError):
        await stage.watched.list()
    assert not stage.watched.following
    stage.api.down = None
    stage.api.put(paths.NODES, node(boot_id="boot-2"))
    await until(lambda: stage.watched.following)
    assert stage.watched.trouble is None
