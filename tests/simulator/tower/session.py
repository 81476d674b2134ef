"""One session of the SSH server: a line comes in, the host's answer goes out."""

import asyncio
from typing import TYPE_CHECKING

import asyncssh

from custom_components.gpu_handoff.tower.commands import (
    VERBS,
    HostContext,
    parse_command_line,
)
from custom_components.gpu_handoff.tower.scripts import BEGIN

from .output import Output
from .requests import ANSWERERS, Request
from .shells import before_script
from .tools import virsh_preflight

if TYPE_CHECKING:
    from .sim_tower import SimTower

type Process = asyncssh.SSHServerProcess[bytes]

TERMINATED = 143
TIMED_OUT = 124
_DISCONNECTED = (
    "error: Disconnected from {uri} due to end of file\n"
    "error: internal error: client socket is closed\n"
)


class Session:
    """Answers one exec request."""

    def __init__(self, tower: SimTower, process: Process) -> None:
        self._tower = tower
        self._process = process

    async def answer(self) -> None:
        line = self._process.command or ""
        faults = self._tower.faults
        if faults.hang:
            await asyncio.Event().wait()
        await self._tower.clock.sleep(faults.answer_delay_s)
        host = self._tower.host
        if refusal := before_script(host, line):
            self._finish(refusal)
        elif asked := parse_command_line(line):
            await self._answer(*asked)
        else:
            word = line.split(" ", 1)[0]
            self._finish(Output(host.banner, f"sh: 1: {word}: not found\n", 127))

    async def _answer(
        self, verb: str, args: tuple[str, ...], context: HostContext
    ) -> None:
        tower = self._tower
        tower.note(verb, args)
        self._write(tower.host.banner + BEGIN + "\n")
        if verb == "events":
            await self._stream(context)
            return
        request = Request(
            args=args,
            context=context,
            host=tower.host,
            virsh=tower.virsh_program,
            bus=tower.bus,
        )
        work = tower.tasks.task(ANSWERERS[verb](request))
        output = await asyncio.shield(work)
        if verb in tower.faults.cut:
            tower.faults.cut.discard(verb)
            self._write(output.stdout[: len(output.stdout) // 2])
            self._process.channel.get_connection().abort()
        else:
            self._finish(output)

    async def _stream(self, context: HostContext) -> None:
        tower = self._tower
        if refusal := virsh_preflight(tower.virsh_program, tower.host, context):
            self._finish(refusal)
            return
        if context.uri.endswith("/session"):
            self._write(f"{context.uri}\n")
            await self._end_of_stdin(VERBS["events"].timeout_s)
            return
        with tower.events.listening() as lines:
            self._write(f"{context.uri}\n")
            ending = tower.tasks.task(self._end_of_stdin(VERBS["events"].timeout_s))
            count = 0
            try:
                while (line := await lines.get()) is not None:
                    count += 1
                    self._write(line)
            finally:
                ending.cancel()
        said = _DISCONNECTED.format(uri=context.uri)
        self._finish(Output(f"events received: {count}\n", said, 1))

    async def _end_of_stdin(self, timeout_s: float) -> None:
        """Our script ends the stream when the client closes its standard input."""
        status = TERMINATED
        try:
            async with asyncio.timeout(timeout_s):
                await self._process.stdin.readline()
        except TimeoutError:
            status = TIMED_OUT
        except asyncssh.Error, OSError:
            pass
        self._finish(Output(status=status))

    def _finish(self, output: Output) -> None:
        if self._process.channel.is_closing():
            return
        self._write(output.stdout)
        if output.stderr:
            self._process.stderr.write(_encoded(output.stderr))
        self._process.exit(output.status)

    def _write(self, text: str) -> None:
        if text and not self._process.channel.is_closing():
            self._process.stdout.write(_encoded(text))


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
