"""A drain: the pods of a node as they are judged, and the evictions sent so far."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..handoff.world import Fate, Pod
from .client import Api
from .evictions import Outcome, Verdict, evict
from .pods import DrainOptions, RawPod, judge
from .selector import parse
from .volumes import Attachments

AT_ONCE = 6
FINAL_FOR_S = 60.0
"""A final answer is forgotten then: somebody may have changed the budget since."""


@dataclass(frozen=True, slots=True)
class _Answer:
    at: float
    verdict: Verdict

    @property
    def until(self) -> float:
        """Monotonic second from which a new eviction may be sent."""
        final = self.verdict.outcome is Outcome.NEVER
        return self.at + (FINAL_FOR_S if final else self.verdict.retry_in_s)


class Drain:
    """Judges pods with what the server answered last about each, by uid."""

    def __init__(
        self,
        api: Api,
        options: DrainOptions,
        attachments: Attachments,
        clock: Callable[[], float],
    ) -> None:
        """Nothing was sent yet; raises HandoffError for an unreadable selector."""
        parse(options.protect)
        self._api = api
        self._options = options
        self._attachments = attachments
        self._clock = clock
        self._answers: dict[str, _Answer] = {}

    def pods(self, raw: Iterable[RawPod]) -> tuple[Pod, ...]:
        """Judge all pods; those that are known to be gone are left out."""
        judged = (self._judge(pod) for pod in raw)
        return tuple(pod for pod in judged if pod is not None)

    async def evict(self, raw: Iterable[RawPod]) -> None:
        """Evict what is due, or nothing at all while any pod is BLOCKED.

        Raises Unreachable if the server did not answer for one; what it answered for the
        others is kept.
        """
        now, raw = self._clock(), tuple(raw)
        present = {pod["metadata"]["uid"] for pod in raw}
        self._answers = {u: a for u, a in self._answers.items() if u in present}
        judged = [(pod, seen) for pod in raw if (seen := self._judge(pod))]
        if any(seen.fate is Fate.BLOCKED for _, seen in judged):
            return
        due = [pod for pod, seen in judged if _is_due(seen, now)]
        await self._attachments.expect(due)
        slots = asyncio.Semaphore(AT_ONCE)
        sent = (self._send(pod, slots) for pod in due)
        results = await asyncio.gather(*sent, return_exceptions=True)
        for trouble in results:
            if trouble is not None:
                raise trouble

    def forget(self) -> None:
        """The drain is over."""
        self._answers.clear()
        self._attachments.forget()

    async def _send(self, pod: RawPod, slots: asyncio.Semaphore) -> None:
        async with slots:
            verdict = await evict(self._api, pod)
        self._answers[pod["metadata"]["uid"]] = _Answer(self._clock(), verdict)

    def _judge(self, raw: RawPod) -> Pod | None:
        meta = raw["metadata"]
        fate, why = judge(raw, self._options)
        answer = self._answers.get(meta["uid"]) if fate is Fate.EVICT else None
        if answer is not None:
            if answer.verdict.outcome is Outcome.GONE:
                return None
            why = answer.verdict.why
            fate = self._fate_after(answer)
        return Pod(
            namespace=meta["namespace"],
            name=meta["name"],
            uid=meta["uid"],
            fate=fate,
            why=why,
            final=self._is_final(answer),
            retry_at=answer.until if answer else 0.0,
        )

    def _fate_after(self, answer: _Answer) -> Fate:
        """An accepted pod is on its way before the watch can say so."""
        accepted = answer.verdict.outcome is Outcome.ACCEPTED
        return Fate.LEAVING if accepted and self._clock() < answer.until else Fate.EVICT

    def _is_final(self, answer: _Answer | None) -> bool:
        if answer is None or answer.verdict.outcome is not Outcome.NEVER:
            return False
        return self._clock() < answer.until


def _is_due(pod: Pod, now: float) -> bool:
    return pod.fate is Fate.EVICT and not pod.final and pod.retry_at <= now
