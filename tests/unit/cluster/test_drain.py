"""A drain sends what is due, nothing while a pod blocks, and remembers the answers."""

from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.drain import FINAL_FOR_S, Drain
from custom_components.gpu_handoff.cluster.evictions import LET_GO_S, RETRY_S
from custom_components.gpu_handoff.cluster.pods import DrainOptions
from custom_components.gpu_handoff.cluster.volumes import Attachments
from custom_components.gpu_handoff.handoff.reason import HandoffError, Unreachable
from custom_components.gpu_handoff.handoff.world import Fate, Pod

from .fake_api import FakeApi, status
from .objects import NODE, pod

WEB = pod("web")


class Stage:
    """A drain with a clock that is set by hand."""

    def __init__(self, **options: Any) -> None:
        self.now = 1000.0
        self.api = FakeApi()
        attachments = Attachments(self.api, NODE, lambda: None)
        self.drain = Drain(
            self.api, DrainOptions(**options), attachments, lambda: self.now
        )

    def answers(self, name: str, *replies: Any) -> None:
        """Script what the evictions of a pod are answered with."""
        self.api.script["POST", paths.eviction("games", name)] = list(replies)

    def seen(self, raw: dict[str, Any]) -> Pod:
        """How one pod is judged now."""
        (found,) = self.drain.pods([raw])
        return found

    @property
    def evicted(self) -> list[str]:
        """Names of the pods for which an eviction was sent."""
        return [path.split("/")[-2] for path, _ in self.api.sent("POST")]


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def test_every_pod_that_is_due_gets_one_eviction(stage: Stage) -> None:
    await stage.drain.evict([WEB, pod("db"), pod("ds", owner="DaemonSet")])
    assert sorted(stage.evicted) == ["db", "web"]


async def test_one_blocked_pod_means_no_eviction_at_all(stage: Stage) -> None:
    await stage.drain.evict([WEB, pod("bare", owner=None)])
    assert stage.evicted == []


async def test_an_accepted_pod_is_leaving_before_the_watch_says_so(
    stage: Stage,
) -> None:
    await stage.drain.evict([WEB])
    assert stage.seen(WEB).fate is Fate.LEAVING
    await stage.drain.evict([WEB])
    assert stage.evicted == ["web"]


async def test_an_accepted_pod_that_stays_is_asked_again(stage: Stage) -> None:
    await stage.drain.evict([WEB])
    stage.now += LET_GO_S
    assert stage.seen(WEB).fate is Fate.EVICT
    await stage.drain.evict([WEB])
    assert stage.evicted == ["web", "web"]


async def test_a_pod_that_is_gone_is_left_out(stage: Stage) -> None:
    stage.answers("web", status(404, "not found"))
    await stage.drain.evict([WEB])
    assert stage.drain.pods([WEB]) == ()


async def test_a_new_pod_of_the_same_name_is_another_one(stage: Stage) -> None:
    stage.answers("web", status(404, "not found"))
    await stage.drain.evict([WEB])
    again = pod("web", uid="uid-2")
    assert stage.seen(again).fate is Fate.EVICT


async def test_a_pod_is_not_tried_before_its_time(stage: Stage) -> None:
    stage.answers("web", status(429))
    await stage.drain.evict([WEB])
    seen = stage.seen(WEB)
    assert (seen.fate, seen.final) == (Fate.EVICT, False)
    assert seen.retry_at == stage.now + RETRY_S
    await stage.drain.evict([WEB])
    assert stage.evicted == ["web"]
    stage.now += RETRY_S
    await stage.drain.evict([WEB])
    assert stage.evicted == ["web", "web"]


async def test_a_final_answer_holds_for_a_minute(stage: Stage) -> None:
    stage.answers("web", status(422, "no"))
    await stage.drain.evict([WEB])
    seen = stage.seen(WEB)
    assert seen.final
    assert seen.why is not None
    assert seen.why.placeholders["cause"] == "no"
    await stage.drain.evict([WEB])
    assert stage.evicted == ["web"]
    stage.now += FINAL_FOR_S
    assert not stage.seen(WEB).final


async def test_what_was_answered_is_forgotten_with_the_drain(stage: Stage) -> None:
    stage.answers("web", status(422, "no"))
    await stage.drain.evict([WEB])
    stage.drain.forget()
    assert stage.seen(WEB) == Pod(
        namespace="games", name="web", uid="uid-web", fate=Fate.EVICT
    )


async def test_silence_about_one_pod_keeps_the_answers_about_others(
    stage: Stage,
) -> None:
    stage.answers("web", Unreachable("cluster_timeout", address="a", seconds="1"))
    stage.answers("db", status(422, "no"))
    with pytest.raises(HandoffError, match="cluster_timeout"):
        await stage.drain.evict([WEB, pod("db")])
    assert stage.seen(pod("db")).final
    assert stage.seen(WEB).retry_at == 0.0


async def test_a_pod_being_deleted_is_not_evicted_again(stage: Stage) -> None:
    stage.answers("web", status(429))
    await stage.drain.evict([WEB])
    going = pod("web", deletionTimestamp="2026-12-01T00:00:00Z")
    seen = stage.seen(going)
    assert (seen.fate, seen.why, seen.retry_at) == (Fate.LEAVING, None, 0.0)


def test_a_selector_that_cannot_be_read_is_said_at_once() -> None:
    with pytest.raises(HandoffError, match="selector_invalid"):
        Stage(protect="a in b")
