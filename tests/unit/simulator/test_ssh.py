"""The SSH server: who gets in, what a host may answer, and how it may fail."""

import asyncio

import asyncssh
import pytest

from custom_components.gpu_handoff.tower.commands import HostContext, command_line
from tests.simulator import ALICE, GPU_NODE, Simulator
from tests.simulator.tower.host import Libvirt, Shell

BEGIN = "<<</gpu-handoff>>>\n"


async def log_in(sim: Simulator, **options: object) -> asyncssh.SSHClientConnection:
    known = ([asyncssh.import_public_key(sim.host_key)], [], [])
    settings = {"username": sim.username, "known_hosts": known, "config": None}
    return await asyncssh.connect(
        sim.ssh_host, sim.ssh_port, **(settings | {"client_keys": None} | options)
    )


async def test_a_request_is_answered(ssh: asyncssh.SSHClientConnection) -> None:
    answer = await ssh.run(command_line("ping"))
    assert (answer.stdout, answer.exit_status) == (BEGIN, 0)


async def test_a_forced_command_takes_the_verb_alone(
    ssh: asyncssh.SSHClientConnection,
) -> None:
    answer = await ssh.run(f"refresh {GPU_NODE}")
    assert f"<<</state {GPU_NODE}>>>Domain: 'gpu-node'" in str(answer.stdout)


async def test_anything_else_is_not_found(ssh: asyncssh.SSHClientConnection) -> None:
    answer = await ssh.run("rm -rf /")
    assert (answer.stdout, answer.exit_status) == ("", 127)


async def test_the_eleventh_session_is_refused(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.faults.hang = True
    for _ in range(10):
        await ssh.create_process("ping")
    with pytest.raises(asyncssh.ChannelOpenError):
        await ssh.create_process("ping")


async def test_a_stranger_is_not_let_in(sim: Simulator) -> None:
    key = asyncssh.import_private_key(sim.tower.client_keys.stranger)
    with pytest.raises(asyncssh.PermissionDenied):
        await log_in(sim, client_keys=[key])


async def test_another_user_is_not_let_in(sim: Simulator) -> None:
    key = asyncssh.import_private_key(sim.client_private_key)
    with pytest.raises(asyncssh.PermissionDenied):
        await log_in(sim, client_keys=[key], username="root")


async def test_a_password_may_be_allowed(sim: Simulator) -> None:
    sim.tower.password = "swordfish"
    connection = await log_in(sim, password="swordfish")
    connection.close()


async def test_the_encrypted_key_opens_with_its_passphrase(sim: Simulator) -> None:
    key = asyncssh.import_private_key(sim.encrypted_private_key, sim.passphrase)
    connection = await log_in(sim, client_keys=[key])
    connection.close()


async def test_a_reinstalled_host_has_another_key_on_the_same_port(
    sim: Simulator,
) -> None:
    key, port = sim.host_key, sim.ssh_port
    await sim.tower.change_host_key()
    assert sim.ssh_port == port
    assert sim.host_key != key


async def test_a_host_that_is_down_refuses_and_comes_back(sim: Simulator) -> None:
    await sim.tower.refuse()
    with pytest.raises(ConnectionRefusedError):
        await log_in(sim)
    await sim.tower.accept()
    key = asyncssh.import_private_key(sim.client_private_key)
    connection = await log_in(sim, client_keys=[key])
    connection.close()


async def test_a_frozen_host_says_nothing(sim: Simulator) -> None:
    await sim.tower.fall_silent()
    reader, writer = await asyncio.open_connection(sim.ssh_host, sim.ssh_port)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(reader.read(1), 0.1)
    writer.close()
    await sim.tower.speak_again()


async def test_a_cut_answer_ends_without_a_status(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.faults.cut.add("hello")
    answer = await ssh.run("hello")
    assert answer.exit_status is None
    assert str(answer.stdout).startswith(BEGIN)


async def test_an_act_goes_on_when_its_connection_is_lost(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    await ssh.create_process(f"shutdown-agent {GPU_NODE}")
    await asyncio.sleep(0.02)
    await sim.tower.drop()
    await sim.clock.sleep(8)
    assert sim.tower.vms[GPU_NODE].power == "shut off"


async def test_the_event_stream_ends_with_the_daemon(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    async with ssh.create_process("events") as stream:
        assert await stream.stdout.readline() == BEGIN
        assert await stream.stdout.readline() == "qemu:///system\n"
        await sim.tower.virsh("suspend", GPU_NODE)
        assert "Suspended Paused" in await stream.stdout.readline()
        sim.tower.stop_libvirt()
        assert await stream.stdout.read() == "events received: 1\n"
        assert "Disconnected from qemu:///system" in await stream.stderr.read()
        assert (await stream.wait()).exit_status == 1


async def test_the_event_stream_ends_with_its_standard_input(
    ssh: asyncssh.SSHClientConnection,
) -> None:
    async with ssh.create_process("events") as stream:
        await stream.stdout.readline()
        stream.stdin.write_eof()
        assert (await stream.wait()).exit_status == 143


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (Libvirt.STOPPED, "No such file or directory"),
        (Libvirt.NO_PERMISSION, "Permission denied"),
        (Libvirt.NO_POLKIT_AGENT, "no polkit agent available"),
    ],
)
async def test_a_daemon_that_cannot_be_reached_says_why(
    sim: Simulator, ssh: asyncssh.SSHClientConnection, state: Libvirt, words: str
) -> None:
    sim.tower.host.libvirt = state
    answer = await ssh.run("refresh")
    assert answer.exit_status == 1
    assert words in str(answer.stderr)


async def test_sudo_reaches_a_daemon_that_the_user_may_not(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.host.libvirt = Libvirt.NO_PERMISSION
    context = HostContext(sudo="/usr/bin/sudo")
    assert (await ssh.run(command_line("refresh", (), context))).exit_status == 0
    sim.tower.host.sudo_wants_password = True
    answer = await ssh.run(command_line("refresh", (), context))
    assert answer.stderr == "sudo: a password is required\n"


async def test_a_sudo_that_is_not_setuid_says_so(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    path = "/run/current-system/sw/bin/sudo"
    sim.tower.host.powerless_sudo = path
    answer = await ssh.run(command_line("refresh", (), HostContext(sudo=path)))
    assert "must be owned by uid 0 and have the setuid bit set" in str(answer.stderr)


async def test_the_session_daemon_knows_no_domains(
    ssh: asyncssh.SSHClientConnection,
) -> None:
    context = HostContext(uri="qemu:///session")
    answer = await ssh.run(command_line("refresh", (), context))
    assert answer.exit_status == 0
    assert GPU_NODE not in str(answer.stdout)


async def test_a_host_without_virsh_answers_127(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.host.virsh = None
    answer = await ssh.run(command_line("refresh"))
    assert answer.exit_status == 127


async def test_an_account_that_may_not_log_in_says_so_on_stdout(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.host.shell = Shell.NOLOGIN
    answer = await ssh.run(command_line("hello"))
    assert answer.stdout == "This account is currently not available.\n"


@pytest.mark.parametrize("shell", [Shell.FISH, Shell.TCSH])
async def test_a_request_survives_any_login_shell(
    sim: Simulator, ssh: asyncssh.SSHClientConnection, shell: Shell
) -> None:
    sim.tower.host.shell = shell
    assert (await ssh.run(command_line("hello"))).exit_status == 0


async def test_a_banner_comes_first(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    sim.tower.host.banner = "Welcome!\n"
    assert (await ssh.run("ping")).stdout == f"Welcome!\n{BEGIN}"


async def test_the_log_tells_what_was_asked(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    await ssh.run(f"start {ALICE}")
    assert [(verb, args) for _, verb, args in sim.tower.log] == [("start", (ALICE,))]


async def test_ports_are_forwarded(
    sim: Simulator, ssh: asyncssh.SSHClientConnection
) -> None:
    _, writer = await ssh.open_connection("127.0.0.1", sim.api_port)
    writer.close()
    sim.tower.faults.no_tunnel = True
    with pytest.raises(asyncssh.ChannelOpenError):
        await ssh.open_connection("127.0.0.1", sim.api_port)
