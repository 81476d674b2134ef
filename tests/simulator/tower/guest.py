"""One machine: how it boots, answers its agent, shuts down, crashes and holds cards."""

from . import errors, states
from .domain import Domain
from .errors import LibvirtError
from .states import State

AGENT_CALL_S = 5.0
AGENT_SHUTDOWN_S = 60.0
LOCK_S = 30.0
START_STEP = 0.25
SEEN_LEAVING_S = 1.0


class Guest(Domain):
    """A domain of libvirt. Its methods raise what libvirt would refuse with."""

    @property
    def steady(self) -> bool:
        """Whether it runs, with its agent, and is not about to end."""
        has_agent = self.agent_connected or not self.plan.has_agent_channel
        return self.running and has_agent and not self._leaving

    async def start(self) -> None:
        if self.active:
            raise LibvirtError(errors.ALREADY_ACTIVE)
        self._claim()
        self._begin(states.STARTING)
        step_s = self.knobs.start_s * START_STEP
        await self._clock.sleep(step_s)
        if self.plan.has_agent_channel:
            self._events.agent(self.name, "disconnected", "domain started")
        await self._clock.sleep(self.knobs.start_s - step_s)
        if self.status is states.STARTING:
            self._events.lifecycle(self.name, "Resumed Unpaused")
            self._set(states.BOOTED)
            self._events.lifecycle(self.name, "Started Booted")
            self._boot()

    def be_running(self) -> None:
        """Stand there as if it had been started long ago."""
        self._claim()
        self._begin(states.BOOTED)
        self.agent_connected = self.plan.has_agent_channel and self.knobs.agent
        self._acpi_heard = True
        self._set(states.BOOTED)

    def suspend(self) -> None:
        self._must_be_active()
        self._events.lifecycle(self.name, "Suspended Paused")
        self._set(states.PAUSED)

    def resume(self) -> None:
        self._must_be_active()
        if self.running:
            raise LibvirtError(errors.ALREADY_RUNNING)
        if self.status.state is State.ASLEEP:
            raise LibvirtError(errors.ASLEEP)
        self._events.lifecycle(self.name, "Resumed Unpaused")
        self._set(states.UNPAUSED)

    def sleep(self) -> None:
        """Suspend to memory, as a guest does on its own."""
        self._must_be_active()
        self._events.lifecycle(self.name, "PMSuspended Memory")
        self._set(states.ASLEEP)

    def wake(self) -> None:
        self._must_be_active()
        if self.status.state is not State.ASLEEP:
            raise LibvirtError(errors.NOT_ASLEEP)
        self._events.lifecycle(self.name, "Started Wakeup")
        self._set(states.WOKEN)

    async def shut_down_by_agent(self) -> None:
        """Block as libvirt does: until the guest has ended, or for a minute."""
        self._must_run()
        if not self.plan.has_agent_channel:
            raise LibvirtError(errors.AGENT_NOT_CONFIGURED)
        if not self.agent_connected:
            raise LibvirtError(errors.AGENT_NOT_CONNECTED)
        try:
            async with self._clock.timeout(LOCK_S):
                await self._agent_lock.acquire()
        except TimeoutError:
            raise LibvirtError(errors.AGENT_BUSY) from None
        try:
            await self._ask_agent_to_end()
        finally:
            self._agent_lock.release()

    def press_power_button(self) -> None:
        """Order an ACPI shutdown; nothing tells whether the guest heard it."""
        self._must_run()
        if self._acpi_heard and not self.knobs.refuse_shutdown:
            self._leave()

    def destroy(self) -> None:
        self._must_be_active()
        self._events.lifecycle(self.name, "Shutdown Finished after host request")
        self._end(states.DESTROYED, "Stopped Destroyed")

    def crash(self) -> None:
        """Panic; what follows is up to the definition's on_crash."""
        self._live(self._panic())

    def power_off_itself(self) -> None:
        """End as a guest does when somebody picks "shut down" in it."""
        self._leave()

    async def _ask_agent_to_end(self) -> None:
        if self.knobs.agent_hung:
            await self._clock.sleep(AGENT_CALL_S)
            raise LibvirtError(errors.AGENT_SILENT)
        if not self.knobs.refuse_shutdown:
            self._leave()
        try:
            async with self._clock.timeout(AGENT_SHUTDOWN_S):
                await self._ended.wait()
        except TimeoutError:
            raise LibvirtError(errors.AGENT_SILENT) from None

    def _boot(self) -> None:
        knobs = self.knobs
        if knobs.agent and self.plan.has_agent_channel:
            self._live(self._connect_agent(knobs.agent_delay_s))
        self._live(self._listen_to_button(knobs.acpi_delay_s))
        if knobs.crash_after_s is not None:
            self._live(self._later(knobs.crash_after_s, self.crash))
        if knobs.off_after_s is not None:
            self._live(self._later(knobs.off_after_s, self.power_off_itself))

    async def _connect_agent(self, delay_s: float) -> None:
        await self._clock.sleep(delay_s)
        self._set_agent(connected=True)

    async def _listen_to_button(self, delay_s: float) -> None:
        await self._clock.sleep(delay_s)
        self._acpi_heard = True

    def _leave(self) -> None:
        """Begin to shut down, once."""
        if not self._leaving:
            self._leaving = True
            self._live(self._shut_down())

    async def _shut_down(self) -> None:
        await self._clock.sleep(self.knobs.shutdown_s)
        if self.agent_connected and self.knobs.shutdown_s > SEEN_LEAVING_S:
            self._set_agent(connected=False)
        self._events.lifecycle(self.name, "Shutdown Finished after guest request")
        self._set(states.LEAVING)
        self._ended.set()
        await self._clock.sleep(self.knobs.stop_s)
        self._end(states.OFF, "Stopped Shutdown")

    async def _panic(self) -> None:
        self._events.lifecycle(self.name, "Crashed Panicked")
        self._set(states.PANICKED)
        if self.plan.on_crash == "destroy":
            await self._clock.sleep(self.knobs.stop_s)
            self._end(states.OFF_CRASHED, "Stopped Crashed")

    def _must_be_active(self) -> None:
        if not self.active:
            raise LibvirtError(errors.NOT_RUNNING)

    def _must_run(self) -> None:
        if not self.running:
            raise LibvirtError(errors.NOT_RUNNING)
