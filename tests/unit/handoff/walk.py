"""Every state that wishes and world can reach, with every promise judged on the way."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from custom_components.gpu_handoff.handoff import journal
from custom_components.gpu_handoff.handoff.acts import SHUTDOWNS
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import Power, VmId

from .walk_heart import (
    Broken,
    Order,
    State,
    WalkedHeart,
    key_of,
    pressed,
    wish_of,
    with_new_boot,
)
from .walk_world import (
    STALE,
    Env,
    by_people,
    by_themselves,
    house_of,
    obeyed,
    start_of,
)
from .worlds import NODE, OFF, RUNNING


@dataclass
class Walk:
    """A walk over one household, with what its people and its machines may do."""

    players: tuple[VmId, ...]
    allowed: frozenset[str]
    options: dict[str, object] = field(default_factory=dict)
    came_from: dict[State, tuple[State, str] | None] = field(default_factory=dict)
    ends_in: dict[State, State | None] = field(default_factory=dict)
    settled: dict[State, State] = field(default_factory=dict)
    edges: int = 0
    longest: int = 0

    def explore(self) -> None:
        """Go everywhere, breadth first, so that a broken promise has a short story."""
        start = State((), (), start_of(*self.players))
        self.house = house_of(start.env, **self.options)
        self.came_from[start] = None
        todo = deque([start])
        while todo:
            state = todo.popleft()
            self.ends_in[state] = None
            for name, after, natural in self._moves(state):
                self.edges += 1
                if after not in self.came_from:
                    self.came_from[after] = (state, name)
                    todo.append(after)
                if natural and self.ends_in[state] is None:
                    self.ends_in[state] = after
        self._judge_ends()

    def story(self, state: State) -> list[str]:
        """How a state is reached."""
        told: list[str] = []
        while (step := self.came_from.get(state)) is not None:
            state, name = step
            told.append(name)
        return told[::-1]

    def _moves(self, state: State) -> Iterator[tuple[str, State, bool]]:
        """What may happen next; the first natural one is what a well-behaved world does."""
        for name, before, natural in self._happenings(state):
            yield name, self._settle(state, name, before), natural
        for vm_id in self.players:
            for name in ("on", "off", "cancel"):
                if name in self.allowed:
                    yield (
                        f"press {name} {vm_id}",
                        self._press(state, name, vm_id),
                        False,
                    )

    def _settle(self, state: State, name: str, before: State) -> State:
        if before not in self.settled:
            with self._told(state, name):
                self.settled[before] = WalkedHeart(before, self.house).settle()
        return self.settled[before]

    def _press(self, state: State, name: str, vm_id: VmId) -> State:
        heart = WalkedHeart(state, self.house)
        with self._told(state, f"press {name} {vm_id}"):
            pressed(heart, name, vm_id)
            return heart.settle()

    def _told(self, state: State, name: str) -> Telling:
        return Telling(self, state, name)

    def _happenings(self, state: State) -> Iterator[tuple[str, State, bool]]:
        env = state.env
        for name, after in by_themselves(env):
            yield name, replace(state, env=after), True
        if env.stage == STALE and env[NODE].power is RUNNING:
            yield "the node has booted", with_new_boot(state), True
        yield from _returns(state)
        yield from _time_passes(state)
        for name, after in by_people(env, self.allowed):
            if after != env:
                yield name, replace(state, env=after), False
        if "restart" in self.allowed:
            yield from _restarts(state)
        if "forget" in self.allowed:
            yield "the journal is lost", State((), (), env), False

    def _judge_ends(self) -> None:
        """From everywhere a well-behaved world comes to rest, and nothing of ours is left."""
        steps: dict[State, int] = {}
        for first in self.ends_in:
            path: list[State] = []
            state: State | None = first
            while state is not None and state not in steps:
                steps[state] = -1
                path.append(state)
                state = self.ends_in[state]
            if state is not None and steps[state] == -1:
                raise Broken(f"no end: {self.story(first)} .. {state}")
            if state is None:
                self._judge_end(path[-1], first)
            length = 0 if state is None else steps[state] + 1
            for passed in reversed(path):
                steps[passed] = length
                self.longest = max(self.longest, length)
                length += 1

    def _judge_end(self, state: State, first: State) -> None:
        heart = WalkedHeart(state, self.house)
        heart.settle()
        waiting = heart.operations.values()
        stuck = [view for view in waiting if view.needs_person is None]
        if stuck:
            raise Broken(f"stuck: {self.story(state)} {stuck}")
        plays = any(
            machine.power is not OFF
            for vm_id, machine in state.env.machines
            if vm_id in self.players
        )
        if state.env.mark and not plays and not waiting:
            raise Broken(f"our mark is left: {self.story(state)} {state}")


class Telling:
    """Adds to a broken promise how it came about."""

    def __init__(self, walk: Walk, state: State, name: str) -> None:
        self.walk, self.state, self.name = walk, state, name

    def __enter__(self) -> None:
        pass

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, Broken):
            told = [*self.walk.story(self.state), self.name]
            raise Broken(f"{error}\n  after: {told}\n  {self.state}") from None


def _returns(state: State) -> Iterator[tuple[str, State, bool]]:
    """An act comes back: obeyed, without effect, or with its effect still to come."""
    for order in state.orders:
        if not order.on_its_way:
            continue
        back = replace(order, on_its_way=False)
        orders = tuple(back if o is order else o for o in state.orders)
        env, what = state.env, f"{order.kind} {order.vm_id}"
        after = obeyed(env, order.kind, order.vm_id, order.asked_by)
        yield f"{what}: done", State(state.wishes, orders, after), True
        if after != env:
            yield f"{what}: no effect", State(state.wishes, orders, env), False
            if order.kind in SHUTDOWNS:
                slow = env.having(order.vm_id, power=Power.STOPPING)
                yield f"{what}: slowly", State(state.wishes, orders, slow), False


def _time_passes(state: State) -> Iterator[tuple[str, State, bool]]:
    fresh = {o.vm_id for o in state.orders if not o.old and not o.on_its_way}
    for vm_id in sorted(fresh):
        orders = tuple(
            replace(o, old=True) if o.vm_id == vm_id and not o.on_its_way else o
            for o in state.orders
        )
        yield f"orders to {vm_id} get old", replace(state, orders=orders), True
    for wish in state.wishes:
        if not wish.late:
            wishes = tuple(
                replace(w, late=True) if w is wish else w for w in state.wishes
            )
            yield (
                f"{wish.vm_id} is late in {wish.phase}",
                replace(state, wishes=wishes),
                True,
            )


def _restarts(state: State) -> Iterator[tuple[str, State, bool]]:
    """Home Assistant is restarted; what was on its way may have its effect all the same."""
    kept = journal.to_json({w.vm_id: wish_of(w) for w in state.wishes}, 0.0)
    read = journal.from_json(kept, 0.0)
    wishes = tuple(key_of(wish) for wish in read.values())
    yield "restart", State(wishes, (), state.env), False
    env: Env = state.env
    for order in state.orders:
        if order.on_its_way:
            env = obeyed(env, order.kind, order.vm_id, order.asked_by)
    if env != state.env:
        yield "restart, all is done", State(wishes, (), env), False


__all__ = ["Broken", "Order", "Walk", "Want"]
