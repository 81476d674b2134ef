"""Requests and watches over real TLS; all that goes wrong is a sentence."""

import asyncio
from collections.abc import AsyncIterator
import contextlib
from dataclasses import replace
import json
import logging
from pathlib import Path
from typing import Any

import aiohttp
from aiohttp import web
import pytest

from custom_components.gpu_handoff.cluster import paths
from custom_components.gpu_handoff.cluster.client import (
    MERGE_PATCH,
    PARSED_ELSEWHERE_BYTES,
    Api,
)
from custom_components.gpu_handoff.cluster.errors import ApiError
from custom_components.gpu_handoff.cluster.kubeconfig import read
from custom_components.gpu_handoff.handoff.reason import (
    HandoffError,
    Reason,
    Unreachable,
)

from .https_api import HttpsApi, refused, text
from .pki import authority, base64, issued


@pytest.fixture
async def server() -> AsyncIterator[HttpsApi]:
    async with HttpsApi() as server:
        yield server


@pytest.fixture
async def api(server: HttpsApi) -> AsyncIterator[Api]:
    api = Api(read(server.kubeconfig()), timeout_s=5, quiet_s=0.1)
    yield api
    await api.close()


async def reason_of(api: Api) -> Reason:
    """Ask for the nodes in vain, and return why."""
    with pytest.raises(Unreachable) as caught:
        await api.get(paths.NODES)
    await api.close()
    assert "not-a-secret" not in str(caught.value)
    return caught.value.reason


async def test_a_request_carries_the_token(server: HttpsApi, api: Api) -> None:
    await api.get(paths.NODES, {"fieldSelector": "metadata.name=gpu1"})
    (request,) = server.requests
    assert request.headers["Authorization"] == "Bearer not-a-secret"
    assert request.query == {"fieldSelector": "metadata.name=gpu1"}


async def test_a_client_certificate_is_shown(server: HttpsApi) -> None:
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.client.key_pem),
    }
    api = Api(read(server.kubeconfig(user)))
    await api.get(paths.NODES)
    await api.close()
    assert server.peers[0]["subject"] == ((("commonName", "me"),),)
    assert "Authorization" not in server.requests[0].headers


async def test_a_patch_is_a_merge_patch(server: HttpsApi, api: Api) -> None:
    bodies = []

    async def answer(request: web.Request) -> web.StreamResponse:
        bodies.append(await request.json())
        return web.json_response({"kind": "Node"})

    server.answer = answer
    patch = {"spec": {"unschedulable": None}}
    assert await api.patch(paths.node("gpu1"), patch) == {"kind": "Node"}
    assert bodies == [patch]
    assert server.requests[0].content_type == MERGE_PATCH


async def test_a_path_before_the_api_is_kept(server: HttpsApi) -> None:
    address = f"https://127.0.0.1:{server.port}/k8s/clusters/c-1"
    api = Api(read(server.kubeconfig(server=address)))
    await api.get(paths.NODES)
    await api.close()
    assert server.requests[0].path == "/k8s/clusters/c-1/api/v1/nodes"


async def test_a_large_answer_is_parsed_outside_the_loop(
    server: HttpsApi, api: Api
) -> None:
    padding = "x" * PARSED_ELSEWHERE_BYTES
    server.answer = text(json.dumps({"padding": padding}), 200, "application/json")
    assert await api.get(paths.NODES) == {"padding": padding}


async def test_proxy_variables_lead_nowhere(
    server: HttpsApi, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    await api.get(paths.NODES)
    assert len(server.requests) == 1


async def test_a_session_may_be_made_by_somebody_else(server: HttpsApi) -> None:
    made = []

    def make(connector: aiohttp.BaseConnector) -> aiohttp.ClientSession:
        made.append(aiohttp.ClientSession(connector=connector))
        return made[0]

    api = Api(read(server.kubeconfig()), make_session=make)
    await api.get(paths.NODES)
    await api.close()
    assert made[0].closed


async def test_closing_twice_or_before_any_request_is_nothing(api: Api) -> None:
    await api.close()
    await api.get(paths.NODES)
    await api.close()
    await api.close()


async def test_the_librarys_log_never_prints_bodies(
    server: HttpsApi, api: Api, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        server.answer = text('{"env": "in-a-body"}', 200, "application/json")
        await api.get(paths.NODES)
    quiet = logging.getLogger("kubernetes_asyncio.client.rest")
    assert quiet.level >= logging.INFO
    assert "in-a-body" not in caplog.text


async def test_no_key_is_left_on_disk_or_open(server: HttpsApi) -> None:
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.client.key_pem),
    }
    api = Api(read(server.kubeconfig(user)))
    await api.get(paths.NODES)
    files = await asyncio.to_thread(_open_files)
    await api.close()
    assert not any("memfd:client" in name for name in files)


def _open_files() -> list[str]:
    names = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            names.append(str(link.readlink()))
    return names


FORBIDDEN = (
    'nodes "cpu1" is forbidden: User "system:serviceaccount:t1:ha" cannot patch '
    'resource "nodes" in API group "" at the cluster scope'
)
ANONYMOUS = (
    'nodes is forbidden: User "system:anonymous" cannot list resource "nodes" in API '
    'group "" at the cluster scope'
)


@pytest.mark.parametrize(
    ("code", "message", "reason"),
    [
        (401, "Unauthorized", Reason.of("token_refused")),
        (403, ANONYMOUS, Reason.of("token_refused")),
        (
            403,
            FORBIDDEN,
            Reason.of("cluster_forbidden", verb="list", resource="nodes"),
        ),
        (404, "", Reason.of("cluster_not_found", verb="list", resource="nodes")),
        (410, "", Reason.of("cluster_history_gone", verb="list", resource="nodes")),
        (429, "", Reason.of("cluster_busy", verb="list", resource="nodes")),
        (
            500,
            "etcd is sad",
            Reason.of(
                "cluster_refused",
                verb="list",
                resource="nodes",
                code=500,
                cause="etcd is sad",
            ),
        ),
    ],
)
async def test_a_refusal_is_a_sentence(
    server: HttpsApi, api: Api, code: int, message: str, reason: Reason
) -> None:
    server.answer = refused(code, message)
    assert await reason_of(api) == reason


async def test_a_client_certificate_that_is_refused_is_named(server: HttpsApi) -> None:
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.client.key_pem),
    }
    server.answer = refused(401, "Unauthorized")
    reason = await reason_of(Api(read(server.kubeconfig(user))))
    assert reason.key == "client_certificate_refused"


@pytest.mark.parametrize("words", ["<html>a router</html>", "[]", "null", ""])
async def test_what_is_no_kubernetes_is_said(
    server: HttpsApi, api: Api, words: str
) -> None:
    server.answer = text(words)
    assert (await reason_of(api)).key == "not_kubernetes"


@pytest.mark.parametrize(
    ("code", "key"), [(429, "cluster_busy"), (503, "cluster_refused")]
)
async def test_trouble_in_plain_text_is_still_the_servers_trouble(
    server: HttpsApi, api: Api, code: int, key: str
) -> None:
    server.answer = text("Too many requests, please try again later.", code)
    assert (await reason_of(api)).key == key


async def test_the_time_to_come_back_is_read(server: HttpsApi, api: Api) -> None:
    server.answer = refused(429, headers={"Retry-After": "7"})
    assert (await api.send("POST", paths.eviction("a", "b"))).retry_after_s == 7.0


async def test_an_api_server_that_hangs_is_given_up(server: HttpsApi) -> None:
    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        raise AssertionError

    server.answer = hang
    reason = await reason_of(Api(read(server.kubeconfig()), timeout_s=0.2))
    assert reason == Reason.of(
        "cluster_timeout", address=f"127.0.0.1:{server.port}", seconds="0.2"
    )


async def test_a_body_that_breaks_off_is_an_outage(server: HttpsApi, api: Api) -> None:
    async def break_off(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"items":')
        assert request.transport is not None
        request.transport.abort()
        return response

    server.answer = break_off
    assert (await reason_of(api)).key == "cluster_unreachable"


async def test_a_closed_port_says_connection_refused(server: HttpsApi) -> None:
    text_ = server.kubeconfig(server="https://127.0.0.1:1")
    assert await reason_of(Api(read(text_))) == Reason.of(
        "cluster_unreachable", address="127.0.0.1:1", cause="Connection refused"
    )


async def test_a_name_that_nobody_knows_is_said(server: HttpsApi) -> None:
    text_ = server.kubeconfig(server="https://no.such.invalid:6443")
    reason = await reason_of(Api(read(text_)))
    assert reason.key == "cluster_name_unknown"


async def test_a_port_without_tls_is_said(server: HttpsApi) -> None:
    async def plain(_: Any, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.0 400 Bad Request\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(plain, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    text_ = server.kubeconfig(server=f"https://127.0.0.1:{port}")
    assert (await reason_of(Api(read(text_)))).key == "cluster_not_tls"
    listener.close()


async def test_a_certificate_for_another_name_is_refused(server: HttpsApi) -> None:
    config = replace(read(server.kubeconfig()), server_name="elsewhere.example")
    assert await reason_of(Api(config)) == Reason.of(
        "certificate_name_wrong",
        address=f"127.0.0.1:{server.port}",
        name="elsewhere.example",
    )
    assert server.requests == []


async def test_the_name_that_the_kubeconfig_tells_is_the_one_checked(
    server: HttpsApi,
) -> None:
    api = Api(read(server.kubeconfig(tls_server_name="localhost")))
    await api.get(paths.NODES)
    await api.close()


async def test_a_stranger_with_a_certificate_gets_no_token(server: HttpsApi) -> None:
    other = base64(authority().cert_pem)
    text_ = server.kubeconfig(certificate_authority_data=other)
    assert (await reason_of(Api(read(text_)))).key == "certificate_not_trusted"
    assert server.requests == []


async def test_without_a_ca_only_the_systems_are_believed(server: HttpsApi) -> None:
    text_ = server.kubeconfig(certificate_authority_data="")
    assert (await reason_of(Api(read(text_)))).key == "certificate_not_trusted"


async def test_verification_is_off_where_the_file_says_so(server: HttpsApi) -> None:
    config = replace(read(server.kubeconfig()), ca_pem=None, insecure=True)
    api = Api(replace(config, server_name="elsewhere.example"))
    await api.get(paths.NODES)
    await api.close()


async def test_an_expired_certificate_is_said() -> None:
    ca = authority()
    old = issued(ca, "api", "127.0.0.1", days=-1)
    async with HttpsApi(ca, old) as server:
        reason = await reason_of(Api(read(server.kubeconfig())))
    assert reason.key == "certificate_out_of_date"


async def test_a_home_made_ca_that_breaks_the_strict_rules_is_said() -> None:
    async with HttpsApi(authority(by_the_rules=False)) as server:
        reason = await reason_of(Api(read(server.kubeconfig())))
    assert reason.key == "kubeconfig_ca_unusable"
    assert "key usage" in reason.placeholders["cause"]


async def test_a_ca_that_is_none_is_said(server: HttpsApi) -> None:
    text_ = server.kubeconfig(certificate_authority_data=base64("foo"))
    reason = await reason_of(Api(read(text_)))
    assert reason.key == "kubeconfig_ca_unusable"
    assert "does not contain a certificate" in reason.placeholders["cause"]


async def test_a_key_of_another_certificate_is_said(server: HttpsApi) -> None:
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.server.key_pem),
    }
    reason = await reason_of(Api(read(server.kubeconfig(user))))
    assert reason.key == "kubeconfig_client_pair_unusable"


async def test_a_locked_key_is_said_and_no_terminal_asked(server: HttpsApi) -> None:
    user = {
        "client-certificate-data": base64(server.client.cert_pem),
        "client-key-data": base64(server.client.locked_key_pem),
    }
    reason = await reason_of(Api(read(server.kubeconfig(user))))
    assert reason.key == "kubeconfig_client_pair_unusable"


def streaming(*chunks: bytes | float) -> Any:
    """Answer a watch with these bytes; a number is a pause."""

    async def answer(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for chunk in chunks:
            if isinstance(chunk, bytes):
                await response.write(chunk)
            else:
                await asyncio.sleep(chunk)
        return response

    return answer


async def heard(api: Api) -> list[dict[str, Any]]:
    """Watch to the end."""
    async with api.watch(paths.NODES, {"watch": "true"}, for_s=5) as events:
        return [event async for event in events]


async def test_a_watch_gives_events_however_the_bytes_are_cut(
    server: HttpsApi, api: Api
) -> None:
    server.answer = streaming(b'{"a":', b"1}\n\n{", b'"a":2}\n{"a":3', b"}\n")
    assert await heard(api) == [{"a": 1}, {"a": 2}, {"a": 3}]


async def test_a_watch_that_falls_silent_just_ends(server: HttpsApi, api: Api) -> None:
    server.answer = streaming(b'{"a":1}\n', 3.0)
    assert await heard(api) == [{"a": 1}]


@pytest.mark.parametrize("junk", [b"<html>\n", b"[1]\n", b"\xff\n"])
async def test_junk_in_a_watch_is_a_sentence(
    server: HttpsApi, api: Api, junk: bytes
) -> None:
    server.answer = streaming(junk)
    with pytest.raises(HandoffError, match="not_kubernetes"):
        await heard(api)


async def test_a_watch_that_is_cut_off_is_an_outage(server: HttpsApi, api: Api) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        await response.write(b'{"a":1}\n')
        assert request.transport is not None
        request.transport.abort()
        return response

    server.answer = cut
    with pytest.raises(Unreachable, match="cluster_unreachable"):
        await heard(api)


async def test_a_watch_that_is_refused_is_a_sentence(
    server: HttpsApi, api: Api
) -> None:
    server.answer = refused(403, "forbidden")
    with pytest.raises(ApiError) as caught:
        await heard(api)
    assert caught.value.status == 403
    assert caught.value.reason.placeholders == {"verb": "watch", "resource": "nodes"}


async def test_a_watch_without_an_answer_is_given_up(server: HttpsApi) -> None:
    async def hang(_: web.Request) -> web.StreamResponse:
        await asyncio.sleep(30)
        raise AssertionError

    server.answer = hang
    api = Api(read(server.kubeconfig()), timeout_s=0.2)
    with pytest.raises(Unreachable, match="cluster_timeout"):
        await heard(api)
    await api.close()
