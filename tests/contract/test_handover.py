"""Whole handovers through the heart, judged by what tower and cluster say themselves."""

import asyncio

import pytest

from custom_components.gpu_handoff.handoff.operation import Outcome
from custom_components.gpu_handoff.handoff.reason import Refused

from .crew import Crew
from .stage import ALICE, BOB, CAROL, GPU_NODE, NODE, Stage


async def test_a_card_is_handed_over_and_comes_back(crew: Crew, stage: Stage) -> None:
    await stage.create_deployment("chat", gpus=1)
    boot_before = (await stage.node())["status"]["nodeInfo"]["bootID"]

    played = await crew.hand_over(ALICE)
    assert played.outcome is Outcome.DONE
    assert await stage.power(ALICE) == "running"
    assert await stage.power(GPU_NODE) == "shut off"
    assert (await stage.node())["spec"]["unschedulable"] is True

    returned = await crew.give_back(ALICE)
    assert returned.outcome is Outcome.DONE
    node = await stage.node()
    assert await stage.power(ALICE) == "shut off"
    assert await stage.power(GPU_NODE) == "running"
    assert not node["spec"].get("unschedulable")
    assert "gpu-handoff/cordoned-by" not in node["metadata"].get("annotations", {})
    assert node["status"]["nodeInfo"]["bootID"] != boot_before
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "2"


async def test_the_api_server_saw_cordon_then_eviction_then_uncordon(
    crew: Crew, stage: Stage
) -> None:
    await stage.create_deployment("chat", gpus=1)
    await crew.hand_over(ALICE)
    await crew.give_back(ALICE)
    expected = [
        ("patch", "nodes", 200),
        ("create", "eviction", 201),
        ("patch", "nodes", 200),
    ]
    async with asyncio.timeout(5):
        while (acts := await acts_on(stage)) != expected and len(acts) < 3:
            await asyncio.sleep(0.1)
    assert acts == expected


async def acts_on(stage: Stage) -> list[tuple[str, str, int]]:
    """What the API server was asked to change, in its own order."""
    return [
        (entry["verb"], entry["subresource"] or entry["resource"], entry["code"])
        for entry in await stage.audit()
        if (entry["resource"], entry["name"]) == ("nodes", NODE)
        or entry["subresource"] == "eviction"
        if entry["verb"] in ("patch", "create")
    ]


async def test_a_budget_holds_the_drain_up_until_it_allows_it(
    crew: Crew, stage: Stage
) -> None:
    await stage.create_deployment("web", replicas=2, labels={"app": "web"})
    await stage.create_budget("web-budget", {"app": "web"}, min_available=1)
    played = await crew.hand_over(ALICE)
    assert played.outcome is Outcome.DONE
    codes = [
        entry["code"]
        for entry in await stage.audit()
        if entry["subresource"] == "eviction"
    ]
    assert 429 in codes
    assert codes.count(201) == 2


async def test_a_player_keeps_the_card(crew: Crew, stage: Stage) -> None:
    await crew.hand_over(BOB)
    with pytest.raises(Refused) as refused:
        await crew.heart.hand_over(CAROL)
    assert refused.value.reason.key == "card_in_use"
    assert refused.value.reason.placeholders["player"] == 'Bob\'s "PC"'
    assert await stage.power(BOB) == "running"


async def test_a_second_player_joins_while_the_node_is_off(
    crew: Crew, stage: Stage
) -> None:
    await crew.hand_over(ALICE)
    played = await crew.hand_over(BOB)
    assert played.outcome is Outcome.DONE
    first_back = await crew.give_back(ALICE)
    assert first_back.reason is not None
    assert first_back.reason.key == "node_stays_off"
    assert await stage.power(GPU_NODE) == "shut off"
    await crew.give_back(BOB)
    assert await stage.power(GPU_NODE) == "running"
    assert not (await stage.node())["spec"].get("unschedulable")


async def test_a_cordon_set_by_a_person_outlives_a_handover(
    crew: Crew, stage: Stage
) -> None:
    await stage.cordon_by_hand()
    await crew.hand_over(ALICE)
    await crew.give_back(ALICE)
    assert (await stage.node())["spec"]["unschedulable"] is True


async def test_a_cancelled_drain_leaves_no_trace(crew: Crew, stage: Stage) -> None:
    await stage.create_deployment("web", labels={"app": "web"})
    await stage.create_budget("web-budget", {"app": "web"}, min_available=1)
    operation = await crew.heart.hand_over(ALICE)
    await crew.until(lambda: "draining" in crew.phases)
    await crew.heart.cancel(ALICE)
    result = await crew.result(operation)
    assert result.outcome is Outcome.CANCELLED
    node = await stage.node()
    assert not node["spec"].get("unschedulable")
    assert "gpu-handoff/cordoned-by" not in node["metadata"].get("annotations", {})
    assert await stage.power(GPU_NODE) == "running"


async def test_an_operation_goes_on_after_a_restart_in_its_middle(
    crew: Crew, stage: Stage
) -> None:
    await stage.set_knobs(ALICE, ga_delay=6)
    await crew.heart.hand_over(ALICE)
    await crew.until(lambda: "stopping_node" in crew.phases)
    await crew.stop_heart()
    await crew.start_heart()
    await crew.until(lambda: ALICE in crew.heart.last)
    assert crew.heart.last[ALICE].outcome is Outcome.DONE
    assert await stage.power(ALICE) == "running"


async def test_a_node_that_is_off_already_needs_no_cluster(
    crew: Crew, stage: Stage
) -> None:
    await stage.virsh("shutdown", GPU_NODE)
    async with asyncio.timeout(60):
        while await stage.power(GPU_NODE) != "shut off":
            await asyncio.sleep(0.1)
    await stage.stop_api()
    played = await crew.hand_over(ALICE)
    assert played.outcome is Outcome.DONE
    await stage.start_api()


async def test_a_machine_that_shuts_itself_down_gives_its_card_back(
    crew: Crew, stage: Stage
) -> None:
    crew.heart.house = house_with(crew, grace=1.0)
    await crew.hand_over(ALICE)
    await stage.virsh("shutdown", ALICE, "--mode", "agent")
    async with asyncio.timeout(90):
        while (await stage.node())["spec"].get("unschedulable"):
            await asyncio.sleep(0.2)
    assert await stage.power(GPU_NODE) == "running"


def house_with(crew: Crew, **deadlines_s: float) -> object:
    """The same household, with other deadlines."""
    house = crew.house
    return type(house)(
        gaming=house.gaming, nodes=house.nodes, deadlines_s=dict(deadlines_s)
    )
