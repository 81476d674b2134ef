"""Sets the integration up as a person does: through its own config flow."""

from collections.abc import Mapping
from typing import Any

from .client import Client
from .errors import DemoError
from .tower import Tower

DOMAIN = "gpu_handoff"
MENUS = {"login": "own_key", "cluster": "paste_kubeconfig"}
MOST_STEPS = 20


async def set_up(client: Client, tower: Tower) -> str:
    """Answer every step; returns the new entry's id."""
    typed: dict[str, dict[str, Any]] = {
        "user": {
            "host": tower.ssh_host,
            "port": tower.ssh_port,
            "username": tower.username,
        },
        "own_key": {"private_key": tower.private_key},
        "paste_kubeconfig": {"kubeconfig": tower.kubeconfig},
    }
    step = await client.post(
        "/api/config/config_entries/flow", {"handler": DOMAIN, "show_advanced": False}
    )
    for _ in range(MOST_STEPS):
        if step["type"] == "create_entry":
            return str(step["result"]["entry_id"])
        step = await _answer(client, step, typed)
    raise DemoError(f"the set-up of the integration does not end: {step['step_id']}")


async def _answer(
    client: Client, step: Mapping[str, Any], typed: Mapping[str, dict[str, Any]]
) -> dict[str, Any]:
    name = step.get("step_id", "")
    match step["type"]:
        case "menu":
            answer = {"next_step_id": MENUS[name]}
        case "form" if not step.get("errors"):
            answer = typed.get(name) or _as_proposed(step["data_schema"] or ())
        case _:
            what = step.get("errors") or step.get("reason")
            raise DemoError(f"the set-up ended at {name or step['type']}: {what}")
    address = f"/api/config/config_entries/flow/{step['flow_id']}"
    answered: dict[str, Any] = await client.post(address, answer)
    return answered


def _as_proposed(fields: Any) -> dict[str, Any]:
    """What a person sends who changes nothing."""
    return {field["name"]: field["default"] for field in fields if "default" in field}
