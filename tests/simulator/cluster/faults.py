"""What may go wrong with the API server, switched on and off at will."""

import asyncio
from dataclasses import dataclass, field

from .status import Answer


@dataclass(slots=True)
class Scripted:
    """An answer that the next request of its kind gets, whatever it asks for."""

    verb: str
    resource: str
    answer: Answer


@dataclass(slots=True)
class ClusterFaults:
    """`answer_delay_s`: every answer is late. `throttle`: so many requests are turned away.

    `scripted`: answers out of the ordinary, used once each, in their order. `lists_are_gone`
    and `watches_are_gone`: HTTP 410.
    """

    answer_delay_s: float = 0.0
    throttle: int = 0
    lists_are_gone: bool = False
    watches_are_gone: bool = False
    scripted: list[Scripted] = field(default_factory=list)
    answering: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        self.answering.set()

    @property
    def hang(self) -> bool:
        """Requests are taken and not answered, watches say nothing, until it is undone."""
        return not self.answering.is_set()

    @hang.setter
    def hang(self, value: bool) -> None:
        if value:
            self.answering.clear()
        else:
            self.answering.set()

    def undo(self) -> None:
        """Be without a fault again."""
        self.hang = False
        self.answer_delay_s, self.throttle = 0.0, 0
        self.lists_are_gone = self.watches_are_gone = False
        self.scripted.clear()

    def take_scripted(self, verb: str, resource: str) -> Answer | None:
        for item in self.scripted:
            if (item.verb, item.resource) == (verb, resource):
                self.scripted.remove(item)
                return item.answer
        return None
