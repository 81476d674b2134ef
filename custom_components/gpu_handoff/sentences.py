"""Reasons in the words of the household's language."""

from homeassistant.core import HomeAssistant
from homeassistant.helpers.translation import async_get_translations

from .const import DOMAIN
from .handoff.reason import Reason


async def async_sentence(hass: HomeAssistant, reason: Reason | None) -> str | None:
    """Write a reason in the language of this Home Assistant; a key at the worst."""
    if reason is None:
        return None
    language = hass.config.language
    texts = await async_get_translations(hass, language, "exceptions", {DOMAIN})
    text = texts.get(f"component.{DOMAIN}.exceptions.{reason.key}.message", reason.key)
    try:
        return text.format(**reason.placeholders)
    except KeyError:
        return text
