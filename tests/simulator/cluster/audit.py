"""The record of every request, in the words of an audit log."""

from dataclasses import dataclass
from typing import Any

from ..clock import now


@dataclass(slots=True, kw_only=True)
class Entry:
    """One request. `code` is None while it is not answered."""

    user: str
    verb: str
    resource: str
    subresource: str | None
    namespace: str | None
    name: str | None
    body: Any
    at: str
    path: str
    code: int | None = None

    def as_dict(self) -> dict[str, Any]:
        return {
            "user": self.user,
            "verb": self.verb,
            "resource": self.resource,
            "subresource": self.subresource,
            "ns": self.namespace,
            "name": self.name,
            "body": self.body,
            "code": self.code,
            "at": self.at,
        }


def moment() -> str:
    """Microseconds and a Z, as an audit log has them."""
    return now().isoformat(timespec="microseconds").replace("+00:00", "Z")
