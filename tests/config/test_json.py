from __future__ import annotations

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.config._json import MAX_DEPTH, Number, dumps, loads, plain, shown

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.text(alphabet='\udc00\x00\n"\\é'),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(json_values)
def test_writing_then_reading_gives_back(value):
    """Whatever JSON value is written reads back as itself, and lone surrogates stay valid UTF-8 on disk."""
    text = dumps(value)
    assert text.endswith("\n")
    assert loads(text.encode().decode()) == value


@settings(max_examples=100)
@given(json_values)
def test_the_form_is_two_space_json(value):
    """Where no surrogate stands, the text is what a standard two-space writer gives."""
    expected = json.dumps(value, ensure_ascii=False, indent=2)
    if not any("\ud800" <= character <= "\udfff" for character in expected):
        assert dumps(value) == expected + "\n"


@pytest.mark.parametrize(
    "spelling", ["1.0", "1.50", "1e400", "-0", "1E5", "0.1000000000000000055", "9" * 5000, "-12", "7"]
)
def test_numbers_keep_their_spelling(spelling):
    """A number is written back with the very digits it was read with."""
    assert dumps(loads(f"[{spelling}]")) == f"[\n  {spelling}\n]\n"
    assert shown(loads(spelling)) == spelling[:200] + ("…" if len(spelling) > 200 else "")


def test_a_respelled_number_still_counts():
    """A number with an unusual spelling is a float like any other."""
    value = loads("1e400")
    assert isinstance(value, Number)
    assert math.isinf(value)


@pytest.mark.parametrize("text", ["", "{", "NaN", "[Infinity]", "{'a': 1}", '{"a":1,}', '"\x01"', "[1] 2"])
def test_what_is_not_json_is_refused(text):
    """Only JSON passes; the reason is one line."""
    with pytest.raises(ValueError) as caught:
        loads(text)
    assert "\n" not in str(caught.value)


def test_depth_is_limited():
    """The limit is exact for lists and objects, and absurd nesting gives the same answer."""
    assert loads("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    for text in ("[" * (MAX_DEPTH + 1) + "0" + "]" * (MAX_DEPTH + 1), '{"a":' * 100 + "0" + "}" * 100, "[" * 400_000):
        with pytest.raises(ValueError, match="nested deeper than 64 levels"):
            loads(text)


def test_the_last_of_two_equal_keys_wins():
    """Duplicate keys read as JavaScript reads them."""
    assert loads('{"a": 1, "b": 2, "a": 3}') == {"a": 3, "b": 2}


def test_shown_is_one_safe_line():
    """Messages carry no control, direction or surrogate characters and end after 200 characters."""
    assert shown({"a": ["x\x1b[31m\u202e\x9b\ud800", None]}) == '{"a":["x\\u001b[31m\\u202e\\u009b\\ud800",null]}'
    assert plain("a\nb\u2028") == "a\\u000ab\\u2028"
    assert shown("x" * 500) == '"' + "x" * 199 + "…"
    assert shown((1, True)) == "[1,true]"
    assert shown(object).startswith('"<class')
