"""Words for numbers, and the line below which no difference is claimed."""

from __future__ import annotations

import math

import pytest

from leafscar.replay.numbers import is_told, is_within, joint_error, margin_of, percent


@pytest.mark.parametrize(
    ("error", "margin"), [(None, None), (math.nan, None), (0.0, 0.01), (0.2, 0.2), (0.3, math.inf)]
)
def test_no_model_is_trusted_to_less_than_one_percent(error, margin):
    """A hit is not exact, a model that nobody checked has no margin, one that misses by far claims nothing."""
    assert margin_of(error) == margin


@pytest.mark.parametrize(
    ("errors", "bills", "joint"),
    [
        ([0.1, 0.4], [3.0, 1.0], 0.175),
        ([0.1], [0.0], None),
        ([], [], None),
        ([0.1, None], [3.0, 1.0], None),
        ([0.1, 0.4], [3.0, math.nan], None),
    ],
)
def test_errors_of_several_sessions_are_weighted_by_their_bills(errors, bills, joint):
    """A large session's error counts for more; one unknown number makes the whole unknown."""
    assert joint_error(errors, bills) == (None if joint is None else pytest.approx(joint))


@pytest.mark.parametrize(
    ("ratio", "margin", "told", "within"),
    [
        (0.5, 0.25, True, False),
        (1.5, 0.25, True, False),
        (1.25, 0.25, False, True),
        (1.0, 0.25, False, True),
        (1.5, None, False, False),
        (None, 0.25, False, False),
        (math.inf, 0.25, False, False),
        (9.0, math.inf, False, True),
    ],
)
def test_a_difference_is_told_within_or_unknown(ratio, margin, told, within):
    """At the margin nothing is claimed; where ratio or margin is unknown nothing is said at all."""
    assert (is_told(ratio, margin), is_within(ratio, margin)) == (told, within)


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0312, "3.1\u00a0%"), (-0.0001, "0.0\u00a0%"), (0.0999, "10\u00a0%"), (None, "unknown"), (math.nan, "unknown")],
)
def test_percentages(share, text):
    """One decimal below 10 %, and no break before the sign."""
    assert percent(share) == text
