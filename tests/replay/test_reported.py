from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.model import Usage, as_usage
from leafscar.replay.reported import (
    MOST,
    has_impossible_cost,
    likely_moment,
    likely_number,
    likely_usage,
    stated_cost,
)

NUMBERS = st.one_of(st.none(), st.booleans(), st.text(max_size=3), st.integers(), st.floats(), st.just(10**400))


@given(NUMBERS)
def test_a_likely_number_can_be_built_on(value):
    """What comes back is the number itself, finite and within bounds, or nothing."""
    found = likely_number(value)
    assert found is None or (found is value and 0 <= found <= MOST)


@pytest.mark.parametrize(
    ("value", "found"),
    [(0, 0), (MOST, MOST), (MOST + 1, None), (-1, None), (math.nan, None), (True, None), ("9", None)],
)
def test_the_bounds_of_a_number(value, found):
    """From 0 to a million million."""
    assert likely_number(value) == found


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [
        (None, None),
        (math.nan, None),
        (-math.inf, None),
        (1e11, None),
        (1e11 + 1, (1e11 + 1) / 1000),
        (253_402_300_799_000, 253_402_300_799),
        (253_402_300_799_001, None),
        (10**400, None),
    ],
)
def test_the_bounds_of_a_moment(milliseconds, seconds):
    """From 1973 to the end of the year 9999."""
    assert likely_moment(milliseconds) == seconds


FIELDS = ("input", "output", "cacheRead", "cacheWrite", "cacheWrite1h", "totalTokens")


@given(st.dictionaries(st.sampled_from(FIELDS), NUMBERS))
def test_a_likely_usage_has_no_impossible_count(fields):
    """Every count is possible or unknown, and a usage that was possible is the same object."""
    usage = as_usage(fields)
    found = likely_usage(usage)
    counts = [getattr(found, name) for name in Usage.__struct_fields__]
    assert all(count is None or 0 <= count <= MOST for count in counts)
    assert math.isfinite(found.prompt)
    assert likely_usage(found) is found


def test_one_impossible_part_makes_the_input_side_unknown():
    """The rest of a prompt is no size of a request; what was answered is still known."""
    found = likely_usage(Usage(input=math.nan, output=7, cache_read=90_000, cache_write=0, total_tokens=90_007))
    assert found == Usage(output=7)
    assert likely_usage(Usage(input=9, output=-7, total_tokens=2)) == Usage(input=9, total_tokens=2)
    assert likely_usage(None) is None


@pytest.mark.parametrize(
    ("usage", "dollars", "impossible"),
    [
        (None, None, False),
        ({}, None, False),
        ({"cost": 3}, None, False),
        ({"cost": {"total": True}}, None, False),
        ({"cost": {"total": 0.5}}, 0.5, False),
        ({"cost": {"total": -0.5}}, None, True),
        ({"cost": {"total": math.nan}}, None, True),
        ({"cost": {"total": math.inf}}, None, True),
    ],
)
def test_dollars_are_read_from_anything(usage, dollars, impossible):
    """Only a possible number in its place is a cost."""
    assert stated_cost(usage) == dollars
    assert has_impossible_cost(usage) == impossible
