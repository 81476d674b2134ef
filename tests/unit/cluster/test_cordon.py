"""Cordoning a node that others change too, and never undoing what is not ours."""

import asyncio
from typing import Any

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.cordon import TRIES, cordon, uncordon
from custom_components.gpu_handoff.cluster.mark import is_cordoned, read_mark
from custom_components.gpu_handoff.handoff.reason import HandoffError
from custom_components.gpu_handoff.handoff.world import Mark

from .fake_api import FakeApi, status
from .objects import NODE, node

MARK = Mark(operation="op-1", vm_id="vm-1", boot_id="boot-1")
PATH = paths.node(NODE)


@pytest.fixture
def api() -> FakeApi:
    api = FakeApi()
    api.put(paths.NODES, node())
    return api


def standing(api: FakeApi) -> dict[str, Any]:
    return api.objects[paths.NODES][f"/{NODE}"]


async def test_a_cordon_is_one_patch(api: FakeApi) -> None:
    changed = await cordon(api, NODE, MARK, standing(api))
    assert is_cordoned(changed)
    assert read_mark(standing(api)) == MARK
    assert [method for method, _, _ in api.requests] == ["PATCH"]


async def test_our_own_cordon_is_undone(api: FakeApi) -> None:
    await cordon(api, NODE, MARK, None)
    await uncordon(api, NODE, None)
    assert not is_cordoned(standing(api))
    assert read_mark(standing(api)) is None


async def test_a_cordon_set_by_a_person_stays(api: FakeApi) -> None:
    api.put(paths.NODES, node(unschedulable=True))
    await cordon(api, NODE, MARK, None)
    await uncordon(api, NODE, None)
    assert is_cordoned(standing(api))
    assert api.sent("PATCH") == []


async def test_a_cordon_that_stands_is_not_set_again(api: FakeApi) -> None:
    await cordon(api, NODE, MARK, None)
    await cordon(api, NODE, MARK, None)
    assert len(api.sent("PATCH")) == 1


async def test_a_later_operation_takes_over_our_mark(api: FakeApi) -> None:
    await cordon(api, NODE, MARK, None)
    later = Mark(operation="op-2", vm_id="vm-1", boot_id="boot-1")
    await cordon(api, NODE, later, None)
    assert read_mark(standing(api)) == later


async def test_a_node_changed_meanwhile_is_read_anew(api: FakeApi) -> None:
    old = dict(standing(api), metadata={**standing(api)["metadata"]})
    api.put(paths.NODES, node(ready="False"))
    await cordon(api, NODE, MARK, old)
    assert is_cordoned(standing(api))
    assert [method for method, _, _ in api.requests] == ["PATCH", "GET", "PATCH"]


async def test_a_person_who_cordons_in_between_wins(api: FakeApi) -> None:
    old = standing(api)
    api.put(paths.NODES, node(unschedulable=True))
    await cordon(api, NODE, MARK, old)
    assert read_mark(standing(api)) is None


async def test_what_is_known_is_not_trusted_to_need_no_change(api: FakeApi) -> None:
    await uncordon(api, NODE, standing(api))
    assert [method for method, _, _ in api.requests] == ["GET"]


async def test_endless_conflicts_end_in_a_sentence(api: FakeApi) -> None:
    api.script["PATCH", PATH] = [status(409, "modified")] * TRIES
    with pytest.raises(HandoffError, match="node_busy"):
        await cordon(api, NODE, MARK, None)


async def test_a_node_that_does_not_exist_is_named(api: FakeApi) -> None:
    with pytest.raises(HandoffError) as caught:
        await cordon(api, "nope", MARK, None)
    assert caught.value.reason.key == "node_not_found"
    assert caught.value.reason.placeholders == {"node": "nope"}


async def test_a_missing_right_is_named(api: FakeApi) -> None:
    api.script["PATCH", PATH] = [status(403, "forbidden")]
    with pytest.raises(HandoffError) as caught:
        await cordon(api, NODE, MARK, None)
    assert caught.value.reason.placeholders == {"verb": "patch", "resource": "nodes"}


async def test_two_at_once_do_not_lose_each_other(api: FakeApi) -> None:
    other = Mark(operation="op-2", vm_id="vm-2", boot_id="boot-1")
    await asyncio.gather(cordon(api, NODE, MARK, None), cordon(api, NODE, other, None))
    assert read_mark(standing(api)) in (MARK, other)
