from __future__ import annotations

from tests.report.pages import Page
from tests.report.samples import RESULTS, a_policy, a_result, a_session

from leafscar.report.overview import side_by_side


def page(result):
    """Markup and its elements."""
    text = "\n".join(side_by_side(result))
    found = Page(text)
    assert (found.faults, found.open) == ([], [])
    return text, found


def test_sessions_stand_side_by_side():
    """One row a session with a link, as it was and under the default policy."""
    text, found = page(RESULTS["several"])
    assert [have["href"] for have in found.all("a")] == ["#session-1", "#session-2", "#session-3"]
    assert len(found.all("th", scope="col")) == 10
    assert "under balanced" in text
    assert '<td class="num">50\u00a0%</td>' in text
    assert '<td class="num">5 of 91</td>' in text


def test_the_first_policy_stands_for_the_default():
    """Without balanced the first policy that was asked for is compared; without any nothing is."""
    others = a_session([a_policy("none"), a_policy("thrifty", ratio=0.5, saving=1.0)])
    text, _ = page(a_result(others, a_session([a_policy("none")])))
    assert "under thrifty" in text
    assert 'class="num cheaper"' in text
    assert text.count('<td class="num muted">unknown</td>') == 3
    alone, found = page(a_result(*[a_session([a_policy("none")])] * 2))
    assert len(found.all("th", scope="col")) == 7
    assert "under" not in alone


def test_what_a_session_lacks_is_unknown():
    """A session without a baseline row, or without money, says so."""
    text, _ = page(a_result(*[a_session([a_policy()], money=None)] * 2))
    assert text.count("unknown") == 2 * 3
