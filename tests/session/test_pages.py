import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.errors import BadReference
from leafscar.model.jsjson import utf16_length
from leafscar.pruning import Reference
from leafscar.session.pages import page_count, take_lines, take_page

REF = Reference(line=5)
TEXTS = st.text(alphabet=st.sampled_from("ab\n😀é\ud83d"), max_size=60)


@given(text=TEXTS, limit=st.integers(2, 9))
def test_all_pages_are_the_text(text, limit):
    """Pages one after another are the text, none is over the limit, and all but the last name the next."""
    bodies = []
    pages = page_count(text, limit)
    for page in range(1, pages + 1):
        taken = take_page(text, page, REF, limit=limit)
        assert taken.truncated == (page < pages)
        hint = f"\n\n... [page {page} of {pages}. Use page {page + 1} for what follows.]"
        assert taken.text.endswith(hint) == taken.truncated
        bodies.append(taken.text.removesuffix(hint))
    assert "".join(bodies) == text
    assert all(utf16_length(body) <= limit + 1 for body in bodies)  # one more where a pair would be cut in half


@given(text=TEXTS.filter(lambda text: max(map(utf16_length, text.split("\n"))) <= 20))
def test_ranges_lead_through_the_text(text):
    """Following the hints from the first line on gives every line once."""
    got, lines = [], (1, None)
    while lines:
        taken = take_lines(text, lines, REF, limit=20)
        body, hint = taken.text, None
        if taken.truncated:
            body, _, last = taken.text.rpartition("\n\n")
            hint = re.search(r"Use lines (\d+)-(\d+) ", last)
        got.append(body)
        lines = (int(hint[1]), int(hint[2])) if hint else None
    assert "\n".join(got) == text


@pytest.mark.parametrize(
    ("lines", "text"),
    [((2, 3), "b\nc"), ((1, 1), "a"), ((4, None), "d"), ((3, 99), "c\nd"), ((1, None), "a\nb\nc\nd")],
)
def test_a_range_of_lines(lines, text):
    """Both ends are included, and an end beyond the text is its end."""
    assert take_lines("a\nb\nc\nd", lines, REF) == (text, False)


def test_the_full_form_has_no_cap():
    """With :full behind the reference a range is given whole."""
    text = "x" * 30 + "\n" + "y" * 30
    assert take_lines(text, (1, 2), Reference(line=5, full=True), limit=20) == (text, False)


def test_a_line_over_the_cap():
    """The beginning of a giant line comes with the page on which it goes on."""
    text = "ab\n" + "x" * 50 + "\nend"
    taken = take_lines(text, (2, 3), REF, limit=20)
    assert taken.text.startswith("x" * 20 + "\n\n")
    assert taken.text.endswith(
        "... [the beginning of line 2. Use page 2 for where it goes on, lines 3-3 for those after it.]"
    )
    assert take_page(text, 2, REF, limit=20).text.startswith("x" * 20)
    assert take_lines(text, (2, 2), REF, limit=20).text.endswith("Use page 2 for where it goes on.]")


@pytest.mark.parametrize("page", [0, -1, 3, 10**30])
def test_pages_that_are_not_there(page):
    """The error says how many there are."""
    with pytest.raises(BadReference, match=r"^recall: #5 has 2 pages; give a page from 1 to 2$") as caught:
        take_page("x" * 15, page, REF, limit=10)
    assert caught.value.kind == "no-page"


def test_the_only_page():
    """A text without a second page says so, the empty one too."""
    with pytest.raises(BadReference, match="has 1 page;"):
        take_page("x", 2, REF)
    assert take_page("", 1, REF) == ("", False)


@pytest.mark.parametrize("lines", [(0, 1), (-3, None), (3, 2), (5, 9), (10**30, None)])
def test_lines_that_are_not_there(lines):
    """The error says how many there are."""
    with pytest.raises(BadReference, match=r"^recall: #5 has 4 lines; give lines from 1 to 4") as caught:
        take_lines("a\nb\nc\nd", lines, REF)
    assert caught.value.kind == "no-lines"
    with pytest.raises(BadReference, match="has 1 line;"):
        take_lines("a", (2, 2), REF)
