"""The API server's front: it reads requests, knows who asks, records and answers."""

from collections.abc import Mapping
import json
from typing import Any

from aiohttp import web

from ..clock import Clock
from . import answers, audit, status
from .access import ANONYMOUS, Access, User
from .faults import ClusterFaults
from .knobs import ClusterKnobs
from .resources import Place, read_path
from .status import Answer, ApiFailure
from .store import Store
from .watch import Watch

_VERSION = {
    "major": "1",
    "minor": "37",
    "emulationMajor": "1",
    "emulationMinor": "37",
    "minCompatibilityMajor": "1",
    "minCompatibilityMinor": "36",
    "gitVersion": "v1.37.2",
    "gitCommit": "simulator",
    "gitTreeState": "clean",
    "buildDate": "2026-01-01T00:00:00Z",
    "goVersion": "go1.26.8",
    "compiler": "gc",
    "platform": "linux/amd64",
}
_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_HEALTH = {"/readyz", "/livez", "/healthz"}
_METHODS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_TRUE = {"1", "true", "True"}
_TURNED_AWAY = "Too many requests, please try again later.\n"


class ApiServer:
    """Serves a store over HTTP."""

    def __init__(
        self, store: Store, access: Access, clock: Clock, knobs: ClusterKnobs
    ) -> None:
        self.audit: list[audit.Entry] = []
        self.faults = ClusterFaults()
        self._store = store
        self._access = access
        self._clock = clock
        self._knobs = knobs

    def application(self) -> web.Application:
        application = web.Application(client_max_size=4 * 1024**2)
        application.router.add_route("*", "/{path:.*}", self._handle)
        return application

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        await self.faults.answering.wait()
        await self._clock.sleep(self.faults.answer_delay_s)
        body = await _read_body(request)
        entry = _entry(request, body)
        self.audit.append(entry)
        try:
            user = self._access.who(request)
            entry.user = user.name
            response = await self._answer(request, user, entry, body)
        except ApiFailure as failure:
            response = _response(failure.answer)
        entry.code = response.status
        return response

    async def _answer(
        self, request: web.Request, user: User, entry: audit.Entry, body: Any
    ) -> web.StreamResponse:
        if self.faults.throttle > 0:
            self.faults.throttle -= 1
            return web.Response(
                status=429, text=_TURNED_AWAY, headers={"Retry-After": "1"}
            )
        if request.path == "/version":
            return _response(Answer(200, _VERSION))
        if request.path in _HEALTH:
            return web.Response(text="ok")
        if request.path == _REVIEWS:
            return _response(answers.review(self._access, user, body))
        if (place := read_path(request.path)) is None:
            raise status.no_such_path()
        self._check(user, entry.verb, place)
        if scripted := self.faults.take_scripted(entry.verb, place.full_resource):
            return _response(scripted)
        if entry.verb == "watch":
            return await self._watch(request, place, entry)
        if entry.verb == "list" and self.faults.lists_are_gone:
            raise status.too_old_list()
        return _response(self._do(request, entry.verb, place, body))

    def _check(self, user: User, verb: str, place: Place) -> None:
        if not self._access.allows(user, verb, place.full_resource):
            raise status.forbidden(
                user=user.name,
                verb=verb,
                resource=place.full_resource,
                group=place.resource.group,
                namespace=place.namespace,
                name=place.name,
            )

    def _do(self, request: web.Request, verb: str, place: Place, body: Any) -> Answer:
        if (do := answers.VERBS.get((verb, place.subresource))) is None:
            raise status.no_such_path()
        ask = answers.Ask(
            place=place,
            query=request.query,
            content_type=request.content_type,
            body=body,
        )
        return do(self._store, ask)

    async def _watch(
        self, request: web.Request, place: Place, entry: audit.Entry
    ) -> web.StreamResponse:
        if self.faults.watches_are_gone:
            asked = int(request.query.get("resourceVersion") or 0)
            raise status.too_old_watch(asked, self._store.version)
        entry.code = 200
        test = answers.concerns(place, request.query)
        watch = Watch(request, place.resource, test, self._store)
        return await watch.serve(self._clock, self.faults, self._knobs.bookmark_s)


async def _read_body(request: web.Request) -> Any:
    data = await request.read()
    try:
        return json.loads(data) if data else None
    except ValueError:
        return None


def _entry(request: web.Request, body: Any) -> audit.Entry:
    place = read_path(request.path)
    return audit.Entry(
        user=ANONYMOUS,
        verb=_verb(request.method, place, request.query),
        resource=place.resource.plural if place else request.path,
        subresource=place.subresource if place else None,
        namespace=place.namespace if place else None,
        name=place.name if place else None,
        body=body,
        at=audit.moment(),
        path=request.path_qs,
    )


def _verb(method: str, place: Place | None, query: Mapping[str, str]) -> str:
    if method != "GET":
        return _METHODS.get(method, method.lower())
    if query.get("watch") in _TRUE:
        return "watch"
    return "list" if place and place.name is None else "get"


def _response(answer: Answer) -> web.Response:
    return web.Response(
        status=answer.code,
        text=json.dumps(answer.body),
        content_type="application/json",
        headers=dict(answer.headers),
    )
