from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar import config, engine
from leafscar.config import parse_fraction
from leafscar.config._policies import is_policy


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), ("1.0", 1.0), ("0.70", 0.7), (".5", 0.5), ("00.5", 0.5), ("0.0001", 0.0001)]
)
def test_a_fraction_is_digits_and_a_dot(text, value):
    """Above 0 and up to 1, the zero before the dot may be left out."""
    assert parse_fraction(text) == value
    assert is_policy(f"compaction:{text}")


@pytest.mark.parametrize(
    "text",
    [
        *("", "0", "0.0", "1.01", "2", ".", "1.", "0.5.", "0..5", "-0.5", "+0.5", "1e-1", "0_1", "0.7 ", " 0.7", "0,7"),
        *("70%", "nan", "inf", "0x1", "\u0660.\u0665", "0.5\n", "9" * 400, "0." + "0" * 400 + "1"),
    ],
)
def test_any_other_spelling_is_refused(text):
    """Whatever ``float`` would make of it."""
    assert parse_fraction(text) is None
    assert not is_policy(f"compaction:{text}")


@settings(max_examples=100)
@given(st.text() | st.from_regex(r"[0-9.e_+-]{1,6}"))
def test_a_fraction_is_always_within_its_bounds(text):
    """No text gives a number that is no share of a window."""
    value = parse_fraction(text)
    assert value is None or 0 < value <= 1


@pytest.mark.parametrize("name", ["", "Balanced", "balanced:0.5", "balanced:", "compaction:", ":0.5", "none "])
def test_other_names_are_no_policies(name):
    """Only ``compaction`` has a part after the colon, and then it is a fraction."""
    assert not is_policy(name)


def test_the_engine_has_exactly_these_policies():
    """A name that a settings file may hold is a policy that control knows, in the same order."""
    assert tuple(engine.POLICIES) == config.POLICIES
