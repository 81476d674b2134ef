"""A tower that is followed by its events."""

import asyncio
from collections.abc import AsyncIterator, Callable
import contextlib
import logging

import pytest

from custom_components.gpu_handoff.handoff.world import ActKind, Power
from custom_components.gpu_handoff.tower import follow as follow_module, tower as module
from custom_components.gpu_handoff.tower.answer import Answer
from custom_components.gpu_handoff.tower.errors import Unreachable
from custom_components.gpu_handoff.tower.tower import Tower

from .cast import ALICE, BOB, CARD1, CARD2, CARDS, NODE, Machine
from .fake_host import FakeHost

LOST = Unreachable("connection_lost")


class Watched:
    """A tower, and how often it said that something changed."""

    def __init__(self, host: FakeHost, **options: float) -> None:
        self.changes = 0
        self.tower = Tower(
            host.connection,
            known_cards=[CARD1, CARD2],
            on_change=self._changed,
            **options,
        )

    def _changed(self) -> None:
        self.changes += 1


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE_S", 0.01)
    monkeypatch.setattr(module, "_LONGEST_PAUSE_S", 0.05)
    monkeypatch.setattr(module, "_QUIET_S", 0.02)
    monkeypatch.setattr(module, "_LATE_RESYNC_S", 30.0)


@pytest.fixture
def watched(host: FakeHost) -> Watched:
    return Watched(host)


@contextlib.asynccontextmanager
async def running(tower: Tower) -> AsyncIterator[None]:
    task = asyncio.create_task(tower.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(2):
        while not true():
            await asyncio.sleep(0.001)


def event(name: str, what: str, kind: str = "lifecycle") -> str:
    return f"2026-11-30 20:01:04.422+0000: event '{kind}' for domain '{name}': {what}"


def start(host: FakeHost, index: int) -> None:
    machine = host.machines[index]
    host.machines[index] = Machine(machine.uuid, machine.name, CARD1, state=1)


async def test_a_measurement_shows_machines_and_cards(
    host: FakeHost, watched: Watched
) -> None:
    view = await watched.tower.measure(fresh=True)
    assert set(view.vms) == {NODE, ALICE, BOB}
    assert set(view.cards) == {"card1", "card2"}
    assert watched.tower.view is view
    assert watched.changes == 1


async def test_a_measurement_that_shows_nothing_new_is_no_change(
    watched: Watched,
) -> None:
    await watched.tower.measure(fresh=True)
    await watched.tower.measure(fresh=True)
    assert watched.changes == 1


async def test_without_events_the_host_is_always_asked(
    host: FakeHost, watched: Watched
) -> None:
    await watched.tower.measure(fresh=True)
    before = host.count("refresh")
    await watched.tower.measure(fresh=False)
    assert host.count("refresh") == before + 1


async def test_while_events_are_heard_the_last_answer_will_do(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: watched.tower.view)
        await asyncio.sleep(0.01)
        before = host.count("refresh")
        await watched.tower.measure(fresh=False)
        assert host.count("refresh") == before
        await watched.tower.measure(fresh=True)
        assert host.count("refresh") == before + 1


async def test_a_change_made_by_hand_is_seen_at_once(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        start(host, 1)
        host.streams[0].say(event("gaming-alice", "Started Booted"))
        view = watched.tower.view
        await until(lambda: watched.tower.view is not view)
        assert watched.tower.view
        assert watched.tower.view.vms[ALICE].power is Power.RUNNING


async def test_a_burst_of_events_is_two_refreshes(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        await asyncio.sleep(0.01)
        before = host.count("refresh")
        host.gate = asyncio.Event()
        host.streams[0].say(event("gaming-alice", "connected", "agent-lifecycle"))
        await until(lambda: host.count("refresh") == before + 1)
        for _ in range(50):
            host.streams[0].say(event("gaming-alice", "connected", "agent-lifecycle"))
        await asyncio.sleep(0.01)
        host.gate.set()
        host.gate = None
        await asyncio.sleep(0.05)
        assert host.count("refresh") == before + 2


async def test_lines_that_are_no_event_of_ours_ask_nothing(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        await asyncio.sleep(0.01)
        before = host.count("refresh")
        host.streams[0].say(event("gpu-node", "actual: 1", "balloon-change"))
        host.streams[0].say("\tcontinued")
        await asyncio.sleep(0.05)
        assert host.count("refresh") == before


async def test_a_new_machine_appears_with_its_cards(
    host: FakeHost, watched: Watched
) -> None:
    carol = "44444444-4444-4444-8444-444444444444"
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        host.machines.append(Machine(carol, "ゲーム carol", CARD2))
        host.streams[0].say(event("ゲーム carol", "Defined Added"))
        await until(lambda: carol in (watched.tower.view or LOST).vms)  # type: ignore[union-attr]
        assert watched.tower.view
        assert watched.tower.view.vms[carol].wants == {"card2"}


async def test_who_has_the_cards_on_the_host_is_looked_at_when_it_is_quiet_again(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        await asyncio.sleep(0.01)
        before = host.count("cards")
        host.answers["cards"] = CARDS.replace("vfio-pci", "nvidia")
        host.streams[0].say(event("gpu-node", "Stopped Shutdown"))
        await until(lambda: host.count("cards") > before)
        await until(
            lambda: (
                watched.tower.view
                and watched.tower.view.cards["card1"].host_driver == "nvidia"
            )
        )


async def test_openers_are_asked_for_the_cards_that_machines_may_take(
    host: FakeHost, watched: Watched
) -> None:
    await watched.tower.measure(fresh=True)
    looks = [said for said in host.asked if said[0] == "cards"]
    assert looks == [("cards",), ("cards", "0000:01:00.0", "0000:02:00.0")]
    await watched.tower.measure(fresh=True)
    looks = [said for said in host.asked if said[0] == "cards"]
    assert len(looks) == 3


async def test_cards_that_cannot_be_read_stay_as_they_were(
    host: FakeHost, watched: Watched
) -> None:
    await watched.tower.measure(fresh=True)
    host.answers["cards"] = Unreachable("tower_timeout", host="tower", request="cards")
    view = await watched.tower.measure(fresh=True)
    assert not view.cards["card1"].missing
    assert [reason.key for reason in watched.tower.problems] == ["tower_timeout"]
    assert watched.tower.problem is None


async def test_broken_xml_is_a_problem_and_the_rest_goes_on(
    host: FakeHost, watched: Watched
) -> None:
    host.machines[1].inactive = host.machines[1].live = "<domain"
    view = await watched.tower.measure(fresh=True)
    assert [reason.key for reason in watched.tower.problems] == ["domain_xml_broken"]
    assert view.vms[NODE].holds == {"card1", "card2"}


async def test_a_new_card_is_known_from_then_on(host: FakeHost) -> None:
    tower = Tower(host.connection, on_change=lambda: None)
    await tower.measure(fresh=True)
    assert [card.model for card in tower.known_cards] == ["RTX 4090", "RTX 3090"]
    again = Tower(
        host.connection, on_change=lambda: None, known_cards=tower.known_cards
    )
    await again.measure(fresh=True)
    assert again.known_cards == tower.known_cards
    assert host.count("names") == 1


async def test_a_host_that_does_not_answer_is_unreachable(
    host: FakeHost, watched: Watched
) -> None:
    host.down = LOST
    with pytest.raises(Unreachable):
        await watched.tower.measure(fresh=False)
    assert watched.tower.problem == LOST.reason
    assert watched.changes == 1


async def test_whoever_asks_while_an_answer_is_on_its_way_gets_the_next_one(
    host: FakeHost, watched: Watched
) -> None:
    await watched.tower.measure(fresh=True)
    before = host.count("refresh")
    host.gate = asyncio.Event()
    first = asyncio.create_task(watched.tower.measure(fresh=True))
    await until(lambda: host.count("refresh") == before + 1)
    others = [asyncio.create_task(watched.tower.measure(fresh=False)) for _ in "abc"]
    await asyncio.sleep(0)
    host.gate.set()
    await asyncio.gather(first, *others)
    assert host.count("refresh") == before + 2


async def test_going_away_and_coming_back_are_one_line_each(
    host: FakeHost, watched: Watched, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        host.down = LOST
        host.streams[0].end(exit_status=None)
        await until(lambda: watched.tower.problem)
        for _ in range(3):
            with pytest.raises(Unreachable):
                await watched.tower.measure(fresh=True)
        await asyncio.sleep(0.1)
        host.down = None
        await until(lambda: watched.tower.problem is None)
        await until(lambda: len(host.streams) == 2)
    ours = [r.getMessage() for r in caplog.records if "gpu_handoff" in r.name]
    assert [line.split(":")[0] for line in ours] == [
        "The tower tower does not answer",
        "The tower tower answers again",
    ]


async def test_a_daemon_that_restarts_is_followed_again(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        host.streams[0].end(
            stderr="error: Disconnected from qemu:///system due to end of file\n",
            exit_status=1,
        )
        await until(lambda: watched.tower.problem)
        assert watched.tower.problem
        assert watched.tower.problem.key == "libvirt_not_running"
        await until(lambda: watched.tower.problem is None)
        assert len(host.streams) == 2


async def test_a_stream_that_the_host_ended_in_time_is_no_trouble(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        host.streams[0].end(exit_status=124)
        await until(lambda: len(host.streams) == 2)
        assert watched.tower.problem is None


async def test_the_next_stream_is_open_before_the_old_one_ends(host: FakeHost) -> None:
    watched = Watched(host, rotate_s=0.05)
    seen = []
    opened = host.stream

    @contextlib.asynccontextmanager
    async def stream(verb: str) -> AsyncIterator[object]:
        seen.append(host.open_streams)
        async with opened(verb) as each:
            yield each

    host.stream = stream  # type: ignore[method-assign,assignment]
    async with running(watched.tower):
        await until(lambda: len(seen) == 3)
        assert seen[:3] == [0, 1, 1]
        await until(lambda: host.open_streams == 1)
        before = host.count("refresh")
        start(host, 1)
        host.streams[-1].say(event("gaming-alice", "Started Booted"))
        await until(lambda: host.count("refresh") > before)
    assert host.open_streams == 0
    assert watched.tower.problem is None


async def test_a_stream_that_never_connects_is_given_up(
    host: FakeHost, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follow_module, "_CONNECT_S", 0.02)
    host.first_line = None
    async with running(watched.tower):
        await until(lambda: watched.tower.problem)
        assert watched.tower.problem
        assert watched.tower.problem.key == "tower_timeout"
        host.first_line = "qemu:///system"
        await until(lambda: watched.tower.problem is None)


async def test_nothing_is_left_running_when_it_stops_while_connecting(
    host: FakeHost, watched: Watched
) -> None:
    host.first_line = None
    async with running(watched.tower):
        await until(lambda: host.streams)
    assert host.open_streams == 0
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_refresh_that_fails_while_events_are_heard_is_tried_again(
    host: FakeHost, watched: Watched
) -> None:
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        host.answers["refresh"] = Answer(exit_status=124)
        host.streams[0].say(event("gpu-node", "connected", "agent-lifecycle"))
        await until(lambda: watched.tower.problem)
        del host.answers["refresh"]
        await until(lambda: watched.tower.problem is None)
        assert len(host.streams) == 1


async def test_now_and_then_it_is_measured_without_any_event(host: FakeHost) -> None:
    watched = Watched(host, safety_refresh_s=0.02)
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        before = host.count("refresh")
        await until(lambda: host.count("refresh") > before + 1)


async def test_what_happened_while_the_stream_began_is_seen(
    host: FakeHost, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_LATE_RESYNC_S", 0.02)
    async with running(watched.tower):
        await until(lambda: host.streams and watched.tower.view)
        start(host, 1)
        await until(
            lambda: (
                watched.tower.view
                and watched.tower.view.vms[ALICE].power is Power.RUNNING
            )
        )


async def test_what_a_lost_stream_still_said_asks_nothing(
    host: FakeHost, watched: Watched
) -> None:
    host.down = LOST
    async with running(watched.tower):
        await until(lambda: watched.tower.problem)
        watched.tower._happened.set()
        await until(lambda: not watched.tower._happened.is_set())
    assert host.count("refresh") == 0


async def test_an_act_does_not_wait_for_a_refresh(
    host: FakeHost, watched: Watched
) -> None:
    host.gate = asyncio.Event()
    measuring = asyncio.create_task(watched.tower.measure(fresh=True))
    await until(lambda: host.count("refresh"))
    await watched.tower.act(ActKind.START, ALICE)
    assert ("start", ALICE) in host.asked
    host.gate.set()
    await measuring


async def test_letting_go_of_a_card_never_fails(watched: Watched) -> None:
    await watched.tower.let_go(["card1", "nobody's"])


async def test_closing_closes_the_connection(host: FakeHost, watched: Watched) -> None:
    await watched.tower.close()
    assert host.closed
