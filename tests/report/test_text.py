"""The view for a terminal and a pipe."""

from __future__ import annotations

import re

import pytest
from tests.report.samples import (
    LINES,
    RESULTS,
    a_long_session,
    a_money,
    a_policy,
    a_result,
    a_session,
    a_share,
    an_output,
)

from leafscar.report import render_text

COLOUR = re.compile(r"\x1b\[\d+m")


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
@pytest.mark.parametrize("color", [False, True])
def test_every_result_prints(result, color):
    """Whatever the result, lines fit 80 columns, end with a newline and hold no float of the machine."""
    text = render_text(result, color=color)
    assert text.endswith("\n")
    assert bool(COLOUR.search(text)) == color
    lines = COLOUR.sub("", text).splitlines()
    assert max(len(line) for line in lines) <= 80
    assert not any(line.endswith(" ") for line in lines)
    assert not re.search(r"\b(nan|inf|None)\b|\x1b", COLOUR.sub("", text))


def test_the_verdict_comes_first():
    """The first line is the result; an empty run says so."""
    assert render_text(RESULTS["one request"]).splitlines()[0] == "balanced would have saved $0.50 of $2.00."
    assert render_text(RESULTS["nothing"]).splitlines()[0] == "Nothing was replayed."


def test_colour_only_adds_colour():
    """Without its control codes the coloured text is the plain one."""
    result = a_result(a_long_session(130))
    assert COLOUR.sub("", render_text(result, color=True)) == render_text(result)


def test_colour_marks_what_is_cheaper_and_dearer():
    """Green and red stand only on differences that are claimed."""
    policies = [a_policy("none"), a_policy("a", ratio=0.5, saving=1.0), a_policy("b", ratio=1.5, saving=-1.0)]
    text = render_text(a_result(a_session(policies)), color=True)
    assert re.findall(r"\x1b\[(3[12])m *(~\S+)", text) == [("32", "~-$1.00"), ("31", "~+$1.00")]


@pytest.mark.parametrize("width", [20, 60, 80, 200])
def test_every_policy_is_a_line_of_the_table(width):
    """Each policy has its row at any width, with all of its cells."""
    lines = render_text(a_result(a_long_session(130)), width=width).splitlines()
    for name in LINES:
        [row] = [line for line in lines if line.startswith(f"{name} ") and re.search(r"k +\d+ +5 of 91$", line)]
        assert len(row.split()) >= 10


def test_a_narrow_table_breaks_its_deltas():
    """Where the table is too wide, dollars and percent stand below each other."""
    policies = [a_policy("none"), a_policy(ratio=1.0), a_policy("thrifty")]
    lines = render_text(a_result(a_session(policies)), width=60).splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("balanced ~"))
    assert "within model " in lines[at]
    assert lines[at + 1].split() == ["error"]
    assert "-$0.50 " in lines[at + 2]
    assert lines[at + 3].split() == ["(-25", "%)"]


def test_several_sessions_start_with_the_total():
    """The total stands first, then each session under its own heading and verdict."""
    text = render_text(RESULTS["several"])
    assert text.index("All sessions") < text.index("Session 1 of 3: sessions/one.jsonl")
    assert "Sums over 2 of 3 sessions" in text
    assert text.count("balanced would have cost 12 % less") == 3


def test_one_session_is_printed_directly():
    """A single session has neither heading nor total, only its name."""
    text = render_text(RESULTS["one request"])
    assert "session  sessions/one.jsonl" in text
    assert [word in text for word in ("Session 1", "All sessions")] == [False, False]


def test_what_stands_below_the_table():
    """Notes, what would not help, window, assumptions and the first problems are all there."""
    text = render_text(a_result(a_long_session(30), skipped=["b.txt: no session"]))
    for part in ("window   200k tokens; the price list states", "- classic: control was off", "What would not help:",
                 "- summary: 1,500 tokens (assumed)", "4 problems in the recording:", "- and 1 more",
                 "- b.txt: no session"):  # fmt: skip
        assert part in text
    assert "line 40" not in text
    assert "and 1 more" not in render_text(a_result(a_session(problems=["one"])))


def test_units_and_unknowns_are_words():
    """Without a price the column holds units and says so; what is unknown is a word."""
    policies = [a_policy("none", cost=None, units=None, ratio=None, hit_ratio=None), a_policy(cost=None, saving=None)]
    text = render_text(a_result(a_session(policies, error=None)))
    assert "units are input-token equivalents" in text
    assert re.search(r"^none +unknown +baseline +unknown", text, re.MULTILINE)
    assert "by an unknown share" in " ".join(text.split())


def test_a_recorded_table_has_no_mark_of_inference():
    """Where nothing was simulated, nothing is explained about simulation."""
    assert "inferred" not in render_text(a_result(a_session([a_policy("none")])))


def test_foreign_text_cannot_steer_a_terminal():
    """Control characters of a recording never reach the terminal."""
    hostile = "\x1b[2Jx\r\n\x07"
    session = a_session([a_policy(hostile, notes=[hostile])], path=hostile, problems=[hostile], model=hostile)
    for color in (False, True):
        text = render_text(a_result(session, verdict=hostile, skipped=[hostile]), color=color)
        assert not re.search(r"[\x00-\x09\x0b-\x1f]", COLOUR.sub("", text))


def test_money_in_a_few_lines():
    """Classes and tools with their share, what could be shed, the costliest outputs, and what is protected."""
    text = " ".join(render_text(a_result(a_session())).split())
    for part in (
        "Where the money goes: - outputs of tools 50 %, calls of tools 30 %, the model's words 15 %,",
        "by tool: read 50 %, edit 30 %",
        "outputs that could have been shed made up 54 % of all input tokens, 61 % of the largest request",
        "costliest outputs: #73 read (8.3k tokens, sent 199 times, $1.12), #16 read",
        "- 1 pin (~52 tokens): carried word for word through every cut",
    ):
        assert part in text
    assert "Where the money goes" not in render_text(a_result(a_session(money=None, held=None)))
    unpriced = a_money(outputs=[an_output(cost=None, units=8_000.0)], shares=[a_share(cost=None)])
    assert "sent 199 times, 8.0k units)" in " ".join(render_text(a_result(a_session(money=unpriced))).split())
    assert "costliest" not in render_text(a_result(a_session(money=a_money(outputs=[]))))
