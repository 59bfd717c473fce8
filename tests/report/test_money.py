from __future__ import annotations

from tests.report.pages import Page
from tests.report.samples import a_moment, a_money, a_policy, a_session, a_share, a_side

from leafscar.report.money import breaks, money_sections, protected


def page(parts):
    """Markup and its elements."""
    text = "\n".join(parts)
    found = Page(text)
    assert (found.faults, found.open) == ([], [])
    return text, found


def test_where_the_money_goes():
    """Classes with bars, tools, costliest outputs with reference and fate, and both bills."""
    text, found = page(money_sections(a_session()))
    assert [have["aria-label"] for have in found.all("div", role="region")] == [
        "Classes of content", "Tools", "Costliest outputs", "Recorded and modelled bill",
    ]  # fmt: skip
    assert "<code>#73</code>" in text
    assert '<td class="path">logs/app.log</td>' in text
    assert ["stays" in text, "not needed" in text, "needed later" in text] == [True] * 3
    assert "54\u00a0% of all input tokens, 61\u00a0% of the largest request" in text
    assert "3 outputs of 40" in text
    assert "Off by 3.0\u00a0%." in text
    assert text.count('class="bar"') == 4 + 2


def test_without_prices_units_stand_in_every_table():
    """Where no price is known nothing is shown in dollars."""
    money = a_money(
        shares=[a_share(cost=None), a_share("user", None, cost=None, share=None, sent=0.0, tokens=0.0)], outputs=[],
        recorded=None, modelled=a_side(cost=None, units=500.0),
    )  # fmt: skip
    text, _ = page(money_sections(a_session([a_policy(cost=None)], money=money, error=None)))
    assert "$" not in text
    assert text.count(">Units<") == 3
    assert "Off by an unknown share." in text
    assert "Costliest" not in text
    assert ">recorded<" not in text


def test_many_tools_are_folded():
    """Beyond fifteen tools the rest is one row, and no money is lost."""
    shares = [a_share(tool=f"tool{at}", share=1 / 20, cost=0.1) for at in range(20)]
    text, found = page(money_sections(a_session(money=a_money(shares=shares))))
    assert "5 more tools" in text
    assert "25\u00a0%" in text
    assert len(found.all("svg", **{"class": "bar"})) == 1 + 16


def test_nothing_known_leaves_nothing_behind():
    """Without money, breaks or protection there is no heading."""
    empty = a_session([a_policy(moments=[])], money=None, held=None)
    assert list(money_sections(empty)) == list(breaks(empty)) == list(protected(empty)) == []
    assert list(money_sections(a_session(money=a_money(shares=[])))) == []


def test_breaks_are_counted_by_cause():
    """Each policy has its breaks by cause, with the tokens that were sent again; unused causes have no column."""
    moments = [
        a_moment(1),
        a_moment(2, break_cause="shape", missed=9_000.0),
        a_moment(3, break_cause="shape", missed=1_000.0),
    ]
    expired = [a_moment(4, break_cause="expired", missed=400.0)]
    text, found = page(breaks(a_session([a_policy("none", moments=expired), a_policy(moments=moments)])))
    assert [have.get("class") for have in found.all("th", scope="col")] == [None, "num", "num", "num", "num"]
    assert '<td class="num">2</td><td class="num"><span class="about">~</span>10.0k</td>' in text
    assert '<td class="num">1</td><td class="num">400</td>' in text
    assert "Model" not in text


def test_what_is_protected_is_listed():
    """Pins, lists, stale reads and thinking are lines of the page."""
    text, found = page(protected(a_session()))
    assert len(found.all("li")) == 4
    assert "2 outputs (~4.0k tokens): kept raw by a never-prune list" in text


def test_a_session_without_tools_has_no_table_of_tools():
    """Where nothing was called there is nothing to tell by tool."""
    text, _ = page(money_sections(a_session(money=a_money(shares=[a_share("user", None)]))))
    assert "By tool" not in text
