"""People, guests, hosts and clusters do anything, in any order; the promises hold all the same."""

import contextlib
import random

import pytest

from custom_components.gpu_handoff.handoff.reason import HandoffError, Reason
from custom_components.gpu_handoff.handoff.wish import Want
from custom_components.gpu_handoff.handoff.world import (
    ActKind,
    Agent,
    Fate,
    Power,
    VmId,
)

from .fakes import Household
from .worlds import ALICE, BOB, CAROL, NODE, OFF, RUNNING, WANTS, pod

STORIES = 300
CHAPTERS = 30
PLAYERS = (ALICE, BOB, CAROL)
SHUTDOWNS = (ActKind.SHUT_DOWN_BY_AGENT, ActKind.SHUT_DOWN_BY_ACPI)


class Story:
    """One household in which anything may happen; every act of ours is judged."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.home = Household()
        self.told: list[str] = []
        self._judge_acts()

    def _judge_acts(self) -> None:
        tower, act = self.home.tower, self.home.tower.act

        async def judged(kind: ActKind, vm_id: VmId) -> None:
            vms = tower.view.vms
            self.told.append(f"ours: {kind} {vm_id}")
            if kind is ActKind.START:
                rivals = [v for v in vms.values() if v.holds & WANTS[vm_id]]
                assert not [v for v in rivals if v.vm_id != vm_id], self.told
            if kind in SHUTDOWNS and vm_id in PLAYERS:
                wish = self.home.heart.wishes.get(vm_id)
                assert wish is not None, self.told
                assert wish.want is Want.LEND, self.told
            if vm_id in PLAYERS:
                assert vm_id in self.home.heart.wishes, self.told
            await act(kind, vm_id)

        tower.act = judged  # type: ignore[method-assign]

    async def chapter(self) -> None:
        """Let something happen."""
        name = self.dice.choice([n for n in dir(self) if n.startswith("then_")])
        self.told.append(name)
        with contextlib.suppress(HandoffError):
            await getattr(self, name)()
        await self.home.settle(3)

    def _player(self) -> VmId:
        return self.dice.choice(PLAYERS)

    async def then_somebody_wants_to_play(self) -> None:
        await self.home.heart.hand_over(self._player())

    async def then_somebody_wants_to_stop(self) -> None:
        await self.home.heart.give_back(self._player())

    async def then_somebody_cancels(self) -> None:
        await self.home.heart.cancel(self._player())

    async def then_home_assistant_restarts(self) -> None:
        await self.home.restart()

    async def then_the_journal_is_lost(self) -> None:
        self.home.journal.kept = None
        await self.home.restart()

    async def then_time_passes(self) -> None:
        self.home.now += self.dice.choice([1, 6, 40, 130, 700])

    async def then_the_tower_is_away_or_back(self) -> None:
        self.home.tower.silent = None if self.home.tower.silent else "connection_lost"

    async def then_the_cluster_is_away_or_back(self) -> None:
        silent = self.home.cluster.silent
        self.home.cluster.silent = None if silent else "cluster_timeout"
        self.home.cluster.refuses = None if silent else HandoffError("cluster_timeout")

    async def then_a_guest_obeys_or_not(self) -> None:
        order = (self.dice.choice([*SHUTDOWNS, ActKind.START]), self._machine())
        self.home.tower.ignores ^= {order}

    async def then_a_machine_changes_by_hand(self) -> None:
        vm_id = self._machine()
        power = self.dice.choice(
            [OFF, RUNNING, Power.PAUSED, Power.CRASHED, Power.SLEEPING, Power.STOPPING]
        )
        others = [v for v in self.home.tower.view.vms.values() if v.vm_id != vm_id]
        if power is OFF or not [v for v in others if v.holds & WANTS[vm_id]]:
            agent = self.dice.choice([Agent.CONNECTED, Agent.SILENT, Agent.NONE])
            self.home.tower.set(vm_id, power, agent=agent)
            self.told.append(f"by hand: {vm_id} {power} {agent}")

    async def then_an_agent_comes_up(self) -> None:
        vm_id = self._machine()
        if self.home.tower.view.vms[vm_id].power is RUNNING:
            self.home.tower.set(vm_id, RUNNING)

    async def then_pods_come_and_go(self) -> None:
        fates = [(), (pod(),), (pod(Fate.BLOCKED),), (pod(final=True),)]
        self.home.cluster.set(pods=self.dice.choice(fates))
        self.home.cluster.keeps_pods = self.dice.random() < 0.3

    async def then_somebody_cordons(self) -> None:
        if self.home.cluster.view.mark is None:
            self.home.cluster.set(schedulable=False)

    async def then_the_cards_are_late(self) -> None:
        self.home.cluster.set(
            gpus=self.dice.choice([None, 0, 2]), gpus_why=Reason.of("gpus_none")
        )

    def _machine(self) -> VmId:
        return self.dice.choice([NODE, *PLAYERS])

    async def end_well(self) -> None:
        """All faults stop: what began must come to an end."""
        home = self.home
        home.tower.silent = home.cluster.silent = home.cluster.refuses = None
        home.tower.ignores.clear()
        home.cluster.keeps_pods = False
        for vm in list(home.tower.view.vms.values()):
            if vm.power in (Power.STOPPING, Power.CRASHED):
                home.tower.set(vm.vm_id, OFF)
            elif vm.power is RUNNING:
                home.tower.set(vm.vm_id, RUNNING)
        self.told.append("all faults stop")
        for _ in range(40):
            home.cluster.set(pods=(), gpus=2)
            await home.later(50)
            for vm in home.tower.view.vms.values():
                if vm.power is RUNNING:
                    home.tower.set(vm.vm_id, RUNNING)

    def judge_the_end(self) -> None:
        """Settled, and no cordon of ours but while somebody plays on the node's cards."""
        home = self.home
        assert home.heart.operations == {}, self.told
        if home.cluster.view.mark is not None:
            players = [home.power(player) for player in PLAYERS]
            assert home.power(NODE) is OFF, self.told
            assert set(players) != {OFF}, self.told
        told = [event.reason for event in home.events if event.kind == "failed"]
        assert len(told) < 2 * CHAPTERS, "somebody is told the same thing for ever"


@pytest.mark.parametrize("seed", range(STORIES))
async def test_the_promises_hold_and_everything_ends(seed: int) -> None:
    story = Story(seed)
    for _ in range(CHAPTERS):
        await story.chapter()
    await story.end_well()
    story.judge_the_end()
    await story.home.heart.stop()
