"""The real heart, put into a state of the walk, stepped there, and read back."""

from collections.abc import Coroutine
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from custom_components.gpu_handoff.handoff.acts import SHUTDOWNS, Acts
from custom_components.gpu_handoff.handoff.answers import Act
from custom_components.gpu_handoff.handoff.loop import Reconciler
from custom_components.gpu_handoff.handoff.operation import HandoffEvent
from custom_components.gpu_handoff.handoff.phases import Phase
from custom_components.gpu_handoff.handoff.reason import (
    HandoffError,
    Reason,
    Unreachable,
)
from custom_components.gpu_handoff.handoff.wish import Failure, NodeBefore, Want, Wish
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Fate,
    House,
    NodeView,
    Sent,
    VmId,
    World,
)

from .walk_world import STALE, Env, node_of, tower_of
from .worlds import NODE, OFF, WANTS

LATE = -1e6
"""A second so long ago that every deadline since has passed."""
STEPS_AT_MOST = 12


@dataclass(frozen=True, slots=True)
class WishKey:
    """All of a wish that can change what is decided."""

    vm_id: VmId
    want: Want
    phase: Phase
    late: bool
    before: tuple[bool, str, bool] | None
    failed_in: tuple[Phase, bool] | None
    settled: bool


@dataclass(frozen=True, slots=True)
class Order:
    """An act that was sent: on its way, just returned, or long ago.

    `of_phase`: sent in the phase that the wish is in still. `asked_by`: whose wish it was.
    """

    kind: ActKind
    vm_id: VmId
    on_its_way: bool
    old: bool
    of_phase: bool
    asked_by: VmId


@dataclass(frozen=True, slots=True)
class State:
    """What is wished, what was sent, what is true."""

    wishes: tuple[WishKey, ...]
    orders: tuple[Order, ...]
    env: Env


@cache
def wish_of(key: WishKey) -> Wish:
    """The wish that a key stands for."""
    before: dict[VmId, NodeBefore] = {}
    if key.before is not None:
        running, boot_id, stopped = key.before
        before[NODE] = NodeBefore(running=running, boot_id=boot_id, stopped=stopped)
    failure = None
    if key.failed_in is not None:
        phase, cancelled = key.failed_in
        failure = Failure(phase=phase, reason=Reason.of("x"), cancelled=cancelled)
    return Wish(
        vm_id=key.vm_id,
        want=key.want,
        operation=key.vm_id,
        phase=key.phase,
        phase_since=LATE if key.late else 0.0,
        before=before,
        failure=failure,
        settled=key.settled,
    )


def key_of(wish: Wish) -> WishKey:
    """The key of a wish, without what does not count."""
    before = wish.before.get(NODE)
    failure = wish.failure
    return WishKey(
        wish.vm_id,
        wish.want,
        wish.phase,
        wish.phase_since == LATE,
        before and (before.running, before.boot_id, before.stopped),
        failure and (failure.phase, failure.cancelled),
        wish.settled,
    )


class Broken(AssertionError):
    """A promise that was not kept."""


class JudgedActs(Acts):
    """Starts nothing: judges what would be started, and notes it as on its way."""

    env: Env
    asked: dict[tuple[ActKind, VmId], VmId]
    begun: int = 0

    def begin(self, act: Act, wish: Wish, world: World) -> None:
        key = (act.kind, act.vm_id)
        sent = self.sent.get(key)
        if sent is not None and sent.returned_at is None:
            return
        self._judge(act, wish)
        self.sent[key] = Sent(at=self._clock())
        self.asked[key] = wish.vm_id
        self.begun += 1

    def _judge(self, act: Act, wish: Wish) -> None:
        env, ours = self.env, act.vm_id in (NODE, wish.vm_id)
        promises = {
            "only the node and the wished machine": ours,
            "only what is known": act.kind in ActKind,
            **(self._of_start(act) if act.kind is ActKind.START else {}),
            **(self._of_shutdown(act, wish) if act.kind in SHUTDOWNS else {}),
        }
        if act.kind in (ActKind.CORDON, ActKind.EVICT, ActKind.UNCORDON):
            promises["cluster acts only on the node"] = act.vm_id == NODE
        if act.kind is ActKind.UNCORDON:
            promises["only our own cordon is undone"] = env.mark is not None
        if act.kind is ActKind.CORDON:
            promises["only who plays cordons"] = wish.want is Want.PLAY
        if act.kind is ActKind.EVICT:
            promises["no eviction while a pod is blocked"] = env.pods is Fate.EVICT
            promises["no eviction before the cordon"] = not env.schedulable
        for promise, kept in promises.items():
            if not kept:
                raise Broken(f"{promise}: {act}")

    def _of_start(self, act: Act) -> dict[str, bool]:
        on_their_way = [
            vm_id
            for (kind, vm_id), sent in self.sent.items()
            if kind is ActKind.START and sent.returned_at is None
        ]
        machine = self.env[act.vm_id]
        return {
            "only what is off is started": machine.power is OFF,
            "no card is had by two": not self.env.rivals(act.vm_id),
            "no card is promised to two": not [
                other for other in on_their_way if WANTS[other] & WANTS[act.vm_id]
            ],
            "no start with an open card": not self.env.card_open,
            "no start against a person's word": act.vm_id == NODE
            or machine.word == "on",
        }

    def _of_shutdown(self, act: Act, wish: Wish) -> dict[str, bool]:
        if act.vm_id == NODE:
            return {"only who plays stops the node": wish.want is Want.PLAY}
        return {
            "only who lends is shut down": wish.want is Want.LEND,
            "nobody is shut down against his word": self.env[act.vm_id].word == "off",
        }


class NoJournal:
    """The walk itself remembers."""

    async def load(self) -> dict[str, Any] | None:
        return None

    async def save(self, data: dict[str, Any]) -> None:
        pass


class WalkedCluster:
    """The node, as the heart asks for it while it has no wish."""

    def __init__(self, env: Env) -> None:
        self.env = env

    async def measure(self) -> NodeView:
        if not self.env.cluster:
            raise Unreachable("cluster_timeout")
        return node_of(self.env)


class WalkedHeart(Reconciler):
    """The real one; only its measuring and its acts end at the walk's environment."""

    def __init__(self, state: State, house: House) -> None:
        self.env = state.env
        self.time = 1.0
        self.told: list[HandoffEvent] = []
        super().__init__(
            house=house,
            tower=None,  # type: ignore[arg-type]
            clusters={NODE: WalkedCluster(state.env)},  # type: ignore[dict-item]
            journal=NoJournal(),
            clock=lambda: self.time,
            on_event=self.told.append,
        )
        acts = JudgedActs(None, {}, self._clock, self.wake)  # type: ignore[arg-type]
        acts.env, acts.asked = state.env, {}
        self._acts: JudgedActs = acts
        for order in state.orders:
            key = (order.kind, order.vm_id)
            at = LATE if order.old else 0.0
            at -= not order.of_phase
            acts.sent[key] = Sent(at=at, returned_at=None if order.on_its_way else at)
            acts.asked[key] = order.asked_by
        for wish in state.wishes:
            self._book.keep(wish_of(wish))

    async def _measure(self, *, fresh: bool) -> World:
        env = self.env
        return World(
            house=self.house,
            tower=tower_of(env.machines, env.card_open) if env.tower else None,
            nodes={NODE: node_of(env)} if env.cluster else {},
            sent=dict(self._acts.sent),
        )

    def settle(self) -> State:
        """Step until it waits for the world."""
        for _ in range(STEPS_AT_MOST):
            wishes, begun = self.wishes_now(), self._acts.begun
            self.time += 1.0
            done(self.step())
            if (wishes, begun) == (self.wishes_now(), self._acts.begun):
                return self.state()
        raise Broken("the heart does not come to rest")

    def wishes_now(self) -> tuple[WishKey, ...]:
        """The keys of its wishes."""
        return tuple(key_of(wish) for wish in self._book.wishes.values())

    def state(self) -> State:
        """Read the state back, without what does not count any more."""
        wishes = self._book.wishes
        orders = [
            Order(
                kind=kind,
                vm_id=vm_id,
                on_its_way=sent.returned_at is None,
                old=sent.at < -1000,
                of_phase=vm_id not in wishes or sent.at >= wishes[vm_id].phase_since,
                asked_by=self._acts.asked[kind, vm_id],
            )
            for (kind, vm_id), sent in self._acts.sent.items()
        ]
        env = self.env
        for vm_id, machine in env.machines:
            if machine.power is OFF and vm_id not in wishes and machine.word:
                env = env.having(vm_id, word="")
        orders = sorted(filter(_counts(env), orders), key=lambda o: (o.kind, o.vm_id))
        return State(self.wishes_now(), tuple(orders), env)


def _counts(env: Env) -> Any:
    def counts(order: Order) -> bool:
        if order.on_its_way or order.kind in SHUTDOWNS:
            return True
        if order.kind is ActKind.START and order.vm_id == NODE:
            return not order.old or env.stage == STALE
        return not order.old and (order.of_phase or order.kind is not ActKind.START)

    return counts


def done(coroutine: Coroutine[Any, Any, Any]) -> Any:
    """Run what never really waits to its end."""
    try:
        coroutine.send(None)
    except StopIteration as end:
        return end.value
    coroutine.close()
    raise AssertionError("it waits for something")


def pressed(heart: WalkedHeart, name: str, vm_id: VmId) -> None:
    """A person asks for something; a refusal changes nothing."""
    ask, word = {
        "on": (heart.hand_over, "on"),
        "off": (heart.give_back, "off"),
        "cancel": (heart.cancel, "on"),
    }[name]
    try:
        done(ask(vm_id))
    except HandoffError:
        return
    heart.env = heart._acts.env = heart.env.having(vm_id, word=word)


def with_new_boot(state: State) -> State:
    """The node's kernel is another one: what was the boot of now is an old one."""
    env = replace(state.env, stage=state.env.stage + 1, mark_boot="old")
    wishes = tuple(
        replace(wish, before=(wish.before[0], "old", wish.before[2]))
        if wish.before
        else wish
        for wish in state.wishes
    )
    return State(wishes, state.orders, env)
