"""What the login may not do is known before a handover needs it."""

import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.reply import Reply
from custom_components.gpu_handoff.cluster.rights import NEEDED, check_rights
from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason

from .fake_api import FakeApi, status


def review(*, allowed: bool) -> Reply:
    return Reply(status=201, body={"status": {"allowed": allowed}})


async def test_an_administrator_may_do_everything() -> None:
    api = FakeApi()
    api.script["POST", paths.ACCESS_REVIEWS] = [review(allowed=True)] * len(NEEDED)
    await check_rights(api)


async def test_missing_rights_are_named_as_a_role_names_them() -> None:
    api = FakeApi()
    lacking = {("patch", "nodes"), ("create", "pods")}
    api.script["POST", paths.ACCESS_REVIEWS] = [
        review(allowed=(verb, resource) not in lacking)
        for verb, _, resource, _ in NEEDED
    ]
    with pytest.raises(HandoffError) as caught:
        await check_rights(api)
    assert caught.value.reason == Reason.of(
        "cluster_rights_missing", rights="patch nodes, create pods/eviction"
    )


async def test_a_refused_login_is_said_as_such() -> None:
    api = FakeApi()
    api.script["POST", paths.ACCESS_REVIEWS] = [status(401)] * len(NEEDED)
    with pytest.raises(HandoffError, match="token_refused"):
        await check_rights(api)
