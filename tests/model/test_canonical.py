import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.model import canonical_json, digest

GOLDEN = "sha256:3b3451b2dfeb1f9c10030fff6188b301bb23d7a6bd9c4bec683d2c247b5e8b48"

numbers = st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False, allow_infinity=False)
text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | numbers | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)


def test_golden_digest():
    """The digest of a known text is the known one."""
    assert digest("ordinary text") == GOLDEN


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ({"10": 1, "9": 2}, '{"10":1,"9":2}'),
        ({"\ufb33": 1, "\U0001f600": 2}, '{"\U0001f600":2,"\ufb33":1}'),
        ([1.0, -0.0, 1e21, 1e-7, 0.1], "[1,0,1e+21,1e-7,0.1]"),
        ('\u20ac\n\x0f"\\é', '"\u20ac\\n\\u000f\\"\\\\é"'),
        (2**53 - 1, "9007199254740991"),
    ],
)
def test_canonical_form(value, written):
    """Keys go by UTF-16 units, blanks are left out, numbers and strings are written as ECMAScript does."""
    assert canonical_json(value) == written


@pytest.mark.parametrize(
    "value", [math.nan, math.inf, 2**53, -(2**53), "\ud83d", {"\ud83d": 1}, {1}, object(), {1: 2}, b"x"]
)
def test_refuses_what_has_no_canonical_form(value):
    """Numbers that do not survive, lone surrogates and what is no JSON are refused, not changed."""
    with pytest.raises(ValueError, match="no canonical JSON"):
        canonical_json(value)


def test_refuses_nesting_without_end():
    """A value that is nested beyond reason is refused."""
    value = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(ValueError, match="no canonical JSON"):
        canonical_json(value)
    while value:  # taken apart by hand: freeing it at once would recurse as deeply
        value = value.pop()


@settings(max_examples=100)
@given(values)
def test_canonical_form_is_json_and_stable(value):
    """It reads back as the same value, and the order of keys does not matter."""
    written = canonical_json(value)
    read = json.loads(written, parse_int=float)  # every number is a double there
    assert read == value
    assert canonical_json(read) == written
