"""Every test here runs twice: on the simulator, and on the lab."""

import asyncio
from collections.abc import AsyncGenerator, Iterator

import pytest

from tests.lab import why_not
from tests.lab.lab import Lab
from tests.lab.stage import LabStage
from tests.simulator import Simulator
from tests.simulator.stage import SPEED, SimulatorStage

from .crew import Crew
from .stage import Stage


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A lab that is left as it was found."""
    if trouble := why_not():
        pytest.skip(trouble)
    real = Lab()
    was_up = real.is_up
    real.up()
    yield real
    if not was_up:
        real.down()


@pytest.fixture(
    params=["simulator", pytest.param("lab", marks=pytest.mark.lab)],
)
async def stage(request: pytest.FixtureRequest) -> AsyncGenerator[Stage]:
    """A stage on which only the GPU node runs."""
    if request.param == "simulator":
        async with Simulator(speed=SPEED) as simulator:
            yield SimulatorStage(simulator)
        return
    real = LabStage(request.getfixturevalue("lab"))
    await real.reset()
    yield real
    await real.reset()


@pytest.fixture
async def crew(stage: Stage) -> AsyncGenerator[Crew]:
    """The product's own parts at work on the stage, without Home Assistant."""
    async with Crew(stage) as parts, asyncio.timeout(240):
        yield parts
