"""One panel: lines, marks and words of one policy."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree as ET

import pytest
from tests.report.pages import Page
from tests.report.samples import LINES, a_cut, a_long_session, a_moment, a_policy, a_session, simulated

from leafscar.report.svg import DASHES, panel, panels_of, symbol

HOSTILE = "</svg><script>alert(1)</script>"


def draw(policy, *others, **changes):
    """The panel of a policy in a session of several."""
    session = a_session([policy, *others], **changes)
    return panel(panels_of(session, 1), [policy], 0)


def test_a_panel_is_well_formed_and_described():
    """The drawing is sound XML with a role, a title and a description in words."""
    policy = simulated("balanced", 120, 2_000.0)
    root = ET.fromstring(draw(policy))
    assert root.attrib["role"] == "img"
    title, described = root[0], root[1]
    assert root.attrib["aria-labelledby"].split() == [title.attrib["id"], described.attrib["id"]]
    assert title.text == "Context over requests under balanced"
    assert f"{policy.moves} moves (request " in (described.text or "")
    assert f"{policy.breaks} breaks: " in (described.text or "")


@pytest.mark.parametrize("policy", LINES)
@pytest.mark.parametrize("requests", [12, 250])
def test_marks_are_as_many_as_there_are_events(policy, requests):
    """Every cut, move and break has its mark, in its own shape."""
    result = simulated(policy, requests, 2_400.0)
    text = draw(result)
    page = Page(text)
    assert page.counts("cuts") == [len(result.cuts)] == [len(page.all("path", **{"class": "mark"}))]
    assert page.counts("moves") == [result.moves] == [text.count("l-4.5 -8h9z")]
    assert page.counts("breaks") == [result.breaks] == [text.count("v8")]


def test_every_line_has_a_label_and_a_dash_of_its_own():
    """Lines are told apart by words and patterns, not by colour alone."""
    lines = {"threshold": 90e3, "shed": 80e3, "goal": 70e3, "gate": 85e3, "cut": 90e3, "trigger": 60e3}
    text = draw(a_policy(moments=[a_moment(context=95_000.0)], lines=lines), window=100_000)
    drawn = re.findall(r'stroke-dasharray="([^"]+)"/>\n<text[^>]*>([^<]+)<', text)
    assert {name for _, name in drawn} == set(DASHES)
    assert len({dash for dash, _ in drawn}) == len(DASHES)


def test_lines_that_cannot_be_drawn_are_left_out():
    """A line above the chart, of size 0 or without a number is not drawn somewhere else instead."""
    lines = {"threshold": 9e9, "shed": 0.0, "goal": math.nan, "unheard of <&>": 5_000.0}
    text = draw(a_policy(lines=lines))
    assert [name in text for name in ("threshold", "shed:", "goal", "window")] == [False] * 4
    assert "unheard of &lt;&amp;&gt;: 5.0k tokens" in text


def test_several_policies_share_a_panel_without_lines():
    """A shared picture names all and draws the lines of none."""
    policies = [simulated(name, 12, 2_000.0) for name in ("balanced", "thrifty")]
    text = panel(panels_of(a_session(policies, window=30_000), 1), policies, 0)
    assert "under balanced, thrifty" in text
    assert "threshold" not in text


def test_the_baseline_is_repeated_in_grey():
    """Every other panel refers to the baseline's path by its id; without a baseline none does."""
    none, balanced = a_policy("none"), a_policy()
    assert 'id="chart-1-baseline"' in draw(none, balanced)
    assert 'href="#chart-1-baseline"' in draw(balanced, none)
    assert "href" not in draw(balanced)
    assert "href" not in draw(balanced, a_policy("none", moments=[]))


def test_what_lies_above_the_window_is_shaded():
    """Requests that no provider would take stand in the shaded part."""
    assert 'class="over"' in draw(a_policy(moments=[a_moment(context=220_000.0)]))
    assert 'class="over"' not in draw(a_policy(), window=0)


def test_a_runaway_policy_says_its_peak():
    """A line that leaves the chart says how far it went."""
    runaway = a_policy("none:never-cut", moments=[a_moment(context=5e6)], peak=5e6)
    assert "peak 5.00M: above this chart" in draw(runaway, a_policy("none"))
    assert "above this chart" not in draw(a_policy("none", peak=math.nan), runaway)


def test_single_requests_are_dots():
    """Few requests get a dot each, and so does a lone one between gaps."""
    assert draw(simulated("none", 12, 500.0)).count("h0") == 12
    moments = [a_moment(at, context=math.nan if at == 70 else 5.0) for at in range(1, 72)]
    assert 'class="dots"' in draw(a_policy(moments=moments))
    assert 'class="dots"' not in draw(a_policy(moments=moments[:69]))


def test_cuts_with_unknown_sizes():
    """A cut at the very end, or one that the recording does not size, is marked all the same."""
    cuts = [a_cut(3, after=None, cost=None, before=math.nan, reason=HOSTILE)]
    text = draw(a_policy(moments=[a_moment(1), a_moment(2)], cuts=cuts))
    assert "cut before request 3 (&lt;/svg&gt;" in text
    assert "unknown to unknown tokens" in text
    assert Page(text).counts("cuts") == [1]


def test_moves_say_what_they_shed():
    """A move carries its outputs and tokens; too many to point at are one path."""
    few = a_policy(moments=[a_moment(1, shed=1, shed_tokens=4_000.0), a_moment(2, shed=3, shed_tokens=9e3)])
    assert "move at request 1: 1 output, ~4.0k tokens out" in draw(few)
    many = a_policy(moments=[a_moment(at, shed=1) for at in range(1, 102)])
    assert "move at request" not in draw(many)
    assert Page(draw(many)).counts("moves") == [101]


def test_marks_in_one_place_are_drawn_once():
    """A session longer than the drawing is wide counts all breaks but draws each place once."""
    policy = a_policy(moments=[a_moment(at, break_cause="shape") for at in range(1, 20_001)])
    text = draw(policy, requests=20_000)
    assert Page(text).counts("breaks") == [20_000]
    assert len(text) < 120_000


def test_hostile_names_stay_text():
    """A policy's name cannot leave the drawing."""
    page = Page(draw(a_policy(HOSTILE, lines={HOSTILE: 5_000.0})))
    assert page.all("script") == []
    assert (page.faults, page.open) == ([], [])


@pytest.mark.parametrize("requests", [0, 1, 2])
def test_tiny_sessions(requests):
    """No, one and two requests give a sound drawing without a number that is none."""
    text = draw(simulated("none", requests, 100.0), requests=requests)
    ET.fromstring(text)
    assert not re.search(r"\b(nan|inf)\b", text)


def test_symbols_of_the_legend():
    """Every mark and line has its symbol, which a screen reader passes over."""
    for name in ("context", "ghost", "cuts", "moves", "breaks", *DASHES):
        assert ET.fromstring(symbol(name)).attrib["aria-hidden"] == "true"
    assert len({symbol(name) for name in DASHES}) == len(DASHES)


def test_panels_share_one_scale():
    """All panels of a session carry the same axes."""
    session = a_long_session(100)
    panels = panels_of(session, 1)
    axes = {
        panel(panels, [policy], 0).partition('<g class="axis">')[2].partition("</g>")[0] for policy in session.policies
    }
    assert len(axes) == 1
