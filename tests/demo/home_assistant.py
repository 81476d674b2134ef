"""Home Assistant as a process of its own, that ends with whoever started it."""

import asyncio
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
import ctypes
from importlib.util import find_spec
import os
from pathlib import Path
import signal
import socket
import sys
import tempfile
from typing import NoReturn

import aiohttp

from . import config_folder
from .client import Client
from .errors import DemoError

START_TIMEOUT_S = 180
STOP_TIMEOUT_S = 60
RESTART_ASKED = 100
PR_SET_PDEATHSIG = 1


def free_port() -> int:
    """A port of the loopback that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _check_free(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as err:
            raise DemoError(
                f"port {port} cannot be used ({err.strerror}): choose another with --port"
            ) from err


class HomeAssistant:
    """One running Home Assistant on the loopback."""

    def __init__(self, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self._process: Process | None = None
        self._ending = False

    @property
    def pid(self) -> int:
        """The process that runs now."""
        assert self._process is not None
        return self._process.pid

    async def start(self) -> None:
        """Start it and wait until it answers."""
        await self._spawn()
        try:
            async with asyncio.timeout(START_TIMEOUT_S):
                await self._answers()
        except TimeoutError:
            self._give_up(f"did not answer within {START_TIMEOUT_S} s")

    async def run(self) -> None:
        """Stay until it ends; a restart that is asked for in the frontend is done."""
        while not self._ending:
            assert self._process is not None
            code = await self._process.wait()
            if self._ending:
                return
            if code != RESTART_ASKED:
                self._give_up(f"ended with code {code}")
            await self._spawn()

    async def stop(self) -> None:
        """Ask it to stop, as a service manager does."""
        self._ending = True
        process = self._process
        if process is None or process.returncode is not None:
            return
        process.terminate()
        try:
            async with asyncio.timeout(STOP_TIMEOUT_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()

    def log_tail(self, lines: int = 30) -> str:
        """The end of its log."""
        with suppress(OSError):
            text = (self.folder / "home-assistant.log").read_text(errors="replace")
            return "\n".join(text.splitlines()[-lines:])
        return "(no log)"

    async def _spawn(self) -> None:
        self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "homeassistant"),
            *("--config", str(self.folder), "--skip-pip", "--log-no-color"),
            stdin=DEVNULL,
            stdout=DEVNULL,
            stderr=(self.folder / "stderr.log").open("ab"),
            env={**os.environ, "PYTHONPATH": _search_path()},
            start_new_session=True,
            preexec_fn=_end_with_parent if sys.platform == "linux" else None,
        )

    async def _answers(self) -> None:
        assert self._process is not None
        async with aiohttp.ClientSession() as session:
            while True:
                if self._process.returncode is not None:
                    self._give_up(f"ended with code {self._process.returncode}")
                with suppress(aiohttp.ClientError):
                    async with session.get(f"{self.url}/manifest.json") as answer:
                        if answer.status == 200:
                            return
                await asyncio.sleep(0.1)

    def _give_up(self, what: str) -> NoReturn:
        errors = (self.folder / "stderr.log").read_text(errors="replace")
        raise DemoError(f"Home Assistant {what}\n{errors[-2000:]}\n{self.log_tail()}")


@asynccontextmanager
async def home_assistant(*, port: int) -> AsyncGenerator[tuple[HomeAssistant, Client]]:
    """Home Assistant in a folder that goes away, and a client logged in to it."""
    _check_free(port)
    with tempfile.TemporaryDirectory(
        prefix="gpu-handoff-demo-", ignore_cleanup_errors=True
    ) as name:
        config_folder.write(Path(name), port=port)
        hass = HomeAssistant(Path(name), port)
        try:
            await hass.start()
            async with Client(hass.url) as client:
                await client.until_running()
                yield hass, client
        finally:
            await hass.stop()


def _search_path() -> str:
    """Importable folders, with stand-ins for two packages that may have no wheel.

    The frontend asks for all actions, and that imports the voice pipeline with them.
    """
    folders = [str(config_folder.REPOSITORY)]
    if find_spec("pymicro_vad") is None or find_spec("pyspeex_noise") is None:
        folders.append(str(Path(__file__).parent / "stand_ins"))
    return os.pathsep.join(folders)


def _end_with_parent() -> None:
    """Have Linux end Home Assistant even where this process is killed outright."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
