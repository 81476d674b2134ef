"""The connection, against a real SSH server on loopback."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
import os
from pathlib import Path
import shutil

import asyncssh
import pytest

from custom_components.gpu_handoff.tower import commands, ssh, wire
from custom_components.gpu_handoff.tower.commands import HostContext, Verb
from custom_components.gpu_handoff.tower.errors import (
    HostKeyChanged,
    LoginRefused,
    Unreachable,
)
from custom_components.gpu_handoff.tower.forced_command import script
from custom_components.gpu_handoff.tower.hello import read_hello
from custom_components.gpu_handoff.tower.ssh import (
    Connection,
    fetch_host_key,
    generate_key_pair,
)

from .cast import ALICE
from .shell_host import ShellHost
from .sshd import PASSWORD, Sshd, serving


@pytest.fixture
async def sshd() -> AsyncIterator[Sshd]:
    async with serving() as server:
        yield server


@asynccontextmanager
async def connected(sshd: Sshd, **changed: object) -> AsyncIterator[Connection]:
    connection = Connection(sshd.credentials(**changed), connect_timeout_s=5)
    try:
        yield connection
    finally:
        await connection.close()


@pytest.fixture
async def connection(sshd: Sshd) -> AsyncIterator[Connection]:
    async with connected(sshd) as opened:
        yield opened


async def refusal(sshd: Sshd, **changed: object) -> Unreachable:
    async with connected(sshd, **changed) as connection:
        with pytest.raises(Unreachable) as caught:
            await connection.run("ping")
    return caught.value


async def until_open(sshd: Sshd, count: int) -> None:
    async with asyncio.timeout(5):
        while sshd.open_now != count:
            await asyncio.sleep(0.005)


async def test_a_request_is_answered(connection: Connection) -> None:
    answer = await connection.run("hello")
    assert read_hello(answer.stdout).uid >= 0
    assert answer.exit_status == 0


async def test_many_requests_are_one_connection(
    sshd: Sshd, connection: Connection
) -> None:
    await asyncio.gather(*(connection.run("ping") for _ in range(10)))
    await connection.run("ping")
    assert len(sshd.connections) == 1


async def test_channels_stay_below_what_sshd_allows(
    sshd: Sshd, connection: Connection
) -> None:
    await asyncio.gather(*(connection.run("ping") for _ in range(20)))
    assert sshd.open_at_most <= 4


async def test_a_banner_of_the_login_is_cut_off(
    sshd: Sshd, connection: Connection
) -> None:
    sshd.banner = "Last login: never. \x1b[1mWelcome\x1b[0m "
    assert (await connection.run("ping")).stdout == ""


@pytest.mark.parametrize("shell", ["fish", "tcsh", "bash", "dash"])
async def test_any_login_shell_will_do(
    sshd: Sshd, connection: Connection, shell: str
) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"{shell} is not installed")
    sshd.shell = path
    assert read_hello((await connection.run("hello")).stdout).uid >= 0


async def test_an_account_that_may_not_log_in_is_said(
    sshd: Sshd, connection: Connection, tmp_path: Path
) -> None:
    shell = tmp_path / "nologin"
    shell.write_text(
        "#!/bin/sh\necho This account is currently not available.\nexit 1\n"
    )
    shell.chmod(0o755)
    sshd.shell = str(shell)
    with pytest.raises(Unreachable, match="account_disabled"):
        await connection.run("ping")
    with pytest.raises(Unreachable, match="account_disabled"):
        async with connection.stream("events"):
            pass


async def test_a_forced_command_is_told_the_verb_only(
    sshd: Sshd, tmp_path: Path
) -> None:
    shell = tmp_path / "forced"
    shell.write_text('#!/bin/sh\necho "<<</gpu-handoff>>>"; echo "$2"\n')
    shell.chmod(0o755)
    sshd.shell = str(shell)
    async with connected(sshd, forced_command=True) as connection:
        assert (await connection.run("start", ALICE)).stdout == f"start {ALICE}\n"


async def test_an_account_with_our_forced_command_is_recognised(
    sshd: Sshd, connection: Connection, tmp_path: Path, virsh: ShellHost
) -> None:
    forced = tmp_path / "gpu-handoff"
    forced.write_text(script(HostContext()))
    shell = tmp_path / "shell"
    shell.write_text(
        f'#!/bin/sh\nSSH_ORIGINAL_COMMAND="$2"; export SSH_ORIGINAL_COMMAND\n'
        f"exec /bin/sh {forced}\n"
    )
    shell.chmod(0o755)
    sshd.shell = str(shell)
    async with connection.stream("events") as stream:
        assert await anext(stream.lines()) == "qemu:///system"
    await connection.run("start", ALICE)
    assert sshd.commands[1:] == ["ping", "events", f"start {ALICE}"]


async def test_a_changed_host_key_is_refused_with_both_fingerprints(
    sshd: Sshd,
) -> None:
    pinned = asyncssh.generate_private_key("ssh-ed25519")
    error = await refusal(
        sshd, host_key=pinned.export_public_key().decode(), password=PASSWORD
    )
    assert isinstance(error, HostKeyChanged)
    assert error.reason.key == "host_key_changed"
    assert error.reason.placeholders["expected"] == pinned.get_fingerprint()
    assert error.reason.placeholders["got"] == sshd.host_keys[0].get_fingerprint()
    assert sshd.commands == []


async def test_a_host_that_lost_the_pinned_kind_of_key_has_changed_its_key(
    sshd: Sshd,
) -> None:
    pinned = asyncssh.generate_private_key("ecdsa-sha2-nistp256")
    error = await refusal(sshd, host_key=pinned.export_public_key().decode())
    assert isinstance(error, HostKeyChanged)


@pytest.mark.parametrize("kind", ["ecdsa-sha2-nistp256", "ssh-rsa"])
async def test_a_host_with_several_keys_shows_the_pinned_one(kind: str) -> None:
    async with serving() as sshd:
        await sshd.stop()
        sshd.host_keys.append(asyncssh.generate_private_key(kind))
        await sshd.listen()
        pinned = sshd.host_keys[1].export_public_key().decode()
        async with connected(sshd, host_key=pinned) as connection:
            await connection.run("ping")


async def test_a_pinned_key_that_is_none_is_a_sentence(sshd: Sshd) -> None:
    error = await refusal(sshd, host_key="ssh-ed25519 junk")
    assert error.reason.key == "host_key_unreadable"


async def test_a_host_shows_its_key_before_anybody_logs_in(sshd: Sshd) -> None:
    key = await fetch_host_key("127.0.0.1", sshd.port)
    assert key.line == sshd.host_key
    assert key.fingerprint == sshd.host_keys[0].get_fingerprint()
    assert key.fingerprint.startswith("SHA256:")


async def test_the_wrong_key_is_refused(sshd: Sshd) -> None:
    error = await refusal(sshd, private_key=generate_key_pair().private)
    assert isinstance(error, LoginRefused)
    assert error.reason.key == "login_refused"
    assert error.reason.placeholders == {"user": "games", "host": "127.0.0.1"}


async def test_a_password_lets_in(sshd: Sshd) -> None:
    async with connected(sshd, private_key=None, password=PASSWORD) as connection:
        await connection.run("ping")


@pytest.mark.parametrize(
    "changed",
    [
        {"private_key": None, "password": "wrong"},
        {"private_key": None, "password": PASSWORD, "username": "nobody"},
        {"private_key": None},
    ],
)
async def test_the_wrong_password_or_user_is_refused(
    sshd: Sshd, changed: dict[str, object]
) -> None:
    assert isinstance(await refusal(sshd, **changed), LoginRefused)


async def test_our_own_key_pair_lets_in(sshd: Sshd) -> None:
    pair = generate_key_pair()
    sshd.user_key = asyncssh.import_private_key(pair.private)
    public = sshd.user_key.export_public_key().decode().split()[:2]
    assert pair.public.split() == [*public, "gpu-handoff"]
    await sshd.stop()
    await sshd.listen()
    async with connected(sshd, private_key=pair.private) as connection:
        await connection.run("ping")


@pytest.fixture
def encrypted(sshd: Sshd) -> str:
    key = sshd.user_key.export_private_key(passphrase="open sesame")
    return key.decode()


async def test_a_key_with_a_passphrase_lets_in(sshd: Sshd, encrypted: str) -> None:
    pasted = encrypted.replace("\n", "\r\n")
    async with connected(
        sshd, private_key=pasted, passphrase="open sesame"
    ) as connection:
        await connection.run("ping")


@pytest.mark.parametrize(
    ("passphrase", "key"),
    [
        (None, "key_needs_passphrase"),
        ("", "key_needs_passphrase"),
        ("wrong", "passphrase_wrong"),
    ],
)
async def test_a_passphrase_that_is_missing_or_wrong_is_said(
    sshd: Sshd, encrypted: str, passphrase: str | None, key: str
) -> None:
    error = await refusal(sshd, private_key=encrypted, passphrase=passphrase)
    assert isinstance(error, LoginRefused)
    assert error.reason.key == key


@pytest.mark.parametrize("kind", ["pkcs8-pem", "pkcs1-pem"])
async def test_a_passphrase_of_an_older_key_file_is_said(sshd: Sshd, kind: str) -> None:
    key = asyncssh.generate_private_key("ssh-rsa")
    text = key.export_private_key(kind, passphrase="open").decode()
    missing = await refusal(sshd, private_key=text)
    assert missing.reason.key == "key_needs_passphrase"
    wrong = await refusal(sshd, private_key=text, passphrase="wrong")
    assert wrong.reason.key == "passphrase_wrong"


@pytest.mark.parametrize(
    "text", ["PuTTY-User-Key-File-3: ssh-ed25519", "junk", "ssh-ed25519 AAAA", "ключ"]
)
async def test_what_is_no_private_key_is_said(sshd: Sshd, text: str) -> None:
    error = await refusal(sshd, private_key=text)
    assert error.reason.key == "key_unreadable"
    assert text not in str(error)


async def test_a_closed_port_is_said(sshd: Sshd) -> None:
    await sshd.stop()
    assert (await refusal(sshd)).reason.key == "tower_port_closed"
    with pytest.raises(Unreachable, match="tower_port_closed"):
        await fetch_host_key("127.0.0.1", sshd.port)


async def test_a_closed_port_of_a_name_with_two_addresses_is_said(sshd: Sshd) -> None:
    await sshd.stop()
    assert (await refusal(sshd, host="localhost")).reason.key == "tower_port_closed"


async def test_a_name_whose_every_address_refuses_is_a_closed_port(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def connect(*_: object, **__: object) -> None:
        raise OSError(
            "Multiple exceptions: [Errno 111] Connect call failed ('::1', 22, 0, 0),"
            " [Errno 111] Connect call failed ('127.0.0.1', 22)"
        )

    monkeypatch.setattr(asyncssh, "connect", connect)
    assert (await refusal(sshd)).reason.key == "tower_port_closed"


async def test_an_address_that_cannot_be_reached_is_said(sshd: Sshd) -> None:
    error = await refusal(sshd, host="255.255.255.255")
    assert error.reason.key == "tower_unreachable"


async def test_a_host_without_a_key_is_no_ssh_server(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def no_key(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(asyncssh, "get_server_host_key", no_key)
    with pytest.raises(Unreachable, match="tower_not_ssh"):
        await fetch_host_key("127.0.0.1", sshd.port)


async def test_a_name_that_nobody_knows_is_said(sshd: Sshd) -> None:
    error = await refusal(sshd, host="tower.invalid")
    assert error.reason.key == "tower_name_unknown"


@asynccontextmanager
async def other_server(says: bytes) -> AsyncIterator[int]:
    """A server that is no SSH server."""
    silent = []

    async def came(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        silent.append(writer)
        if says:
            writer.write(says)
            writer.close()

    server = await asyncio.start_server(came, "127.0.0.1", 0)
    async with server:
        yield server.sockets[0].getsockname()[1]
        for writer in silent:
            writer.close()


async def test_a_port_where_no_ssh_answers_is_said(sshd: Sshd) -> None:
    async with other_server(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert (await refusal(sshd, port=port)).reason.key == "tower_not_ssh"
        with pytest.raises(Unreachable, match="tower_not_ssh"):
            await fetch_host_key("127.0.0.1", port)


async def test_a_host_that_says_nothing_is_unreachable(sshd: Sshd) -> None:
    async with other_server(b"") as port:
        connection = Connection(sshd.credentials(port=port), connect_timeout_s=0.1)
        with pytest.raises(Unreachable, match="tower_unreachable"):
            await connection.run("ping")
        with pytest.raises(Unreachable, match="tower_unreachable"):
            await fetch_host_key("127.0.0.1", port, timeout_s=0.1)
        await connection.close()


async def test_neither_agent_nor_the_users_own_settings_are_used(
    sshd: Sshd, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    async def agent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(1)
        writer.close()

    ssh = tmp_path / ".ssh"
    ssh.mkdir()
    (ssh / "config").write_text(
        "Host *\n  Port 1\n  User somebody\n  ProxyCommand false\n"
    )
    (ssh / "known_hosts").write_text("* ssh-ed25519 junk\n")
    (ssh / "id_ed25519").write_text(sshd.private_key)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SSH_AUTH_SOCK", str(tmp_path / "agent"))
    async with await asyncio.start_unix_server(agent, tmp_path / "agent"):
        async with connected(sshd) as connection:
            await connection.run("ping")
        other = generate_key_pair().private
        assert isinstance(await refusal(sshd, private_key=other), LoginRefused)
        assert isinstance(await refusal(sshd, private_key=None), LoginRefused)
    assert asked == []


SLOW = {
    "ping": Verb(name="ping", script="echo half; sleep 20", timeout_s=20),
}


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(commands.VERBS, "ping", SLOW["ping"])  # type: ignore[arg-type]


@pytest.mark.usefixtures("slow")
async def test_a_connection_lost_on_the_way_is_an_unknown_outcome(
    sshd: Sshd, connection: Connection
) -> None:
    asking = asyncio.create_task(connection.run("ping"))
    await until_open(sshd, 1)
    await asyncio.sleep(0.1)
    sshd.drop_all()
    answer = await asking
    assert answer.exit_status is None
    assert answer.stdout == "half\n"


async def test_a_lost_connection_is_opened_again(
    sshd: Sshd, connection: Connection
) -> None:
    await connection.run("ping")
    sshd.drop_all()
    await asyncio.sleep(0.05)
    await connection.run("ping")
    assert len(sshd.connections) == 1


@pytest.mark.usefixtures("slow")
async def test_we_give_up_ourselves_where_the_host_does_not(
    sshd: Sshd, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connection.run("hello")
    monkeypatch.setattr(Verb, "local_timeout_s", 0.1)
    with pytest.raises(Unreachable) as caught:
        await connection.run("ping")
    assert caught.value.reason.key == "tower_timeout"
    assert caught.value.reason.placeholders["request"] == "ping"


async def test_the_host_gives_up_before_that(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    verb = Verb(name="ping", script="$t sleep 20", timeout_s=1)
    monkeypatch.setitem(commands.VERBS, "ping", verb)  # type: ignore[arg-type]
    assert (await connection.run("ping")).exit_status == 124


async def test_a_host_with_no_room_for_a_session_says_so(
    sshd: Sshd, connection: Connection
) -> None:
    await connection.run("ping")
    sshd.refuses_sessions = True
    with pytest.raises(Unreachable, match="too_many_sessions"):
        await connection.run("ping")
    with pytest.raises(Unreachable, match="too_many_sessions"):
        async with connection.stream("events"):
            pass


async def test_an_order_that_blocks_leaves_the_way_free_for_questions(
    sshd: Sshd, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    blocks = Verb(name="start", script="sleep 20", timeout_s=20, lane=commands.Lane.ACT)
    monkeypatch.setitem(commands.VERBS, "start", blocks)  # type: ignore[arg-type]
    acts = [asyncio.create_task(connection.run("start", ALICE)) for _ in range(5)]
    await until_open(sshd, 3)
    await connection.run("ping")
    for act in acts:
        act.cancel()
    await asyncio.gather(*acts, return_exceptions=True)


@pytest.fixture
def virsh(sshd: Sshd, tmp_path: Path) -> ShellHost:
    host = ShellHost(tmp_path)
    sshd.environment = host.environment
    return host


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


async def test_events_are_heard_line_by_line(
    connection: Connection, virsh: ShellHost
) -> None:
    virsh.write("events", "first\nsecond 'ゲーム'\n")
    async with connection.stream("events") as stream:
        lines = stream.lines()
        said = [await anext(lines) for _ in range(3)]
        await lines.aclose()
    assert said == ["qemu:///system", "first", "second 'ゲーム'"]


async def test_leaving_the_events_ends_virsh_on_the_host(
    connection: Connection, virsh: ShellHost
) -> None:
    """Without that it would stay until its next line, perhaps for an hour."""
    async with connection.stream("events") as stream:
        async for _ in stream.lines():
            break
        pid = int((virsh.root / "event.pid").read_text())
        assert alive(pid)
    async with asyncio.timeout(5):
        while alive(pid):
            await asyncio.sleep(0.01)


async def test_a_lost_connection_ends_the_events_on_both_sides(
    sshd: Sshd, connection: Connection, virsh: ShellHost
) -> None:
    async with connection.stream("events") as stream:
        lines = stream.lines()
        await anext(lines)
        sshd.drop_all()
        with pytest.raises(Unreachable, match="connection_lost"):
            await anext(lines)
    pid = int((virsh.root / "event.pid").read_text())
    async with asyncio.timeout(5):
        while alive(pid):
            await asyncio.sleep(0.01)


async def test_why_the_events_ended_is_known(
    connection: Connection, virsh: ShellHost
) -> None:
    virsh.program("virsh", '#!/bin/sh\necho "error: no" >&2\nexit 1\n')
    async with connection.stream("events") as stream:
        assert [line async for line in stream.lines()] == []
        ended = await stream.ended()
    assert (ended.stderr, ended.exit_status) == ("error: no\n", 1)


async def test_events_that_never_begin_are_given_up(
    sshd: Sshd, monkeypatch: pytest.MonkeyPatch
) -> None:
    silent = 'u="%(uri)s%(virsh)s%(sudo)s%(nowait)s%(timeout_s)d"; sleep 3;'
    connection = Connection(sshd.credentials(), connect_timeout_s=0.2)
    await connection.run("ping")
    monkeypatch.setattr(commands.scripts, "PREAMBLE", silent)
    with pytest.raises(Unreachable, match="tower_timeout"):
        async with connection.stream("events"):
            pass
    await connection.close()


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Say everything back, then end."""
    writer.write(await reader.read())
    await writer.drain()
    writer.close()


async def say(port: int, text: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(text)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_a_local_port_leads_through_the_host(
    sshd: Sshd, connection: Connection
) -> None:
    async with await asyncio.start_server(echo, "127.0.0.1", 0) as server:
        far = server.sockets[0].getsockname()[1]
        port, close = await connection.forward_local("127.0.0.1", far)
        big = os.urandom(300_000)
        answers = await asyncio.gather(say(port, b"one"), say(port, big))
        assert answers == [b"one", big]
        sshd.drop_all()
        await asyncio.sleep(0.05)
        assert await say(port, b"after a loss") == b"after a loss"
        await close()
        with pytest.raises(OSError, match="Connect call failed"):
            await say(port, b"x")


async def test_a_local_port_to_nowhere_just_ends(
    sshd: Sshd, connection: Connection
) -> None:
    port, _ = await connection.forward_local("127.0.0.1", 1)
    assert await say(port, b"x") == b""
    with pytest.raises(Unreachable, match="tunnel_refused"):
        await connection.open_tcp("127.0.0.1", 1)


async def test_closing_ends_what_goes_through_a_local_port(
    connection: Connection,
) -> None:
    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        far = server.sockets[0].getsockname()[1]
        port, _ = await connection.forward_local("127.0.0.1", far)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x")
        await asyncio.sleep(0.05)
        await connection.close()
        assert await reader.read() == b""
        writer.close()


async def test_a_connection_lost_under_a_local_port_ends_its_use_quietly(
    sshd: Sshd, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    async def mute(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
        await reader.read()

    async with await asyncio.start_server(mute, "127.0.0.1", 0) as server:
        far = server.sockets[0].getsockname()[1]
        port, close = await connection.forward_local("127.0.0.1", far)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"x")
        await asyncio.sleep(0.05)
        sshd.drop_all()
        assert await reader.read() == b""
        writer.close()
        await close()
    assert "Unhandled" not in caplog.text


async def test_a_host_that_does_not_say_goodbye_is_left(
    connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await connection.run("ping")
    monkeypatch.setattr(ssh, "_GOODBYE_S", 0.01)
    monkeypatch.setattr(wire.Link, "close", lambda _: asyncio.sleep(20))
    await connection.close()


async def test_a_closed_connection_is_not_opened_again(
    sshd: Sshd, connection: Connection
) -> None:
    await connection.run("ping")
    await connection.close()
    with pytest.raises(Unreachable, match="connection_closed"):
        await connection.run("ping")


async def test_closing_while_it_is_being_opened_leaves_nothing(sshd: Sshd) -> None:
    async with other_server(b"") as port:
        connection = Connection(sshd.credentials(port=port))
        asking = asyncio.create_task(connection.run("ping"))
        await asyncio.sleep(0.05)
        await connection.close()
        results = await asyncio.gather(asking, return_exceptions=True)
    assert isinstance(results[0], Unreachable)


async def test_whoever_waits_while_it_is_opened_shares_what_comes_of_it(
    sshd: Sshd,
) -> None:
    await sshd.stop()
    connection = Connection(sshd.credentials())
    asked = [connection.run("ping") for _ in range(4)]
    results = await asyncio.gather(*asked, return_exceptions=True)
    assert [type(result) for result in results] == [Unreachable] * 4


def test_no_secret_is_ever_shown(sshd: Sshd) -> None:
    credentials = sshd.credentials(passphrase="open sesame", password=PASSWORD)
    shown = repr(credentials) + repr(generate_key_pair())
    for secret in ("PRIVATE KEY", "open sesame", PASSWORD):
        assert secret not in shown
