from __future__ import annotations

import math
import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.report.pages import Page
from tests.report.samples import a_cut, a_policy, a_session

from leafscar.replay.details import EqualCuts
from leafscar.report.scatter import scatter


def drawn(policies, **changes):
    """The drawing as text, and its elements."""
    text = "\n".join(scatter(a_session(policies, **changes), 1))
    page = Page(text)
    assert (page.faults, page.open) == ([], [])
    return text, page


def policy(name, cuts, cost, **changes):
    """A policy of so many cuts."""
    return a_policy(name, cuts=[a_cut()] * cuts, cost=cost, **changes)


def test_every_policy_is_a_labelled_point():
    """Each point has a mark, a leader and its name; those on one spot share them; the recorded one is square."""
    policies = [policy("none", 2, 3.0), policy("a", 1, 2.0), policy("b", 1, 2.0), policy("balanced", 0, 1.5)]
    text, page = drawn(policies)
    assert re.findall(r"<text x=\"484\"[^>]*>([^<]*)<", text) == ["none", "a, b", "balanced"]
    assert [len(page.all("g", **{"class": kind})) for kind in ("recorded", "policy", "equal")] == [1, 2, 1]
    assert "none: 2 cuts, $3.00; a, b: 1 cut, ~$2.00; balanced: 0 cuts, ~$1.50; compaction:0.90" in page.text


def test_compaction_at_other_lines_is_a_thread():
    """The points of the baseline are joined in the order of their cuts."""
    text, page = drawn([policy("none", 2, 3.0), policy("balanced", 1, 2.0)])
    [thread] = page.all("path", **{"class": "thread"})
    xs = [float(x) for x in re.findall(r"[ML]([\d.]+) ", thread["d"])]
    assert len(xs) == 3
    assert xs == sorted(xs)
    assert "hollow diamonds" in text
    bare, _ = drawn([policy("none", 2, 3.0), policy("balanced", 1, 2.0)], equal_cuts=[])
    assert ["thread" in bare, "hollow" in bare] == [False, False]


def test_units_take_the_place_of_unknown_dollars():
    """One unknown price puts the whole drawing in units, so that points can be compared."""
    text, _ = drawn([policy("none", 1, None, units=5e5), policy("balanced", 0, 2.0, units=3e5)])
    assert "Input-token equivalents" in text
    assert "$" not in text


@pytest.mark.parametrize(
    "policies",
    [[], [policy("none", 1, 2.0)], [policy("none", 1, None, units=None), policy("balanced", 0, math.nan, units=4e5)]],
    ids=["none", "one", "unknown"],
)
def test_fewer_than_two_points_compare_nothing(policies):
    """Nothing is drawn."""
    assert drawn(policies)[0] == ""


def test_long_names_are_cut_in_the_label_only():
    """The drawing keeps its width; the whole names stay in the title."""
    text, page = drawn([policy(f"compaction:0.{at}1", 1, 2.0) for at in range(1, 9)])
    assert "compaction:0.81" in page.text
    assert re.search(r"<text [^>]*>compaction:0\.11, compaction:0\.21, [^<]*\u2026</text>", text)


@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1e6)), min_size=2, max_size=9),
    st.lists(st.tuples(st.integers(0, 400), st.floats(0, 1e6)), max_size=5),
)
def test_every_point_lies_inside_the_drawing(policies, line):
    """Whatever cuts and costs, nothing leaves the plot, no label overlaps, and no number is broken."""
    equal = [
        EqualCuts(policy=f"compaction:{at}", cuts=cuts, cost=cost, units=1.0) for at, (cuts, cost) in enumerate(line)
    ]
    text, _ = drawn([policy(f"p{at}", cuts, cost) for at, (cuts, cost) in enumerate(policies)], equal_cuts=equal)
    assert not re.search(r"nan|inf(?!o)", text)
    for x, y in re.findall(r'class="spot" d="M(-?[\d.]+) (-?[\d.]+)', text):
        assert 64 <= float(x) <= 470
        assert 0 <= float(y) <= 260
    labels = sorted(float(y) for y in re.findall(r'<text x="484" y="(-?[\d.]+)"', text))
    assert all(after - before > 13 for before, after in pairwise(labels))
