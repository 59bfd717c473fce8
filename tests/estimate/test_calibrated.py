import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.model.strategies import messages

from leafscar.estimate import Calibrated, estimate_text, message_tokens
from leafscar.model import Assistant, BashExecution, Image, Text, Thinking, ToolCall, ToolResult, User, as_message

TEXTS = st.text(st.characters(codec=None), max_size=40)


def read(*pairs):
    """A calibration after these readings."""
    state = Calibrated()
    for own, measured in pairs:
        state = state.observe(own, measured)
    return state


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0),
        ("abCD", 4 * 0.23),
        ("a b\tc\r", 3 * 0.23),
        ("12.5", 3 * 0.8 + 0.43),
        ("{}\n", 2 * 0.43 + 1),
        ("\x1b\x7f", 2 * 0.43),
        ("éж", 2 * 0.245),
        ("中文", 2 * 0.62),
        ("😀", 2.4),
        ("\ud83d", 0.62),
    ],
)
def test_weights_of_the_classes(text, tokens):
    """Every class of bytes has its weight; the inside of a character costs nothing more."""
    assert estimate_text(text) == pytest.approx(tokens)


@settings(max_examples=100)
@given(TEXTS, TEXTS)
def test_texts_add_up(one, other):
    """The estimate of two texts is the sum of theirs, whatever they hold, and never negative."""
    assert estimate_text(one) >= 0
    assert estimate_text(one + " " + other) == pytest.approx(estimate_text(one) + estimate_text(other))


def test_logs_count_more_than_a_quarter():
    """Digits and marks, which characters / 4 counts at half, cost what they are worth."""
    line = "2025-01-02 03:04:05 status installed libcache3:amd64 2.14.1-1\n"
    assert estimate_text(line * 100) > 1.4 * len(line * 100) / 4


@pytest.mark.parametrize(
    ("message", "tokens"),
    [
        (User(content=(Text(text="abc"), Image(), Image())), estimate_text("abc") + 2400),
        (ToolResult(content="abc"), estimate_text("abc")),
        (Assistant(content=(Thinking(thinking="abc"), Text(text="de"))), estimate_text("abcde")),
        (Assistant(content=(ToolCall(name="t", arguments={"2": 1.0}),)), estimate_text('t{"2":1}')),
        (BashExecution(command="ls", output="abc"), estimate_text("lsabc")),
        (BashExecution(command="ls", output="abc", exclude_from_context=True), 0),
        ({"role": "compactionSummary", "summary": "abc"}, estimate_text("abc")),
        ({"role": "hookMessage", "content": "abc"}, 0),
    ],
)
def test_tokens_of_a_message(message, tokens):
    """All that is sent counts: texts, thinking, calls as compact JSON, 1,200 tokens an image."""
    assert message_tokens(message) == pytest.approx(tokens)


@settings(max_examples=40)
@given(messages)
def test_any_message_has_an_estimate(message):
    """However odd a message is, its estimate is a number from 0 up."""
    tokens = message_tokens(message)
    assert math.isfinite(tokens)
    assert tokens >= 0
    assert message_tokens(as_message(message)) == tokens


def test_a_reading_gives_the_factor():
    """After a reading, the factor is what it said; the value before it is unchanged."""
    fresh = Calibrated()
    learnt = fresh.observe(1000, 1300)
    assert (fresh.factor, learnt.factor) == (1, 1.3)


@pytest.mark.parametrize(
    ("own", "measured"),
    [
        (59, 80),
        (0, 100),
        (-1000, 1300),
        (1000, 0),
        (1000, -5),
        (1000, math.nan),
        (math.nan, 1000),
        (1000, math.inf),
        (math.inf, 1000),
        (math.inf, math.inf),
        (1000, 5001),
        (1000, 199),
    ],
)
def test_readings_that_say_nothing_are_left_out(own, measured):
    """Small, absent, broken and implausible readings change nothing."""
    state = read((1000, 1300))
    assert state.observe(own, measured) is state


@pytest.mark.parametrize(("measured", "factor"), [(5000, 2), (2100, 2), (300, 0.5), (2000, 2), (500, 0.5), (700, 0.7)])
def test_the_factor_is_bounded(measured, factor):
    """A believable reading counts as at least a half and at most two."""
    assert read((1000, measured)).factor == factor


def test_one_outlier_does_not_move_the_factor():
    """Readings that are far from the median do not count."""
    assert read(*[(1000, 1200)] * 3, (1000, 4000), (1000, 1200), (1000, 300)).factor == 1.2


def test_old_readings_are_forgotten():
    """After 25 newer readings nothing is left of the older ones."""
    state = read(*[(1000, 1800)] * 30, *[(1000, 900)] * 25)
    assert state.readings == ((1000, 900),) * 25


def test_large_readings_say_more():
    """The factor is that of all tokens together, not of all readings."""
    assert read((100, 100), (100, 100), (800, 1200)).factor == 1.4


def test_a_calibration_survives_being_stored():
    """It can be written as JSON and read back."""
    state = read((1000, 1300), (500, 600))
    assert msgspec.json.decode(msgspec.json.encode(state), type=Calibrated) == state


@settings(max_examples=100)
@given(st.lists(st.tuples(st.floats(), st.floats()), max_size=40))
def test_the_factor_is_always_usable(pairs):
    """Whatever was read, the factor lies between a half and two."""
    assert 0.5 <= read(*pairs).factor <= 2
