"""The set-up: the way that works, and every wrong answer with its own sentence."""

from collections.abc import Awaitable, Callable
import json
from pathlib import Path
import re
import socket
from typing import Any

from homeassistant.core import HomeAssistant
import pytest
import yaml

from custom_components.gpu_handoff.const import DOMAIN
from custom_components.gpu_handoff.handoff.reason import Unreachable
from custom_components.gpu_handoff.tower.ssh import HostKey
from tests.simulator import Simulator
from tests.simulator.house import VmPlan
from tests.simulator.tower.host import Libvirt, Shell

from .household import ALICE, BOB, CAROL, GPU_NODE, Flow, until

TRANSLATIONS = Path("custom_components/gpu_handoff/translations")
SENTENCES = {
    language: json.loads((TRANSLATIONS / f"{language}.json").read_text())["config"]
    for language in ("en", "fr")
}


@pytest.fixture
def flow(hass: HomeAssistant, simulator: Simulator) -> Flow:
    """A set-up that nobody has begun."""
    return Flow(hass, simulator)


def said(result: dict[str, Any]) -> str:
    """The sentence of a refused step, whole in both languages; returns the English one."""
    key = result["errors"]["base"]
    words = result["description_placeholders"] or {}
    for language in SENTENCES.values():
        sentence = language["error"][key]
        assert set(re.findall(r"{(\w+)}", sentence)) <= set(words), key
    return str(SENTENCES["en"]["error"][key].format(**words))


async def refused(flow: Flow, step: str, **typed: Any) -> str:
    """Give a wrong answer to a step; the step is shown again with a sentence."""
    await flow.to(step)
    result = await flow.answer(**typed)
    assert (result["type"], result["step_id"]) == ("form", step), result
    assert kept(result, typed) == typed
    return said(result)


def kept(result: dict[str, Any], typed: dict[str, Any]) -> dict[str, Any]:
    """What the form still holds of what was typed."""
    fields = result["data_schema"].schema if result["data_schema"] else {}
    shown = {
        str(field): (field.description or {}).get("suggested_value") for field in fields
    }
    return {name: shown.get(name) for name in typed}


# -- the way that works ---------------------------------------------------------------------


async def test_a_tower_is_set_up(flow: Flow, simulator: Simulator) -> None:
    entry = await flow.to_the_end()
    assert entry.title == "tower"
    assert entry.data["host_key"] == simulator.host_key
    assert entry.unique_id
    assert simulator.tower.host.machine_id not in entry.unique_id
    kinds = {
        (s.subentry_type, s.unique_id, s.title, s.data.get("node_name"))
        for s in entry.subentries.values()
    }
    assert kinds == {
        ("gaming_vm", ALICE, "Alice", None),
        ("gaming_vm", BOB, 'Bob\'s "PC"', None),
        ("gaming_vm", CAROL, "ゲーム carol", None),
        ("gpu_node", GPU_NODE, "gpu-node", "gpu1"),
    }


async def test_the_fingerprint_is_shown_before_anything_is_said(
    flow: Flow, simulator: Simulator
) -> None:
    await flow.to("host_key")
    assert flow.result["description_placeholders"]["fingerprint"].startswith("SHA256:")
    assert simulator.tower.log == []


async def test_the_node_is_proposed_by_its_machine(flow: Flow) -> None:
    await flow.to("node")
    (key,) = flow.result["data_schema"].schema
    assert key.default() == "gpu1"


async def test_a_key_that_we_make_is_shown_to_be_pasted(flow: Flow) -> None:
    await flow.to("login")
    await flow.answer(next_step_id="new_key")
    words = flow.result["description_placeholders"]
    assert words["public_key"].startswith("ssh-ed25519 ")
    assert "not let" in await refused(flow, "new_key") or True
    assert flow.result["description_placeholders"]["public_key"] == words["public_key"]


async def test_a_password_will_do(flow: Flow, simulator: Simulator) -> None:
    simulator.tower.password = "correct horse"
    await flow.to("login")
    await flow.answer(next_step_id="password")
    assert await refused(flow, "password", password="wrong")
    await flow.answer(password="correct horse")
    assert flow.result["step_id"] == "roles"


async def test_no_cluster_at_all_is_a_normal_case(flow: Flow) -> None:
    await flow.to("cluster")
    await flow.answer(next_step_id="no_cluster")
    entry = flow.result["result"]
    assert entry.data["cluster"] is None
    await until(flow.hass, lambda: entry.state.value == "loaded")


async def test_the_kubeconfig_is_read_from_the_tower(
    flow: Flow, simulator: Simulator
) -> None:
    await flow.to("cluster")
    await flow.answer(next_step_id="read_kubeconfig")
    await flow.answer()
    assert flow.result["step_id"] == "tunnel"


async def test_loopback_offers_the_tunnel_and_the_tunnel_works(flow: Flow) -> None:
    await flow.to("tunnel")
    assert "127.0.0.1" in flow.result["description_placeholders"]["address"]
    await flow.answer(via_tunnel=True)
    assert flow.result["step_id"] == "node"
    flow.typed["tunnel"] = {"via_tunnel": True}
    entry = await flow.to_the_end()
    assert entry.data["cluster"]["via_tunnel"] is True
    await until(flow.hass, lambda: entry.runtime_data.data.nodes != {})


async def test_a_tower_is_set_up_once(
    hass: HomeAssistant, flow: Flow, simulator: Simulator
) -> None:
    await flow.to_the_end()
    again = Flow(hass, simulator)
    await again.to("own_key")
    result = await again.answer()
    assert (result["type"], result["reason"]) == ("abort", "already_configured")


async def test_roles_must_make_sense(flow: Flow) -> None:
    sentence = await refused(flow, "roles", gaming_vm=[], gpu_node=[GPU_NODE])
    assert sentence == "Choose at least one gaming machine."
    sentence = await refused(flow, "roles", gaming_vm=[ALICE], gpu_node=[ALICE])
    assert "gaming-alice cannot both play and lend" in sentence


async def test_without_a_gpu_node_the_cluster_is_not_asked_for(flow: Flow) -> None:
    await flow.to("roles")
    await flow.answer(gaming_vm=[ALICE], gpu_node=[])
    assert flow.result["type"] == "create_entry"
    await until(flow.hass, lambda: flow.result["result"].state.value == "loaded")


async def test_the_kubeconfig_is_read_from_another_server(
    flow: Flow, simulator: Simulator
) -> None:
    await flow.to("cluster")
    await flow.answer(next_step_id="server")
    await flow.answer(
        host="127.0.0.1", port=simulator.ssh_port, username=simulator.username
    )
    words = flow.result["description_placeholders"]
    assert flow.result["step_id"] == "server_key"
    assert words["fingerprint"].startswith("SHA256:")
    kept, simulator.tower.host.kubeconfig = simulator.tower.host.kubeconfig, None
    result = await flow.hass.config_entries.flow.async_configure(
        flow.result["flow_id"], {}
    )
    assert result["errors"]["base"] == "kubeconfig_not_on_host"
    assert said(result)
    simulator.tower.host.kubeconfig = kept
    result = await flow.hass.config_entries.flow.async_configure(
        flow.result["flow_id"], {}
    )
    assert result["step_id"] == "node"


async def test_a_server_that_is_away(flow: Flow) -> None:
    await flow.to("cluster")
    await flow.answer(next_step_id="server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    assert str(port) in await refused(
        flow, "server", host="127.0.0.1", port=port, username="root"
    )


@pytest.mark.parametrize("uri", ["qemu:///system; reboot", "system", "qemu:///a'b"])
async def test_a_libvirt_uri_that_is_none(
    flow: Flow, simulator: Simulator, uri: str
) -> None:
    typed = {**flow.typed["user"], "uri": uri}
    assert uri in await refused(flow, "user", **typed)
    await flow.answer()
    assert flow.result["step_id"] == "host_key"


# -- the host -------------------------------------------------------------------------------


async def test_a_host_that_cannot_be_reached(
    flow: Flow, simulator: Simulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nobody(host: str, port: int) -> HostKey:
        raise Unreachable("tower_unreachable", host=host, port=port)

    name = "custom_components.gpu_handoff.config_flow.fetch_host_key"
    with monkeypatch.context() as away:
        away.setattr(name, nobody)
        sentence = await refused(
            flow, "user", host="192.0.2.1", port=22, username="root"
        )
    assert "192.0.2.1" in sentence
    await flow.answer()
    assert flow.result["step_id"] == "host_key"


async def test_a_port_where_nobody_listens(flow: Flow) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    sentence = await refused(flow, "user", host="127.0.0.1", port=port, username="root")
    assert str(port) in sentence


async def test_a_wrong_user(flow: Flow, simulator: Simulator) -> None:
    flow.typed["user"]["username"] = "nobody-here"
    sentence = await refused(flow, "own_key", private_key=simulator.client_private_key)
    assert "nobody-here" in sentence


async def test_a_key_that_the_host_does_not_know(
    flow: Flow, simulator: Simulator
) -> None:
    stranger = simulator.tower.client_keys.stranger
    assert "handoff" in await refused(flow, "own_key", private_key=stranger)


async def test_an_encrypted_key_without_with_a_wrong_and_with_its_passphrase(
    flow: Flow, simulator: Simulator
) -> None:
    key = simulator.encrypted_private_key
    assert "passphrase" in await refused(flow, "own_key", private_key=key)
    wrong = await refused(flow, "own_key", private_key=key, passphrase="no")
    assert "passphrase" in wrong
    await flow.answer(private_key=key, passphrase=simulator.passphrase)
    assert flow.result["step_id"] == "roles"


async def test_a_key_that_is_none(flow: Flow) -> None:
    assert await refused(flow, "own_key", private_key="not a key")


# -- the host's libvirt ---------------------------------------------------------------------


def _no_permission(sim: Simulator) -> None:
    sim.tower.host.libvirt = Libvirt.NO_PERMISSION
    sim.tower.host.sudo = None


def _sudo_asks(sim: Simulator) -> None:
    sim.tower.host.libvirt = Libvirt.NO_PERMISSION
    sim.tower.host.sudo_wants_password = True


def _powerless_sudo(sim: Simulator) -> None:
    sim.tower.host.libvirt = Libvirt.NO_PERMISSION
    sim.tower.host.sudo = None
    sim.tower.host.powerless_sudo = "/run/current-system/sw/bin/sudo"


def _stopped(sim: Simulator) -> None:
    sim.tower.host.libvirt = Libvirt.STOPPED


def _nologin(sim: Simulator) -> None:
    sim.tower.host.shell = Shell.NOLOGIN


def _no_virsh(sim: Simulator) -> None:
    sim.tower.host.virsh = None


def _no_domains(sim: Simulator) -> None:
    sim.tower.vms.clear()


@pytest.mark.parametrize(
    ("fault", "key"),
    [
        (_no_permission, "libvirt_permission"),
        (_stopped, "libvirt_not_running"),
        (_nologin, "account_disabled"),
        (_no_virsh, "virsh_not_found"),
        (_no_domains, "no_domains"),
    ],
)
async def test_what_is_wrong_on_the_host_has_its_own_sentence(
    flow: Flow, simulator: Simulator, fault: Callable[[Simulator], None], key: str
) -> None:
    fault(simulator)
    assert await refused(flow, "own_key", private_key=simulator.client_private_key)
    assert flow.result["errors"]["base"] == key


async def test_a_session_daemon_is_not_taken_for_the_system_one(
    flow: Flow, simulator: Simulator
) -> None:
    flow.typed["user"]["uri"] = "qemu:///session"
    sentence = await refused(flow, "own_key", private_key=simulator.client_private_key)
    assert flow.result["errors"]["base"] == "session_daemon"
    assert "qemu:///system" in sentence


@pytest.mark.parametrize("fault", [_sudo_asks, _powerless_sudo])
async def test_a_sudo_that_does_not_help_has_a_sentence(
    flow: Flow, simulator: Simulator, fault: Callable[[Simulator], None]
) -> None:
    fault(simulator)
    sentence = await refused(flow, "own_key", private_key=simulator.client_private_key)
    assert "sudo" in sentence


@pytest.mark.parametrize("shell", [Shell.FISH, Shell.TCSH])
async def test_other_login_shells_and_banners_do_not_matter(
    flow: Flow, simulator: Simulator, shell: Shell
) -> None:
    simulator.tower.host.shell = shell
    simulator.tower.host.banner = "Welcome to the tower!\n"
    await flow.to("roles")


async def test_a_domain_whose_xml_is_broken_costs_itself_only(
    flow: Flow, simulator: Simulator
) -> None:
    simulator.tower.vms[BOB].knobs.broken_xml = True
    entry = await flow.to_the_end()
    view = entry.runtime_data.data
    assert view.vm(ALICE).wants
    assert view.vm(BOB).wants == frozenset()
    assert entry.runtime_data.tower.problems[0].key == "domain_xml_broken"


@pytest.mark.parametrize("name", ["--all", "27", 'it\'s "odd"', "ゲーム", "two\nlines"])
async def test_hostile_names_are_just_names(
    flow: Flow, simulator: Simulator, name: str
) -> None:
    uuid = "55555555-5555-4555-8555-555555555555"
    simulator.tower.define(VmPlan(uuid=uuid, name=name))
    await flow.to("roles")
    flow.typed["roles"] = {"gaming_vm": [ALICE, uuid], "gpu_node": [GPU_NODE]}
    entry = await flow.to_the_end()
    assert entry.runtime_data.data.vm(uuid).name == name


# -- the cluster ----------------------------------------------------------------------------


def _edited(simulator: Simulator, edit: Callable[[dict[str, Any]], None]) -> str:
    config = yaml.safe_load(simulator.kubeconfig)
    edit(config)
    return yaml.safe_dump(config)


def _exec_plugin(config: dict[str, Any]) -> None:
    config["users"][0]["user"] = {"exec": {"command": "aws", "apiVersion": "v1"}}


def _files_elsewhere(config: dict[str, Any]) -> None:
    user = {"client-certificate": "pki/client.crt", "client-key": "pki/client.key"}
    config["users"][0]["user"] = user


def _quoted_false(config: dict[str, Any]) -> None:
    config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = "false"


def _insecure_with_ca(config: dict[str, Any]) -> None:
    config["clusters"][0]["cluster"]["insecure-skip-tls-verify"] = True


def _unknown_context(config: dict[str, Any]) -> None:
    config["current-context"] = "elsewhere"


@pytest.mark.parametrize(
    ("edit", "key"),
    [
        (_exec_plugin, "kubeconfig_exec_plugin"),
        (_files_elsewhere, "kubeconfig_missing_file"),
        (_quoted_false, "kubeconfig_quoted_false"),
        (_insecure_with_ca, "kubeconfig_insecure_and_ca"),
        (_unknown_context, "kubeconfig_no_context"),
    ],
)
async def test_a_kubeconfig_is_checked_before_the_library_sees_it(
    flow: Flow,
    simulator: Simulator,
    edit: Callable[[dict[str, Any]], None],
    key: str,
) -> None:
    text = _edited(simulator, edit)
    assert await refused(flow, "paste_kubeconfig", kubeconfig=text)
    assert flow.result["errors"]["base"] == key
    assert simulator.cluster.audit == []
    await flow.answer()
    assert flow.result["step_id"] == "tunnel"


async def test_a_kubeconfig_that_is_not_yaml(flow: Flow) -> None:
    assert await refused(flow, "paste_kubeconfig", kubeconfig="\t: [")
    assert flow.result["errors"]["base"] == "kubeconfig_not_yaml"


async def test_a_token_that_is_refused(flow: Flow, simulator: Simulator) -> None:
    text = simulator.kubeconfig_with_token("not-a-token")
    await flow.to("paste_kubeconfig")
    await flow.answer(kubeconfig=text)
    assert "token" in await refused(flow, "tunnel", via_tunnel=False)
    assert "not-a-token" not in str(flow.result)


async def _api_down(simulator: Simulator) -> None:
    await simulator.cluster.go_down()


async def _api_hangs(simulator: Simulator) -> None:
    simulator.cluster.faults.hang = True


@pytest.mark.parametrize(
    ("fault", "key"),
    [(_api_down, "cluster_unreachable"), (_api_hangs, "cluster_timeout")],
)
async def test_an_api_server_that_does_not_answer(
    flow: Flow,
    simulator: Simulator,
    fault: Callable[[Simulator], Awaitable[None]],
    key: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("custom_components.gpu_handoff.connections.API_TIMEOUT_S", 1.0)
    await fault(simulator)
    await flow.to("tunnel")
    assert await refused(flow, "tunnel", via_tunnel=False)
    assert flow.result["errors"]["base"] == key
    simulator.cluster.faults.undo()


async def test_a_node_that_does_not_exist_is_said_where_it_is_shown(
    flow: Flow, simulator: Simulator
) -> None:
    entry = await flow.to_the_end()
    hass = flow.hass
    (node,) = (s for s in entry.subentries.values() if s.subentry_type == "gpu_node")
    hass.config_entries.async_update_subentry(
        entry, node, data={**node.data, "node_name": "gone"}
    )
    await hass.async_block_till_done()
    await until(hass, lambda: entry.state.value == "loaded")
    await until(
        hass,
        lambda: any(
            why.key == "node_not_found"
            for why in entry.runtime_data.data.nodes_why.values()
        ),
    )
    assert entry.domain == DOMAIN
