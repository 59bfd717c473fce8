from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.pruning.build import vectors

from leafscar.model.jsjson import utf16_length
from leafscar.pruning import format_size, head_tail
from leafscar.pruning.sizes import text_tokens, whole_prefix


@pytest.mark.parametrize(
    ("tokens", "shown"),
    [
        pytest.param(5200, "~5.2k", id="a14_53_thousands"),
        pytest.param(900, "~900", id="a14_53_hundreds"),
        pytest.param(1000, "~1.0k", id="a14_54_1000"),
        pytest.param(999, "~999", id="a14_54_999"),
        pytest.param(1250, "~1.3k", id="a14_54_tie_up"),
        pytest.param(1150, "~1.1k", id="a14_54_true_double"),
        pytest.param(-3, "~0", id="below_zero"),
        pytest.param(2.5, "~3", id="half_up"),
        pytest.param(999.6, "~1000", id="rounded_after_the_choice"),
    ],
)
def test_size_text(tokens, shown):
    """Sizes read as JavaScript rounds them."""
    assert format_size(tokens) == shown


@pytest.mark.parametrize(("tokens", "shown"), vectors("format_size"))
def test_golden_sizes(tokens, shown):
    """Every case of the golden values."""
    assert format_size(tokens) == shown


@settings(max_examples=200)
@given(st.integers(1000, 10**12) | st.integers(20, 10**6).map(lambda n: n * 50))
def test_thousands_round_like_an_exact_model(tokens):
    """The nearest tenth of the true double, the larger one at a tie."""
    exact = Fraction(tokens / 1000) * 10
    tenths = (exact + Fraction(1, 2)).__floor__()
    assert format_size(tokens) == f"~{Decimal(tenths) / 10:.1f}k"


@pytest.mark.parametrize("case", vectors("head_tail"), ids=lambda case: case["name"])
def test_golden_ends(case):
    """Every case of the golden values."""
    expected = tuple(case[key] for key in ("head", "tail", "total_lines", "omitted_lines"))
    assert head_tail(case["output"]) == expected


@pytest.mark.parametrize(("width", "shown"), [(200, 200), (201, 203)], ids=["a14_33_200", "a14_33_201"])
def test_long_lines_are_shortened(width, shown):
    """A line of exactly the cap stays; a longer one ends in three dots."""
    head = head_tail("x" * width).head
    assert len(head) == shown
    assert head.endswith("...") is (shown == 203)


@pytest.mark.parametrize(
    ("output", "total", "omitted"),
    [("", 0, 0), ("a\nb", 2, 0), ("\n".join(map(str, range(312))), 312, 292)],
    ids=["a14_34_empty", "a14_34_two", "a14_34_312"],
)
def test_both_ends(output, total, omitted):
    """Up to twenty lines are all head; beyond, ten stay at each end."""
    ends = head_tail(output)
    assert (ends.total_lines, ends.omitted_lines) == (total, omitted)
    assert len(ends.head.split("\n")) == min(max(total, 1), 10)
    assert bool(ends.tail) is (omitted > 0)


@pytest.mark.parametrize(("count", "omitted"), [(20, 0), (21, 1)], ids=["a14_26_20", "a14_26_21"])
def test_the_twenty_first_line_is_omitted(count, omitted):
    """Twenty lines are shown whole."""
    assert head_tail("\n".join("x" * count)).omitted_lines == omitted


def test_a_smaller_cap():
    """The cap is the caller's."""
    assert head_tail("x" * 100, 60).head == "x" * 60 + "..."


def test_half_a_character_is_never_left_by_ours():
    """The sources cut a pair in two, ours gives the unit back."""
    wide = "x" * 199 + "\U0001f600" * 4
    assert head_tail(wide, split_pairs=True).head == "x" * 199 + "\ud83d..."
    assert head_tail(wide).head == "x" * 199 + "..."


@settings(max_examples=100)
@given(st.text(alphabet="a\u00e9\U0001f600\U00010000", max_size=12), st.integers(0, 25))
def test_a_prefix_is_whole_and_as_long_as_it_can_be(text, units):
    """At most the units asked for, at most one less where a pair stands in the way."""
    prefix = whole_prefix(text, units)
    assert text.startswith(prefix)
    assert prefix.encode("utf-8").decode("utf-8") == prefix
    assert min(units, utf16_length(text)) - utf16_length(prefix) in (0, 1)


def test_a_lone_surrogate_of_the_text_itself_stays():
    """Only what the cut broke is dropped."""
    assert whole_prefix("ab\ud83d", 5) == "ab\ud83d"


def test_tokens_of_a_text_count_utf16_units():
    """A character outside the basic plane counts twice."""
    assert text_tokens("\U0001f600" * 3) == 2
