"""The lab's own tests use the contract suite's fixtures, on the lab only."""

from collections.abc import AsyncGenerator, Iterator
import os

import pytest

from tests.contract.crew import Crew

from .lab import Lab
from .requirements import why_not
from .stage import LabStage


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """A lab that is left as it was found."""
    if trouble := why_not():
        give_up = pytest.fail if os.environ.get("CI") else pytest.skip
        give_up(trouble)
    real = Lab()
    was_up = real.is_up
    real.up()
    yield real
    if not was_up:
        real.down()


@pytest.fixture
async def stage(lab: Lab) -> AsyncGenerator[LabStage]:
    """The lab with only its GPU node running."""
    real = LabStage(lab)
    await real.reset()
    yield real
    await real.reset()


@pytest.fixture
async def crew(stage: LabStage) -> AsyncGenerator[Crew]:
    """The product's own parts at work on the lab."""
    async with Crew(stage) as parts:
        yield parts
