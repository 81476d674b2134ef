"""A sentence for a person, as a translation key with what to fill in."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Reason:
    """Names a sentence of the translations and the words that it holds.

    `key` is a key under `exceptions` of translations/*.json; every placeholder of that
    sentence is in `placeholders`. A placeholder never holds a secret.
    """

    key: str
    placeholders: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, key: str, **placeholders: object) -> Reason:
        """Build a reason; values become text."""
        return cls(key, {name: str(value) for name, value in placeholders.items()})


class HandoffError(Exception):
    """An error that a person may meet: it carries its sentence.

    The text of the exception itself is for logs: the key and the placeholders, no prose.
    """

    def __init__(self, key: str, **placeholders: object) -> None:
        """Remember the sentence."""
        self.reason = Reason.of(key, **placeholders)
        super().__init__(f"{key} {dict(self.reason.placeholders)}")


class Unreachable(HandoffError):
    """The other side did not answer: nothing is known of it now."""


class Refused(HandoffError):
    """What was asked is not done, and nothing was touched."""
