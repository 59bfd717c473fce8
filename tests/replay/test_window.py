"""Where the window of a replay comes from, and how that is said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.errors import WindowUnknown
from leafscar.replay.prices import Prices
from leafscar.replay.window import CLAUDE_CODE_RESERVE, STANDARD_WINDOWS, RecordedCut, resolve_window

LISTED = Prices(source="genai-prices 1: x/y", window=1_000_000)


def cuts(*sizes, **fields):
    """Recorded cuts at these context sizes."""
    return [RecordedCut(tokens_before=size, **fields) for size in sizes]


def test_the_flag_wins_over_everything():
    """A stated --window is taken as it is."""
    window = resolve_window(flag=50_000, recorded=200_000, cuts=cuts(185_000), prices=LISTED)
    assert (window.tokens, window.source) == (50_000, "flag")
    assert window.detail == "from --window"


def test_a_flag_below_a_recorded_reading_is_said_to_be_a_what_if():
    """A smaller window than was really used is legal, and visible as such."""
    window = resolve_window(flag=50_000, readings=[10, 170_000, 3])
    assert window.detail.endswith("(a what-if: a request of 170,000 tokens was recorded)")


def test_the_recorded_window_comes_second():
    """What the session states is better than any inference."""
    window = resolve_window(recorded=258_400, cuts=cuts(185_000), prices=LISTED, readings=[250_000])
    assert (window.tokens, window.source) == (258_400, "recorded")
    assert window.detail == "as the session recorded it"


def test_a_recorded_automatic_cut_comes_third():
    """The largest automatic cut lies within the reserve below one usual window; the sentence says how."""
    window = resolve_window(cuts=cuts(175_004, 185_014), prices=LISTED, readings=[185_014])
    assert (window.tokens, window.source) == (200_000, "inferred")
    assert "the recorded cut at 185,014 tokens lies within 16,384 below it" in window.detail


def test_another_window_that_would_fit_is_named():
    """Where the cut fits two usual windows the smaller is taken and the other is said."""
    window = resolve_window(cuts=cuts(120_000))
    assert window.tokens == 128_000
    assert window.detail.endswith("(131,072 would fit too)")


def test_a_reading_rules_out_a_window_that_the_cut_would_fit():
    """A request larger than the smaller window was recorded, so it is the larger one."""
    window = resolve_window(cuts=cuts(120_000), readings=[130_000])
    assert window.tokens == 131_072


@pytest.mark.parametrize("size", [167_117, 170_251, 188_948])
def test_the_reserve_of_the_recording_host_counts(size):
    """Claude Code keeps more free than pi; its cuts on 200,000 tokens come earlier."""
    assert resolve_window(cuts=cuts(size, reserve=CLAUDE_CODE_RESERVE)).tokens == 200_000


def test_manual_cuts_say_nothing():
    """A cut that the user asked for can come at any size."""
    window = resolve_window(cuts=cuts(185_014, manual=True), prices=LISTED)
    assert (window.tokens, window.source) == (1_000_000, "prices")


def test_the_price_table_comes_last():
    """Without a better source the model's listed window is taken, and its table is named."""
    window = resolve_window(prices=LISTED)
    assert window.detail == "from genai-prices 1: x/y"


@pytest.mark.parametrize("zero", [0, -1])
def test_zero_states_nothing(zero):
    """Hosts write 0 for a window that they do not know."""
    assert resolve_window(flag=zero, recorded=zero, cuts=cuts(zero), prices=LISTED).source == "prices"


def test_a_contradicted_source_is_said_and_passed_over():
    """A reading above the stated window proves it wrong; the next source is asked."""
    window = resolve_window(recorded=128_000, prices=LISTED, readings=[150_000])
    assert window.source == "prices"
    assert window.detail.endswith("; not 128,000 (recorded): a request of 150,000 tokens was recorded")


@pytest.mark.parametrize(
    ("size", "reading", "words"),
    [
        (372_054, 374_160, "the recorded cut at 372,054 tokens fits no usual window with 16,384 tokens in reserve"),
        (120_000, 150_000, "would fit 128,000, 131,072, but a request of 150,000 tokens was recorded"),
    ],
)
def test_a_cut_that_fits_no_window_is_said_and_passed_over(size, reading, words):
    """An inference that fails leaves its reason in the sentence."""
    window = resolve_window(cuts=cuts(size), prices=LISTED, readings=[reading])
    assert window.source == "prices"
    assert words in window.detail


@pytest.mark.parametrize("prices", [None, Prices(source="test")])
def test_an_unknown_window_tells_what_to_pass(prices):
    """Nothing states a window: the error names the model and the option, on one line."""
    with pytest.raises(WindowUnknown) as caught:
        resolve_window(prices=prices, model="fake-1")
    assert str(caught.value) == "nothing states the context window of fake-1; pass --window TOKENS"
    assert caught.value.model == "fake-1"


def test_an_unknown_window_keeps_the_reasons():
    """What was passed over on the way stands in the error."""
    with pytest.raises(WindowUnknown, match=r"context window; not 100 \(recorded\): a request of 200 tokens"):
        resolve_window(recorded=100, readings=[200])


@given(
    recorded=st.none() | st.integers(1, 2_000_000),
    sizes=st.lists(st.integers(1, 2_000_000), max_size=3),
    readings=st.lists(st.floats(0, 2_000_000), max_size=3),
    listed=st.none() | st.integers(1, 2_000_000),
)
def test_no_window_is_smaller_than_a_reading(recorded, sizes, readings, listed):
    """Without the flag the window always holds every recorded request, and an inferred one is a usual one."""
    prices = Prices(source="test", window=listed)
    try:
        window = resolve_window(recorded=recorded, cuts=cuts(*sizes), prices=prices, readings=readings)
    except WindowUnknown:
        return
    assert window.tokens >= max(readings, default=0)
    assert window.source != "inferred" or window.tokens in STANDARD_WINDOWS
