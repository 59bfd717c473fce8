"""Which panels a session has, and what stands above them."""

from __future__ import annotations

import re

from tests.report.pages import Page
from tests.report.samples import LINES, a_cut, a_long_session, a_moment, a_policy, a_session

from leafscar.report.figures import figures


def draw(session):
    """All charts of a session."""
    return "\n".join(figures(session, 1))


def captions(text):
    """Names above the panels."""
    return re.findall(r"<strong>([^<]+)</strong>", text)


def test_policies_that_act_have_panels_of_their_own():
    """Each policy that moved or cut is drawn, and the marks of all panels are those of the policies."""
    session = a_long_session(250)
    text = draw(session)
    page = Page(text)
    assert captions(text) == list(LINES)
    assert page.counts("moves") == [policy.moves for policy in session.policies]
    assert page.counts("cuts") == [len(policy.cuts) for policy in session.policies]
    assert page.counts("breaks") == [policy.breaks for policy in session.policies]


def test_quiet_policies_that_look_the_same_share_a_panel():
    """What did nothing is drawn once under all its names, with the lines that it waited for in words."""
    text = draw(a_long_session(12))
    assert captions(text) == ["none", ", ".join(list(LINES)[1:])]
    assert "compaction:0.70: threshold 140k; classic: threshold 184k, gate 167k" in text
    assert "none:never-cut: ;" not in text


def test_a_difference_keeps_panels_apart():
    """Another path, another break, a move or a cut: each needs its own panel."""
    quiet = [a_policy(name, moments=[a_moment(1), a_moment(2)]) for name in ("a", "b")]
    others = [
        a_policy("path", moments=[a_moment(1), a_moment(2, context=9_000.0)]),
        a_policy("break", moments=[a_moment(1), a_moment(2, break_cause="shape")]),
        a_policy("bill", moments=[a_moment(1), a_moment(2)], cost=9.0),
        a_policy("move", moments=[a_moment(1), a_moment(2, shed=1)]),
        a_policy("cut", moments=[a_moment(1), a_moment(2)], cuts=[a_cut(2)]),
    ]
    assert captions(draw(a_session([*quiet, *others]))) == ["a, b", "path", "break", "bill", "move", "cut"]


def test_a_window_above_the_chart_is_said():
    """Where the window is too far up to be drawn, its size stands in words."""
    assert "The window (200k) lies above." in draw(a_long_session(12))
    assert "lies above" not in draw(a_long_session(250))


def test_the_legend_shows_only_what_is_drawn():
    """Lines that no panel has, and a baseline that is not there, are not explained."""
    full = draw(a_long_session(250))
    assert [f"{name} line" in full for name in ("threshold", "shed", "goal", "gate", "cut")] == [True] * 5
    assert "context of none" in full
    bare = draw(a_session([a_policy(lines={"strange": 5.0})]))
    assert [word in bare for word in (" line</li>", "context of none")] == [False, False]


def test_without_requests_there_is_no_chart():
    """A session whose policies sent nothing has no heading over nothing."""
    assert draw(a_session([])) == ""
    assert draw(a_session([a_policy(moments=[])])) == ""
