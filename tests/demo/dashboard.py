"""The dashboard: who plays, what is happening, where each card is."""

from typing import Any

from .client import Client
from .entities import Entities, entities

URL_PATH = "gaming-tower"


async def make_dashboard(client: Client) -> None:
    """Make it, and show it first."""
    await client.call(
        "lovelace/dashboards/create",
        url_path=URL_PATH,
        title="Gaming tower",
        icon="mdi:expansion-card",
        mode="storage",
        require_admin=False,
        show_in_sidebar=True,
    )
    content = dashboard(await entities(client))
    await client.call("lovelace/config/save", url_path=URL_PATH, config=content)


def dashboard(found: Entities) -> dict[str, Any]:
    """Its content."""
    players = sorted(
        (found.of(vm_id, "play"), found.of(vm_id, "phase"))
        for vm_id in found.things("play")
    )
    sections = [
        ("Who plays", [_switch(switch) for switch, _ in players]),
        ("What is happening", [_phase(*player) for player in players]),
        ("Cards", [_tile(card) for card in sorted(found.all("holder"))]),
        ("Cluster", [_tile(node) for node in found.all("node")]),
        (
            "How it ended last",
            [_tile(result) for result in sorted(found.all("last_result"))],
        ),
    ]
    view = {
        "title": "Gaming tower",
        "path": "now",
        "type": "sections",
        "max_columns": 3,
        "sections": [
            {
                "type": "grid",
                "cards": [{"type": "heading", "heading": heading}, *cards],
            }
            for heading, cards in sections
            if cards
        ],
    }
    return {"title": "Gaming tower", "views": [view]}


def _tile(entity_id: str) -> dict[str, Any]:
    return {
        "type": "tile",
        "entity": entity_id,
        "name": {"type": "device"},
        "grid_options": {"columns": "full"},
    }


def _switch(entity_id: str) -> dict[str, Any]:
    """A press anywhere on it is the switch."""
    press = {"action": "toggle"}
    return {
        **_tile(entity_id),
        "tap_action": press,
        "icon_tap_action": press,
        "features": [{"type": "toggle"}],
        "features_position": "inline",
    }


def _phase(switch: str, phase: str) -> dict[str, Any]:
    """The phase, and the sentence that says what is waited for."""
    name = f"{{{{ device_attr('{switch}', 'name') }}}}"
    sentence = f"{{{{ state_attr('{phase}', 'reason') or '' }}}}"
    return {
        "type": "markdown",
        "content": f"**{name}**: {{{{ state_translated('{phase}') }}}}\n\n{sentence}",
    }
