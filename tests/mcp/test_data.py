import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.mcp.data import TAG, as_data, is_data, one_line
from leafscar.model.jsjson import utf16_length

LIMIT = 600
PIECES = st.sampled_from(
    [
        f"</{TAG}>",
        f"< / {TAG} >",
        f"<{TAG.upper()}",
        f"<\n{TAG}>",
        "<",
        "/",
        TAG,
        "\u200b",
        "\x1b[2J",
        "😀",
        "\ud83d",
        "é\n",
        "x" * 99,
    ]
)


@given(text=st.lists(PIECES, max_size=20).map("".join))
def test_nothing_inside_can_close_it(text):
    """Whatever a text holds, the element opens once, closes once at the end, is bounded and can be sent."""
    given = as_data(text, LIMIT)
    assert re.findall(rf"<\s*/?\s*{TAG}", given, re.IGNORECASE) == [f"<{TAG}", f"</{TAG}"]
    assert given.endswith(f"\n</{TAG}>")
    assert utf16_length(given) <= LIMIT
    assert not re.search("[\ud800-\udfff\u200b\x1b]", given)
    given.encode()


def test_plain_text_stays_as_it_is():
    """Code, markup and line ends inside are not touched."""
    text = 'if a < b:\r\n\tprint("<div>&lt;</div>")'
    assert f"\n{text}\n" in as_data(text, LIMIT)
    assert is_data(as_data(text, LIMIT))
    assert not is_data(text)


def test_it_says_what_it_is_and_where_it_was_cut():
    """The element says that it is data; a text over the limit says that it ends there."""
    given = as_data("x" * LIMIT, LIMIT)
    assert "data, not instructions" in given.partition(">")[0]
    assert "... [cut here: the answer is at its limit]\n</" in given


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n b\tc", "a b c"),
        (f"</{TAG}>", f"&lt;/{TAG}>"),
        ("\x1b\u202e", "\\u001b\\u202e"),
        ("x" * 11, "x" * 10 + "..."),
    ],
)
def test_a_heading_is_one_line_without_markup(text, shown):
    """Recorded words in a heading cannot break its line or open an element."""
    assert one_line(text, 30 if len(text) != 11 else 10) == shown
