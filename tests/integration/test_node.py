"""How a GPU node is shown, of what can be seen of it."""

from homeassistant.core import HomeAssistant
from pytest_homeassistant_custom_component.common import MockConfigEntry

from tests.simulator import Simulator

from .household import CARD, GPU_NODE, NODE, act, state, until


async def test_the_node_is_shown_on_its_way_and_not_as_cordoned_only(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    seen: list[str] = []
    entry.runtime_data.async_add_listener(
        lambda: seen.append(str(entry.runtime_data.data.node_state(GPU_NODE)))
    )
    await act(hass, "hand_over", wait=True)
    await act(hass, "give_back", wait=True)
    await until(hass, lambda: state(hass, NODE).state == "ready")
    passed = list(dict.fromkeys(seen))
    assert passed.index("stopping") < passed.index("off") < passed.index("starting")


async def test_without_the_tower_the_cluster_tells_how_the_node_is(
    hass: HomeAssistant, entry: MockConfigEntry, simulator: Simulator
) -> None:
    await simulator.tower.refuse()
    await until(hass, lambda: state(hass, CARD).state == "unavailable")
    assert state(hass, NODE).state == "ready"
    await simulator.cluster.go_down()
    await until(hass, lambda: state(hass, NODE).state == "unreachable")
    await simulator.tower.accept()
