"""A person at the set-up, and a patient look at states."""

import asyncio
from collections.abc import Callable
import time
from typing import Any

from homeassistant.config_entries import ConfigEntry
from homeassistant.core import HomeAssistant, State

from custom_components.gpu_handoff.const import DOMAIN
from tests.simulator import Simulator

GPU_NODE = "11111111-1111-4111-8111-111111111111"
ALICE = "22222222-2222-4222-8222-222222222222"
BOB = "33333333-3333-4333-8333-333333333333"
CAROL = "44444444-4444-4444-8444-444444444444"
SWITCH = "switch.alice"
PHASE = "sensor.alice_what_is_happening"
LAST = "sensor.alice_last_result"
CARD = "sensor.alice_s_geforce_rtx_4090_where_it_is"
NODE = "sensor.gpu_node_state"
EVENT = "event.alice_handover"
CANCEL = "button.alice_cancel"


class Flow:
    """Goes through the set-up; `typed` is what is answered to each step."""

    def __init__(self, hass: HomeAssistant, simulator: Simulator) -> None:
        self.hass = hass
        self.result: Any = None
        self.typed: dict[str, Any] = {
            "user": {
                "host": "127.0.0.1",
                "port": simulator.ssh_port,
                "username": simulator.username,
                "uri": "qemu:///system",
            },
            "host_key": {},
            "login": {"next_step_id": "own_key"},
            "own_key": {"private_key": simulator.client_private_key},
            "roles": {},
            "cluster": {"next_step_id": "paste_kubeconfig"},
            "paste_kubeconfig": {"kubeconfig": simulator.kubeconfig},
            "tunnel": {"via_tunnel": False},
            "node": {"node_name": "gpu1"},
            "read_kubeconfig": {},
            "new_key": {},
        }

    async def begin(self) -> None:
        """Open the set-up."""
        self.result = await self.hass.config_entries.flow.async_init(
            DOMAIN, context={"source": "user"}
        )

    async def answer(self, **typed: Any) -> Any:
        """Answer the step that is shown."""
        step = self.result["step_id"]
        self.result = await self.hass.config_entries.flow.async_configure(
            self.result["flow_id"], typed or self.typed[step]
        )
        return self.result

    async def to(self, step: str) -> None:
        """Go on until a step is shown."""
        if self.result is None:
            await self.begin()
        while self.result.get("step_id") != step:
            await self.answer()
            assert not self.result.get("errors"), self.result

    async def to_the_end(self) -> ConfigEntry[Any]:
        """Go on until the entry exists and is loaded."""
        if self.result is None:
            await self.begin()
        while self.result["type"] != "create_entry":
            await self.answer()
            assert not self.result.get("errors"), self.result
        entry: ConfigEntry[Any] = self.result["result"]
        await until(self.hass, lambda: entry.state.value == "loaded")
        return entry


async def until(
    hass: HomeAssistant, true: Callable[[], bool], patience_s: float = 20
) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < end, "it did not come true"
        await asyncio.sleep(0.01)


def state(hass: HomeAssistant, entity_id: str) -> State:
    """A state that must be there."""
    found = hass.states.get(entity_id)
    assert found is not None, (entity_id, sorted(hass.states.async_entity_ids()))
    return found


async def act(hass: HomeAssistant, name: str, **data: Any) -> Any:
    """Run an action of ours on Alice's switch and give its answer."""
    answer = await hass.services.async_call(
        DOMAIN,
        name,
        {"entity_id": SWITCH, **data},
        blocking=True,
        return_response=True,
    )
    return answer[SWITCH] if answer else None


async def switch(hass: HomeAssistant, on: bool, entity_id: str = SWITCH) -> None:
    """Press a switch."""
    await hass.services.async_call(
        "switch",
        "turn_on" if on else "turn_off",
        {"entity_id": entity_id},
        blocking=True,
    )
