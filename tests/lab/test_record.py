"""What really happened, by the word of libvirt and of the API server, not by our own log."""

import asyncio
from datetime import datetime
import time
from typing import Any

import pytest

from custom_components.gpu_handoff.tower.forced_command import script
from custom_components.gpu_handoff.tower.ssh import Connection, Credentials
from tests.bench.stamps import events
from tests.contract.crew import Crew

from .cast import ALICE, GPU_NODE, NODE_NAME
from .lab import Lab
from .stage import LabStage

pytestmark = pytest.mark.lab


async def test_a_handover_and_its_return_as_libvirt_and_the_api_server_saw_it(
    lab: Lab, crew: Crew, stage: LabStage
) -> None:
    search = {"app": "search"}
    await stage.create_deployment("search", replicas=2, labels=search)
    await stage.create_budget("search", search, min_available=1)
    boot_before = boot_id(lab)
    began = time.time()
    async with events(lab) as heard:
        too_early = await stage.virsh("start", ALICE.uuid)
        assert "is in use by driver QEMU, domain gpu-node" in too_early
        await crew.hand_over(ALICE.uuid)
        await crew.give_back(ALICE.uuid)
        await asyncio.sleep(0.5)
        node_stopped = heard.at("'gpu-node': Stopped Shutdown", began)
        node_ended_cleanly = heard.at("'gpu-node': Shutdown Finished", began)
        alice_started = heard.at("'gaming-alice': Started Booted", began)
        alice_stopped = heard.at("'gaming-alice': Stopped Shutdown", began)
        node_started = heard.at("'gpu-node': Started Booted", began)

    orders = [order for order in lab.orders() if order[0] >= began]
    calls = {call for _, call, _ in orders}
    assert not {c for c in calls if "Destroy" in c or "Reset" in c}
    shutdown_at = first(orders, "Shutdown", GPU_NODE.uuid)
    creates = [t for t, c, u in orders if "Create" in c and u == ALICE.uuid]
    evictions = [r for r in await stage.audit() if r["subresource"] == "eviction"]
    codes = [r["code"] for r in evictions]
    patches = [
        stamp(r)
        for r in await stage.audit()
        if (r["verb"], r["resource"], r["name"]) == ("patch", "nodes", NODE_NAME)
        and str(r["user"]).endswith("admin")
    ]

    assert codes.count(201) == 2
    assert 429 in codes
    assert patches[0] < min(stamp(r) for r in evictions)
    assert max(stamp(r) for r in evictions) < shutdown_at
    assert node_ended_cleanly is not None
    assert node_stopped is not None
    assert len(creates) == 2, "one start by hand that was refused, one of ours"
    assert creates[1] > node_stopped
    assert alice_started is not None
    assert alice_started > node_stopped
    assert alice_stopped is not None
    assert node_started is not None
    assert first(orders, "Create", GPU_NODE.uuid) > alice_stopped
    assert patches[-1] > node_started
    assert boot_id(lab) != boot_before
    assert lab.node()["status"]["allocatable"]["nvidia.com/gpu"] == "2"
    assert not lab.node()["spec"].get("unschedulable")


async def test_the_forced_command_allows_our_requests_and_nothing_else(
    lab: Lab, crew: Crew, stage: LabStage
) -> None:
    command = lab.run / "forced-command"
    command.write_text(script(crew.connection.context))
    command.chmod(0o755)
    keys = lab.run / "authorized_keys"
    plain = keys.read_text()
    keys.write_text(f'restrict,command="{command}" {plain}')
    credentials = Credentials(
        host="127.0.0.1",
        port=lab.ssh_port,
        username="root",
        host_key=lab.host_key,
        private_key=lab.private_key,
        forced_command=True,
    )
    connection = Connection(credentials)
    try:
        answer = await connection.run("refresh", GPU_NODE.uuid)
        assert "gpu-node" in answer.stdout
        refused = await connection.run("hello")
        assert "machine_id=" in refused.stdout
    finally:
        await connection.close()
        keys.write_text(plain)


async def test_more_requests_at_once_than_sshd_allows_sessions(crew: Crew) -> None:
    answers = await asyncio.gather(
        *(crew.connection.run("ping") for _ in range(30)),
        *(crew.connection.run("refresh") for _ in range(10)),
    )
    assert all(answer.exit_status == 0 for answer in answers)


def boot_id(lab: Lab) -> str:
    """The node's boot, as its own kernel named it."""
    return str(lab.node()["status"]["nodeInfo"]["bootID"])


def first(orders: list[tuple[float, str, str]], call: str, uuid: str) -> float:
    """When libvirtd was first told to do this to a machine."""
    return next(t for t, c, u in orders if call in c and u == uuid)


def stamp(request: dict[str, Any]) -> float:
    """When the API server had answered."""
    return datetime.fromisoformat(str(request["at"])).timestamp()
