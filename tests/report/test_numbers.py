"""Numbers as both views print them."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.report import numbers


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"), (-0.2, "0"), (999.4, "999"), (999.6, "1.0k"), (12_345, "12.3k"), (99_949, "99.9k"),
        (99_960, "100k"), (200_000, "200k"), (999_600, "1.00M"), (1_234_567, "1.23M"), (-1_500, "-1.5k"),
    ],
)  # fmt: skip
def test_tokens_have_three_digits(value, text):
    """A size keeps about three digits, whatever its magnitude."""
    assert numbers.tokens(value) == text


@pytest.mark.parametrize("value", [None, math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("write", [numbers.tokens, numbers.dollars, numbers.percent])
def test_what_is_unknown_is_a_word(write, value):
    """None, NaN and infinities print as unknown, never as 0 or nothing."""
    assert write(value) == "unknown"


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (0, 2, "$0.00"), (0.0034, 2, "$0.0034"), (0.00001, 2, "<$0.0001"), (0.5, 3, "$0.500"), (12.345, 2, "$12.35"),
        (-0.25, 2, "-$0.25"), (-0.004, 3, "-$0.0040"), (1234.5, 2, "$1,234.50"), (2, 0, "$2.00"),
    ],
)  # fmt: skip
def test_dollars_below_a_cent_keep_four_decimals(value, decimals, text):
    """Money has at least two decimals, the column's if it needs more, and four below a cent."""
    assert numbers.dollars(value, decimals) == text


@pytest.mark.parametrize(
    ("amounts", "decimals"),
    [([], 2), ([None, math.nan, 0], 2), ([3.0, 12.0], 2), ([3.0, 0.4], 3), ([3.0, 0.004], 4), ([-0.4], 3)],
)
def test_the_smallest_amount_decides_the_decimals_of_a_column(amounts, decimals):
    """A column of money has as many decimals as its smallest amount needs."""
    assert numbers.places(amounts) == decimals


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0.0"), (0.0312, "3.1"), (-0.0001, "0.0"), (0.0999, "10"), (0.875, "88"), (-0.4, "-40"), (12.5, "1,250")],
)
def test_percentages_keep_a_decimal_while_small(share, text):
    """Below 10 % one decimal counts, above none; the sign of a rounded zero is gone, and % never starts a line."""
    assert numbers.percent(share) == f"{text}\u00a0%"


@pytest.mark.parametrize(("value", "text"), [(0, "0"), (500, "500"), (50_000, "50k"), (2_500, "2.5k"), (1.5e6, "1.5M")])
def test_ticks_have_no_trailing_zeros(value, text):
    """An axis is labelled as shortly as possible."""
    assert numbers.tick(value) == text


def test_small_words():
    """Plurals, signs and the mark of inference."""
    assert [numbers.count(1, "cut"), numbers.count(1200, "cut")] == ["1 cut", "1,200 cuts"]
    assert [numbers.signed("$1", 1), numbers.signed("-$1", -1), numbers.signed("$0", 0)] == ["+$1", "-$1", "$0"]
    assert numbers.inferred("3k", when=True) == "~3k"
    assert numbers.inferred("3k", when=False) == "3k"
    assert numbers.inferred(numbers.UNKNOWN, when=True) == "unknown"


@settings(max_examples=200)
@given(st.floats())
def test_no_number_prints_as_a_float_of_the_machine(value):
    """No float whatever prints nan, inf or an exponent."""
    for text in (numbers.tokens(value), numbers.dollars(value), numbers.percent(value)):
        assert text == "unknown" or not set(text) & set("naife")
