from __future__ import annotations

from tests.report.pages import Page

from leafscar.report.tables import Head, bar, link, number, table, text


def test_a_table_has_heads_and_rows():
    """Every column has a head of its own, every row one that names it; numbers are set as such."""
    heads = (Head(name="Tool <x>", meaning="a & b"), Head(name="Cost", is_number=True))
    markup = "\n".join(table("Tools", heads, [(text("<read>"), number("~$1.00")), (text("b"), number("unknown"))]))
    page = Page(markup)
    assert (page.faults, page.open) == ([], [])
    assert page.all("table", **{"class": "data sortable"})
    assert page.all("th", scope="col", title="a & b")
    assert page.all("th", scope="col", **{"class": "num"})
    assert len(page.all("th", scope="row")) == 2
    assert page.all("div", role="region", tabindex="0", **{"aria-label": "Tools"})
    assert '<td class="num"><span class="about">~</span>$1.00</td>' in markup
    assert '<td class="num muted">unknown</td>' in markup


def test_a_table_of_few_rows_need_not_be_sorted():
    """Where order means something the table keeps it."""
    markup = "\n".join(table("Bills", (Head(name="Bill"),), [(text("one"),)], sortable=False))
    assert '<table class="data">' in markup


def test_cells_hold_foreign_text_safely():
    """Words, links and bars are markup that cannot be left."""
    assert text("<b>").markup == "&lt;b&gt;"
    assert link("<b>", 'x"').markup == '<a href="#x&quot;">&lt;b&gt;</a>'
    assert [
        f'width="{width}"' in bar(share).markup for share, width in ((0.5, "50.0"), (None, "0.0"), (7, "100.0"))
    ] == [True] * 3


def test_a_number_may_have_a_kind():
    """A claimed difference carries its colour."""
    assert number("+1", "dearer").kind == "num dearer"
