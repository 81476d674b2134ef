"""What several of these tests need."""

import pytest

from .fake_host import FakeHost


@pytest.fixture
def host() -> FakeHost:
    """A host with the household on it."""
    return FakeHost()
