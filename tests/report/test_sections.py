"""The part of the page that belongs to one session."""

from __future__ import annotations

from tests.report.pages import Page
from tests.report.samples import LINES, a_long_session, a_policy, a_session

from leafscar.replay.result import Assumption
from leafscar.report.sections import policy_table, session_section


def write(session, *, of=1):
    """The section of a session."""
    return "\n".join(session_section(session, 1, of=of))


def test_every_policy_has_a_row():
    """Each policy stands in the table with its scope, the recorded one by that name."""
    page = Page("\n".join(policy_table(a_long_session(60))))
    assert len(page.all("th", scope="row")) == len(LINES)
    assert len(page.all("th", scope="col")) == 10
    assert all(name in page.text for name in LINES)
    assert "nonerecorded" in page.text


def test_cells_carry_their_kind():
    """Unknowns and words are muted, claimed differences coloured, and coloured ones carry a sign too."""
    policies = [
        a_policy("none"), a_policy("a", ratio=0.5, saving=1.0), a_policy("b", ratio=1.5, saving=-1.0),
        a_policy("c", ratio=1.0), a_policy("d", ratio=None, saving=None),
    ]  # fmt: skip
    text = "\n".join(policy_table(a_session(policies)))
    assert '<td class="cheaper"><span class="about">~</span>\u2212$1.00 (\u221250\u00a0%)</td>' in text
    assert '<td class="dearer"><span class="about">~</span>+$1.00 (+50\u00a0%)</td>' in text
    assert '<td class="muted">within model error</td>' in text
    assert '<td class="muted">unknown</td>' in text
    assert '<td class="muted">baseline</td>' in text


def test_no_policy_no_table():
    """An empty result says so."""
    assert "No policy was replayed." in "\n".join(policy_table(a_session([])))


def test_units_are_explained_where_they_stand():
    """Without a price the column says what it shows, and a recorded table needs no mark of inference."""
    text = "\n".join(policy_table(a_session([a_policy("none", cost=None)])))
    assert "Input-token equivalents" in text
    assert "No price is known here" in text
    assert "inferred numbers" not in text


def test_facts_lists_and_assumptions():
    """Window with source, notes, what would not help, assumptions with source and problems all stand there."""
    session = a_long_session(
        30, not_helped=["cutting earlier"], problems=["line 3: odd"],
        assumptions=[Assumption(name="cache", value="300 s", source="flag")],
    )  # fmt: skip
    page = Page(write(session))
    for text in ("200k tokens; the price list states", "classic: control was off", "cutting earlier", "300 sflag",
                 "1 problem in the recording", "line 3: odd"):  # fmt: skip
        assert text in page.text.replace("</td>", "")
    assert (page.faults, page.open) == ([], [])


def test_what_is_not_there_has_no_heading():
    """Empty lists leave nothing behind."""
    text = write(a_session())
    assert [word in text for word in ("Notes", "What would not help", "Assumptions", "problem")] == [False] * 4


def test_the_verdict_of_one_of_several():
    """A session of several repeats its own verdict; a single one is the headline already."""
    session = a_session(verdict="Nothing to gain.")
    assert "Nothing to gain." in write(session, of=2)
    assert "Nothing to gain." not in write(session)
