from itertools import accumulate

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pruning.build import vectors

from leafscar.pruning import next_engagement

THRESHOLD = 44_000


@pytest.mark.parametrize(
    ("engaged", "estimate", "reset", "after"),
    [
        pytest.param(False, 44_000, False, False, id="a14_55_equal"),
        pytest.param(False, 44_001, False, True, id="a14_55_one_more"),
        pytest.param(False, 9_000, False, False, id="a14_56"),
        pytest.param(True, 12, False, True, id="a14_57"),
        pytest.param(False, 90_000, False, True, id="a14_58"),
        pytest.param(True, 43_000, True, False, id="a14_59"),
        pytest.param(True, 45_000, True, True, id="a14_60"),
        pytest.param(True, 44_000, True, False, id="a14_61_reset"),
        pytest.param(True, 44_000, False, True, id="a14_61_no_reset"),
    ],
)
def test_one_step(engaged, estimate, reset, after):
    """Crossing wins over a reset, a reset over the past."""
    assert next_engagement(engaged, estimate, THRESHOLD, reset) is after


def fold(estimates):
    """States after each estimate, without any reset."""
    return list(accumulate(estimates, lambda state, e: next_engagement(state, e, THRESHOLD, False), initial=False))[1:]


def test_a14_62_raw_and_pruned_sizes_do_not_flap():
    """The smaller usage of a pruned request does not bring the raw shape back."""
    assert fold([45_000, 20_000, 21_000, 46_000, 20_500, 22_000]) == [True] * 6


@pytest.mark.parametrize("case", vectors("engagement"), ids=lambda case: f"a14_63_{'-'.join(map(str, case.values()))}")
def test_golden_values(case):
    """Every row of the truth table."""
    got = next_engagement(case["engaged"], case["estimate"], case["threshold"], case["reset"])
    assert got is case["next"]


@settings(max_examples=50)
@given(st.lists(st.integers(0, 100_000)))
def test_without_a_reset_engaged_stays_engaged(estimates):
    """Over any sequence of sizes there is at most one switch."""
    states = fold(estimates)
    assert states == sorted(states)
