"""Pauses grow up to a limit, are never in step, and can be cut short."""

import asyncio

from custom_components.gpu_handoff.cluster.backoff import Backoff


def pauses(backoff: Backoff, count: int) -> list[float]:
    return [backoff.next_s() for _ in range(count)]


def test_pauses_grow_up_to_a_limit() -> None:
    backoff = Backoff(first_s=1.0, longest_s=5.0, chance=lambda: 0.0)
    assert pauses(backoff, 5) == [1.0, 2.0, 4.0, 5.0, 5.0]


def test_chance_takes_up_to_a_half_off() -> None:
    backoff = Backoff(first_s=1.0, longest_s=5.0, chance=lambda: 1.0)
    assert pauses(backoff, 3) == [0.5, 1.0, 2.0]


def test_success_begins_anew() -> None:
    backoff = Backoff(first_s=1.0, longest_s=5.0, chance=lambda: 0.0)
    pauses(backoff, 4)
    backoff.reset()
    assert backoff.next_s() == 1.0


def test_no_number_of_tries_is_too_many() -> None:
    assert max(pauses(Backoff(longest_s=10.0), 2000)) <= 10.0


async def test_a_pause_ends_when_there_is_hope() -> None:
    backoff = Backoff(first_s=60.0, longest_s=60.0)
    pause = asyncio.create_task(backoff.pause())
    await asyncio.sleep(0)
    backoff.cut_short()
    await asyncio.wait_for(pause, 1.0)


async def test_a_pause_ends_by_itself() -> None:
    await asyncio.wait_for(Backoff(first_s=0.001).pause(), 1.0)
