"""Who a request comes from, and what they may do."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from . import status

ADMIN_GROUP = "system:masters"
ANONYMOUS = "system:anonymous"
OUR_RIGHTS = frozenset(
    {
        ("get", "nodes"),
        ("list", "nodes"),
        ("watch", "nodes"),
        ("patch", "nodes"),
        ("get", "pods"),
        ("list", "pods"),
        ("watch", "pods"),
        ("create", "pods/eviction"),
        ("get", "leases"),
        ("list", "leases"),
        ("watch", "leases"),
        ("list", "poddisruptionbudgets"),
        ("watch", "poddisruptionbudgets"),
        ("list", "volumeattachments"),
        ("watch", "volumeattachments"),
        ("get", "persistentvolumeclaims"),
        ("list", "persistentvolumeclaims"),
        ("list", "resourceslices"),
    }
)
"""What a service account of ours is given: enough for a handover, and no more."""


@dataclass(frozen=True, slots=True)
class User:
    """`may` lists (verb, resource); None is everything."""

    name: str
    may: frozenset[tuple[str, str]] | None = frozenset()

    def allows(self, verb: str, resource: str) -> bool:
        return self.may is None or (verb, resource) in self.may


@dataclass(slots=True)
class Access:
    """Users by bearer token; `forbidden` is refused even to an administrator."""

    tokens: dict[str, User] = field(default_factory=dict)
    forbidden: set[tuple[str, str]] = field(default_factory=set)
    refuse_everybody: bool = False

    def who(self, request: web.Request) -> User:
        """Tell who it is; raises 401 for a token that is not known."""
        header = request.headers.get("Authorization", "")
        if self.refuse_everybody:
            raise status.unauthorized()
        if header.startswith("Bearer "):
            if (user := self.tokens.get(header.removeprefix("Bearer "))) is None:
                raise status.unauthorized()
            return user
        return _of_certificate(request) or User(ANONYMOUS)

    def allows(self, user: User, verb: str, resource: str) -> bool:
        return user.allows(verb, resource) and (verb, resource) not in self.forbidden


def _of_certificate(request: web.Request) -> User | None:
    transport = request.transport
    certificate: Mapping[str, Any] | None = (
        transport.get_extra_info("peercert") if transport else None
    )
    if not certificate:
        return None
    subject = {key: value for part in certificate["subject"] for key, value in part}
    is_admin = subject.get("organizationName") == ADMIN_GROUP
    return User(subject["commonName"], None if is_admin else frozenset())
