from __future__ import annotations

import pytest
from tests.hindsight.recorded import Path


@pytest.fixture
def path():
    """An empty path."""
    return Path()
