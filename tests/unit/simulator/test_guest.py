"""How guests live: the order of their events, and what their agents do."""

import asyncio
from collections.abc import Iterable
import time

import pytest

from tests.simulator import ALICE, GPU_NODE, Simulator
from tests.simulator.tower.guest import Guest

AGENT_UP = "event 'agent-lifecycle' for domain '{}': state: 'connected' reason: 'channel event'"


def told(sim: Simulator) -> list[str]:
    return [line.split(": ", 1)[1].rstrip() for line in sim.tower.events.record]


async def until(guest: Guest, power: str) -> None:
    async with asyncio.timeout(5):
        while guest.power != power:
            await asyncio.sleep(0.005)


@pytest.fixture
async def alice(sim: Simulator) -> Guest:
    """Alice's machine, whose card is free."""
    sim.tower.vms[GPU_NODE].destroy()
    sim.tower.events.record.clear()
    return sim.tower.vms[ALICE]


def of_domain(name: str, lines: Iterable[str]) -> list[str]:
    return [line.replace(f" for domain '{name}'", "") for line in lines]


async def test_a_start_tells_its_events_in_libvirts_order(
    sim: Simulator, alice: Guest
) -> None:
    await alice.start()
    assert of_domain("gaming-alice", told(sim)) == [
        "event 'agent-lifecycle': state: 'disconnected' reason: 'domain started'",
        "event 'lifecycle': Resumed Unpaused",
        "event 'lifecycle': Started Booted",
    ]


async def test_an_event_line_has_a_time_in_utc(sim: Simulator, alice: Guest) -> None:
    alice.knobs.agent_delay_s = 0
    await alice.start()
    stamp = sim.tower.events.record[0].split(": event")[0]
    day, clock = stamp.split(" ")
    assert len(day) == 10
    assert clock.endswith("+0000")
    assert len(clock) == len("21:49:23.377+0000")


async def test_the_agent_answers_after_its_delay(sim: Simulator, alice: Guest) -> None:
    await alice.start()
    assert not alice.agent_connected
    await sim.clock.sleep(alice.knobs.agent_delay_s + 1)
    assert alice.agent_connected
    assert told(sim)[-1] == AGENT_UP.format("gaming-alice")


async def test_a_shutdown_frees_the_card_only_when_it_has_stopped(
    sim: Simulator, alice: Guest
) -> None:
    alice.be_running()
    await alice.shut_down_by_agent()
    assert alice.power == "in shutdown"
    assert sim.tower.bus.holder("0000:01:00.0") == "gaming-alice"
    await until(alice, "shut off")
    assert sim.tower.bus.holder("0000:01:00.0") is None
    assert of_domain("gaming-alice", told(sim))[-2:] == [
        "event 'lifecycle': Shutdown Finished after guest request",
        "event 'lifecycle': Stopped Shutdown",
    ]


async def test_a_hung_agent_takes_five_seconds_to_refuse(
    sim: Simulator, alice: Guest
) -> None:
    alice.be_running()
    alice.knobs.agent_hung = True
    begun = time.monotonic()
    output = await sim.tower.virsh("shutdown", ALICE, "--mode", "agent")
    assert "Guest agent not available for now" in output.stderr
    assert time.monotonic() - begun >= sim.clock.real_s(5)
    assert alice.running


async def test_a_guest_that_refuses_holds_the_agent_for_a_minute(
    sim: Simulator, alice: Guest
) -> None:
    alice.be_running()
    alice.knobs.refuse_shutdown = True
    first = asyncio.create_task(sim.tower.virsh("shutdown", ALICE, "--mode", "agent"))
    await asyncio.sleep(0)
    second = await sim.tower.virsh("shutdown", ALICE, "--mode", "agent")
    assert "held by agent=remoteDispatchDomainShutdownFlags" in second.stderr
    assert "Guest agent not available for now" in (await first).stderr
    assert alice.running


async def test_a_power_button_pressed_early_in_the_boot_is_lost(
    sim: Simulator, alice: Guest
) -> None:
    await alice.start()
    assert (await sim.tower.virsh("shutdown", ALICE, "--mode", "acpi")).status == 0
    await sim.clock.sleep(alice.knobs.shutdown_s + 3)
    assert alice.running
    await sim.tower.virsh("shutdown", ALICE, "--mode", "acpi")
    await until(alice, "shut off")


async def test_a_paused_guest_is_said_not_to_run_and_keeps_its_card(
    sim: Simulator, alice: Guest
) -> None:
    alice.be_running()
    alice.suspend()
    output = await sim.tower.virsh("shutdown", ALICE, "--mode", "agent")
    assert "domain is not running" in output.stderr
    assert alice.holds
    await sim.tower.virsh("resume", ALICE)
    assert (alice.power, alice.status.because) == ("running", "unpaused")


async def test_a_sleeping_guest_is_woken(sim: Simulator, alice: Guest) -> None:
    alice.be_running()
    alice.sleep()
    assert alice.status.state.value == 7
    await sim.tower.virsh("dompmwakeup", ALICE)
    assert alice.running


async def test_a_crashed_guest_that_is_preserved_keeps_its_card(
    sim: Simulator, alice: Guest
) -> None:
    alice.plan.on_crash = "preserve"
    alice.be_running()
    alice.crash()
    await until(alice, "crashed")
    assert alice.holds
    output = await sim.tower.virsh("start", ALICE)
    assert output.stderr == "error: Domain is already active\n"


async def test_a_crashed_guest_that_is_destroyed_ends(
    sim: Simulator, alice: Guest
) -> None:
    alice.be_running()
    alice.crash()
    await until(alice, "shut off")
    assert alice.status.because == "crashed"


async def test_knobs_may_end_a_guest_by_itself(sim: Simulator, alice: Guest) -> None:
    alice.knobs.off_after_s = 1.0
    await alice.start()
    await until(alice, "shut off")
    assert alice.status.because == "shutdown"


async def test_a_start_may_be_made_to_fail(sim: Simulator, alice: Guest) -> None:
    alice.knobs.fail_start = "Cannot access storage file '/nope.iso': No such file"
    output = await sim.tower.virsh("start", ALICE)
    assert "/nope.iso" in output.stderr
    assert alice.power == "shut off"
