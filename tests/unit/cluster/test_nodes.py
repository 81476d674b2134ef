"""A machine's node is found by the UUID that its firmware tells."""

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.nodes import (
    FoundNode,
    find_nodes,
    is_ready,
    node_of,
    same_machine,
)

from .fake_api import FakeApi
from .objects import node

VM = "0d9e4f6b-2b61-4b5e-9a0f-3f1f5a7c9e03"


@pytest.mark.parametrize(
    "told",
    [
        VM,
        VM.upper(),
        VM.replace("-", ""),
        "6b4f9e0d-612b-5e4b-9a0f-3f1f5a7c9e03",
    ],
)
def test_case_and_byte_order_do_not_matter(told: str) -> None:
    assert same_machine(VM, told)


@pytest.mark.parametrize(
    "told", ["", "Not Settable", "1d9e4f6b-2b61-4b5e-9a0f-3f1f5a7c9e03"]
)
def test_another_machine_is_another(told: str) -> None:
    assert not same_machine(VM, told)


async def test_nodes_are_listed_with_what_a_choice_needs() -> None:
    api = FakeApi()
    raw = node(gpus="2")
    raw["status"]["nodeInfo"]["systemUUID"] = VM.upper()
    api.put(paths.NODES, raw)
    api.put(paths.NODES, {"metadata": {"name": "new"}})
    nodes = await find_nodes(api)
    assert nodes == [
        FoundNode(name="gpu1", system_uuid=VM.upper(), ready=True, gpus=2),
        FoundNode(name="new", system_uuid="", ready=False, gpus=None),
    ]
    assert node_of(VM, nodes) == nodes[0]
    assert node_of("22222222-2222-4222-8222-222222222222", nodes) is None


@pytest.mark.parametrize("ready", ["False", "Unknown"])
def test_only_true_is_ready(ready: str) -> None:
    assert not is_ready(node(ready=ready))
