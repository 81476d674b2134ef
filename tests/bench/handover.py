"""A handover against its physical floor, and against a plain script, on the same lab."""

import argparse
import asyncio
from collections.abc import Callable
import json
import os
from pathlib import Path
from statistics import median
import sys
import time
from typing import Any

from homeassistant.core import Event, HomeAssistant

from tests.lab import manifests
from tests.lab.build import kubernetes
from tests.lab.cast import ALICE, GPU_NODE, NODE_NAME
from tests.lab.lab import Lab

from .household import home_assistant, set_up
from .loop_blocks import LoopBlocks
from .stamps import Events, events, floor_s

SCRIPT = Path(__file__).parent / "handover.sh"
SWITCH = "switch.alice"
CHANGES = 20


async def measure(options: argparse.Namespace) -> dict[str, float]:
    """Measure the script and the product, one after the other."""
    lab = Lab()
    await asyncio.to_thread(lab.up)
    deploy(lab)
    blocks = LoopBlocks()
    async with events(lab) as heard:
        script = [await _script(lab, heard) for _ in range(options.runs)]
        async with home_assistant() as hass:
            await set_up(hass, lab)
            await asyncio.sleep(3)
            seen = await _foreign_changes(hass, lab, heard)
            product = [
                await _product(hass, lab, heard, blocks) for _ in range(options.runs)
            ]
    lab.control_plane.kubectl("delete", "deployment", "bench", "--wait=false")
    print(f"longest callback: {blocks.what[:160]}", file=sys.stderr)
    ours, theirs = median(product), median(script)
    return {
        "handover_overhead_s": ours,
        "script_overhead_s": theirs,
        "handover_overhead_vs_script": ours / theirs,
        "foreign_change_seen_s": median(seen),
        "loop_block_max_ms": blocks.longest_ms,
    }


def deploy(lab: Lab) -> None:
    """One pod on the GPU node, that takes half a second to stop."""
    deployment = manifests.deployment(
        "bench",
        replicas=1,
        gpus=1,
        grace_s=5,
        labels={"app": "bench"},
        on_node=NODE_NAME,
    )
    lab.control_plane.kubectl("apply", "-f", "-", stdin=json.dumps(deployment))
    _wait_for_pod(lab)


def _wait_for_pod(lab: Lab) -> None:
    """Wait until the pod runs on the GPU node again."""
    until = time.monotonic() + 60
    query = ("get", "pods", "-l", "app=bench", "-o", "json")
    while time.monotonic() < until:
        pods = json.loads(lab.control_plane.kubectl(*query))["items"]
        if any(
            pod["status"].get("phase") == "Running"
            and pod["spec"].get("nodeName") == NODE_NAME
            and not pod["metadata"].get("deletionTimestamp")
            for pod in pods
        ):
            return
        time.sleep(0.3)
    raise RuntimeError("the pod did not come back to the GPU node")


async def _back(lab: Lab, heard: Events) -> None:
    """Bring the node back by hand."""
    began = time.time()
    await asyncio.to_thread(lab.virsh, "shutdown", ALICE.uuid, "--mode", "agent")
    await heard.wait(f"'{ALICE.name}': Stopped", began)
    await asyncio.to_thread(lab.virsh, "start", GPU_NODE.uuid)
    await asyncio.to_thread(lab.wait_for_node)
    lab.control_plane.kubectl("uncordon", NODE_NAME)
    await asyncio.to_thread(_wait_for_pod, lab)


async def _script(lab: Lab, heard: Events) -> float:
    """Run the plain script once; returns its seconds over the floor."""
    ssh = (
        f"ssh -q -p {lab.ssh_port} -i {lab.run}/user_key -o BatchMode=yes "
        f"-o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null root@127.0.0.1"
    )
    kubectl = f"{kubernetes()} kubectl --kubeconfig {lab.control_plane.kubeconfig}"
    began = time.time()
    process = await asyncio.create_subprocess_exec(
        *("bash", str(SCRIPT), GPU_NODE.uuid, ALICE.uuid, NODE_NAME),
        env={**os.environ, "SSH": ssh, "KUBECTL": kubectl},
    )
    if await process.wait():
        raise RuntimeError("the script failed")
    took = time.time() - began
    over = took - await asyncio.to_thread(floor_s, lab, heard, began)
    await _back(lab, heard)
    return over


async def _product(
    hass: HomeAssistant, lab: Lab, heard: Events, blocks: LoopBlocks
) -> float:
    """Press the switch once; returns the seconds over the floor.

    Only the handover itself is watched for blocking: reading the logs is our own work.
    """
    await asyncio.to_thread(_wait_for_pod, lab)
    await asyncio.sleep(1)
    began = time.time()
    with blocks:
        await _act(hass, "hand_over")
    took = time.time() - began
    over = took - await asyncio.to_thread(floor_s, lab, heard, began)
    await _act(hass, "give_back")
    return over


async def _act(hass: HomeAssistant, name: str) -> None:
    answer = await hass.services.async_call(
        "gpu_handoff",
        name,
        {"entity_id": SWITCH, "wait": True},
        blocking=True,
        return_response=True,
    )
    result: Any = answer[SWITCH] if answer else {}
    if result["outcome"] != "done":
        raise RuntimeError(f"{name} ended with {result}")


async def _foreign_changes(hass: HomeAssistant, lab: Lab, heard: Events) -> list[float]:
    """Pause and resume the node by hand; how long until Home Assistant shows it."""
    entity = next(
        s.entity_id for s in hass.states.async_all("sensor") if "node" in s.entity_id
    )
    took = []
    for number in range(CHANGES):
        verb, word = (
            ("suspend", "Suspended") if number % 2 == 0 else ("resume", "Resumed")
        )
        shown = asyncio.get_running_loop().create_future()
        remove = hass.bus.async_listen("state_changed", _when(entity, shown))
        began = time.time()
        await asyncio.to_thread(lab.virsh, verb, GPU_NODE.uuid)
        happened = await heard.wait(f"'gpu-node': {word}", began)
        async with asyncio.timeout(10):
            took.append(await shown - happened)
        remove()
        await asyncio.sleep(1.2)
    return took


def _when(entity: str, shown: asyncio.Future[float]) -> Callable[[Event[Any]], None]:
    def changed(event: Event[Any]) -> None:
        old, new = event.data["old_state"], event.data["new_state"]
        moved = new and old and new.state != old.state
        if event.data["entity_id"] == entity and moved and not shown.done():
            shown.set_result(time.time())

    return changed
