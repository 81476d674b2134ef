"""The actions: hand over, give back, cancel, and what would happen."""

from homeassistant.const import Platform
from homeassistant.core import HomeAssistant, SupportsResponse, callback
from homeassistant.helpers import config_validation as cv, service
from homeassistant.helpers.typing import VolDictType
import probatio

from .const import DOMAIN

ATTR_WAIT = "wait"

WAIT: VolDictType = {probatio.Optional(ATTR_WAIT, default=False): cv.boolean}

ACTIONS: tuple[tuple[str, VolDictType | None, SupportsResponse], ...] = (
    ("hand_over", WAIT, SupportsResponse.OPTIONAL),
    ("give_back", WAIT, SupportsResponse.OPTIONAL),
    ("cancel", None, SupportsResponse.NONE),
    ("preflight", None, SupportsResponse.ONLY),
)


@callback
def async_setup_services(hass: HomeAssistant) -> None:
    """Register the actions; their targets are the machines' switches."""
    for name, schema, response in ACTIONS:
        service.async_register_platform_entity_service(
            hass,
            DOMAIN,
            name,
            entity_domain=Platform.SWITCH,
            schema=schema,
            func=f"async_{name}",
            supports_response=response,
        )
