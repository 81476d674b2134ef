"""What an API server answered to one request."""

from collections.abc import Mapping
from dataclasses import dataclass
import math
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Status and JSON body; `retry_after_s` if the server said when to come back."""

    status: int
    body: Mapping[str, Any]
    retry_after_s: float | None = None

    @property
    def ok(self) -> bool:
        """Whether it was done."""
        return 200 <= self.status < 300

    @property
    def message(self) -> str:
        """The server's own sentence."""
        return str(self.body.get("message") or "")

    @property
    def causes(self) -> tuple[Mapping[str, Any], ...]:
        """The machine-readable causes of a failure."""
        details = self.body.get("details")
        causes = details.get("causes") if isinstance(details, dict) else None
        return tuple(cause for cause in causes or () if isinstance(cause, dict))

    def has_cause(self, reason: str) -> bool:
        """Whether this is among the causes."""
        return any(cause.get("reason") == reason for cause in self.causes)


def retry_after_s(header: str | None, body: Mapping[str, Any]) -> float | None:
    """Read when to come back, from the header or from the body's own field."""
    details = body.get("details")
    said = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    for value in (header, said):
        try:
            seconds = float(str(value))
        except ValueError:
            continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None
