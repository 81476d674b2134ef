"""Finds the integration's entities by what they are, whatever people call them."""

from dataclasses import dataclass
from typing import Any

from .client import Client
from .set_up import DOMAIN


@dataclass(frozen=True)
class Found:
    """One registered entity. `thing`: its machine or card; `key`: what it tells of it."""

    entity_id: str
    thing: str
    key: str


@dataclass(frozen=True)
class Entities:
    """All of them."""

    found: tuple[Found, ...]

    def of(self, thing: str, key: str) -> str:
        """One entity's id."""
        return next(f.entity_id for f in self.found if (f.thing, f.key) == (thing, key))

    def all(self, key: str) -> list[str]:
        """The ids of every entity of a kind."""
        return [f.entity_id for f in self.found if f.key == key]

    def things(self, key: str) -> list[str]:
        """Whatever has an entity of a kind."""
        return [f.thing for f in self.found if f.key == key]


async def entities(client: Client) -> Entities:
    """Ask the registry."""
    listed: list[dict[str, Any]] = await client.call("config/entity_registry/list")
    ours = [item for item in listed if item["platform"] == DOMAIN]
    parts = [(item["entity_id"], *item["unique_id"].split("_", 1)) for item in ours]
    return Entities(tuple(Found(*part) for part in parts))
