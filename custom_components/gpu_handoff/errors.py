"""The one place where our errors become Home Assistant's."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from homeassistant.exceptions import HomeAssistantError, ServiceValidationError

from .const import DOMAIN
from .handoff.reason import HandoffError, Refused


@contextmanager
def translated() -> Iterator[None]:
    """Raise what happens inside as a sentence that Home Assistant can show."""
    try:
        yield
    except HandoffError as err:
        kind = (
            ServiceValidationError if isinstance(err, Refused) else HomeAssistantError
        )
        raise kind(**translation_of(err)) from err


def translation_of(err: HandoffError) -> dict[str, Any]:
    """Name the sentence as Home Assistant's exceptions take it."""
    return {
        "translation_domain": DOMAIN,
        "translation_key": err.reason.key,
        "translation_placeholders": dict(err.reason.placeholders),
    }
