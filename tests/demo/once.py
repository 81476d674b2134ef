"""One handover and one return, through Home Assistant's own actions."""

import asyncio
from collections.abc import Mapping
from datetime import datetime
import re
from typing import Any

from .checks import boot_id, wrong_after_return, wrong_while_playing
from .client import Client
from .entities import Entities, entities
from .errors import DemoError
from .tower import ALICE, Tower

TIMEOUT_S = 300
IDLE = "idle"


async def once(client: Client, tower: Tower) -> None:
    """Hand Alice her card and take it back; raises DemoError with what is wrong."""
    found = await entities(client)
    before = boot_id(await tower.node())
    said = " ".join((await tower.virsh("start", ALICE)).split())
    if not re.search("in use|already", said):
        raise DemoError(f"a start that comes too early was not refused: {said}")
    print(f"a start by hand, too early: libvirt says: {said}\n")

    print("hand over: switch.turn_on")
    await operate(client, found, "turn_on")
    await _check(await wrong_while_playing(tower), client, found, ("on", "playing"))
    _tell_evictions(await tower.audit())

    print("\ngive back: switch.turn_off")
    await operate(client, found, "turn_off")
    await _check(
        await wrong_after_return(tower, before), client, found, ("off", "lent")
    )
    print(
        "\nthe end state is right: Alice's machine is off, her card lent, the node back"
    )


async def operate(client: Client, found: Entities, action: str) -> None:
    """Press Alice's switch and print each phase until the operation has ended."""
    phase, result = found.of(ALICE, "phase"), found.of(ALICE, "last_result")
    async with client.events("state_changed") as events, asyncio.timeout(TIMEOUT_S):
        await client.action(f"switch.{action}", entity_id=found.of(ALICE, "play"))
        began: datetime | None = None
        async for event in events:
            new = event["data"]["new_state"]
            if new is None or new["entity_id"] not in (phase, result):
                continue
            at = datetime.fromisoformat(new["last_changed"])
            began = began or at
            if new["entity_id"] == phase and _is_news(event) and new["state"] != IDLE:
                print(f"  {(at - began).total_seconds():6.1f} s  {new['state']}")
            if new["entity_id"] == result:
                _tell_end(new)
                return
    raise DemoError("Home Assistant closed the connection")


def _is_news(event: Mapping[str, Any]) -> bool:
    old = event["data"]["old_state"]
    return old is None or bool(old["state"] != event["data"]["new_state"]["state"])


def _tell_end(result: Mapping[str, Any]) -> None:
    attributes = result["attributes"]
    spent: Mapping[str, float] = attributes["seconds"]
    if result["state"] != "done":
        raise DemoError(
            f"the operation ended as {result['state']} in phase"
            f" {attributes['phase']}: {attributes['reason']}"
        )
    print(f"  {sum(spent.values()):6.1f} s  done")
    print("  " + ", ".join(f"{phase} {s:.1f} s" for phase, s in spent.items()))


def _tell_evictions(audit: list[dict[str, Any]]) -> None:
    codes = [e["code"] for e in audit if e["subresource"] == "eviction"]
    refused = sum(code == 429 for code in codes)
    print(
        f"  the API server's own record: {len(codes) - refused} pods evicted,"
        f" {refused} first answered 429 by a disruption budget"
    )


async def _check(
    wrong: list[str], client: Client, found: Entities, expected: tuple[str, str]
) -> None:
    switch, card = expected
    async with asyncio.timeout(10):
        while True:
            states = await client.states()
            shown = states[found.of(ALICE, "play")]["state"]
            cards = [states[entity_id]["state"] for entity_id in found.all("holder")]
            if shown == switch and card in cards:
                break
            await asyncio.sleep(0.1)
    if wrong:
        raise DemoError(f"not so: {'; '.join(wrong)}")
