"""Geometry of the charts."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.samples import WINDOW, a_moment, a_policy, a_session

from leafscar.report.scale import Scale, scale_of, spread, steps, thinned

BOX = {"first": 0.0, "last": 100.0, "top": 10.0, "bottom": 110.0}
PLAIN = Scale(**BOX, requests=101, tokens=1_000.0)


def peaking(*sizes, policy="balanced"):
    """A policy whose contexts have these sizes."""
    return a_policy(policy, moments=[a_moment(at, context=size) for at, size in enumerate(sizes, 1)])


def test_places():
    """Requests run left to right, tokens upwards, and nothing leaves the plot."""
    assert [PLAIN.x(1), PLAIN.x(51), PLAIN.x(101), PLAIN.x(0), PLAIN.x(400)] == [0, 50, 100, 0, 100]
    assert [PLAIN.y(0), PLAIN.y(500), PLAIN.y(1_000), PLAIN.y(9_999), PLAIN.y(-5)] == [110, 60, 10, 10, 110]
    assert [PLAIN.holds(1_000), PLAIN.holds(1_001), PLAIN.holds(-1)] == [True, False, False]


def test_a_single_request_stands_in_the_middle():
    """One request has no left and right."""
    scale = scale_of(a_session(requests=0), **BOX)
    assert scale.requests == 1
    assert scale.x(1) == 50


@pytest.mark.parametrize(
    ("policies", "window", "held", "not_held"),
    [
        ([peaking(150_000.0)], WINDOW, [WINDOW], [300_000]),
        ([peaking(9_000.0)], WINDOW, [9_000], [WINDOW]),
        ([peaking(100_000.0, policy="none"), peaking(5_000_000.0)], WINDOW, [WINDOW], [300_000]),
        ([peaking(300_000.0, policy="none")], WINDOW, [300_000, WINDOW], [400_000]),
        ([peaking(math.nan, math.inf)], WINDOW, [WINDOW], []),
        ([], WINDOW, [WINDOW], []),
        ([], 0, [1], [2]),
        ([peaking(0.0)], 0, [1], [2]),
        ([peaking(500.0)], 0, [500], [1_000]),
    ],
)
def test_the_height_shows_what_matters(policies, window, held, not_held):
    """Peaks always fit, the window when it is near, and a runaway policy does not flatten the others."""
    scale = scale_of(a_session(policies, window=window), **BOX)
    assert all(scale.holds(size) for size in held)
    assert not any(scale.holds(size) for size in not_held)


@settings(max_examples=100)
@given(st.floats(min_value=1e-3, max_value=1e9), st.integers(2, 8))
def test_ticks_are_round_and_few(highest, about):
    """Ticks start at 0, never pass the highest value, and are about as many as asked for."""
    ticks = steps(highest, about)
    assert ticks[0] == 0
    assert ticks[-1] <= highest * 1.01
    assert len(ticks) <= about + 2


def test_a_thin_path_keeps_what_can_be_seen():
    """Of many requests in one column the first, lowest, highest and last stay, and each with a move or a cut."""
    sizes = [100.0 + at % 7 for at in range(1_000)]
    moments = [a_moment(at + 1, context=size) for at, size in enumerate(sizes)]
    moments[500] = a_moment(501, context=900.0)
    moments[503] = a_moment(504, context=103.0, shed=1)
    moments[505] = a_moment(506, context=104.0, cut=True)
    scale = Scale(**BOX, requests=1_000, tokens=1_000.0)
    [points] = thinned(moments, scale, column=5.0)
    assert len(points) <= 21 * 4 + 2
    for one in (moments[0], moments[500], moments[503], moments[505], moments[-1]):
        assert (scale.x(one.request), scale.y(one.context)) in points
    assert points == sorted(points, key=lambda point: point[0])


def test_a_path_ends_where_a_size_is_unknown():
    """An unknown size is a gap, not a zero."""
    sizes = [math.nan, 1.0, 2.0, math.inf, math.nan, 3.0]
    moments = [a_moment(at + 1, context=size) for at, size in enumerate(sizes)]
    assert [len(run) for run in thinned(moments, PLAIN)] == [2, 1]
    assert thinned([], PLAIN) == []


@settings(max_examples=100)
@given(st.lists(st.floats(min_value=0, max_value=100), max_size=7))
def test_labels_never_overlap(heights):
    """Labels stay a gap apart and above the lowest place."""
    placed = sorted(spread(heights, 10.0, 100.0))
    assert all(later - earlier >= 9.99 for earlier, later in pairwise(placed))
    assert all(place <= 100 for place in placed)
    assert spread([50.0], 10.0, 100.0) == [50.0]
