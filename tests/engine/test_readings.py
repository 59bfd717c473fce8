"""Readings and what is learnt from them."""

import pytest

from leafscar.engine.readings import Anchor, Meter
from leafscar.estimate import Calibrated


def take(meter, tokens, *, predicted=0.0, grown=0.0, raw=0.0, window=1_000_000):
    """Offer a reading; gives the refusal."""
    return meter.take(Anchor(position=0, tokens=tokens), predicted=predicted, grown=grown, raw=raw, window=window)


def test_without_a_reading_own_tokens_count():
    """Overhead is 0 until a reading says more; an anchor counts what came after it."""
    meter = Meter(learns=True)
    assert (meter.anchored(100), meter.unanchored(100)) == (100, 100)
    take(meter, 5_000, raw=2_000)
    assert (meter.overhead, meter.anchored(100), meter.unanchored(100)) == (3_000, 5_100, 3_100)


@pytest.mark.parametrize(("window", "refused"), [(0, ""), (5_000, ""), (4_999, "larger than the window")])
def test_no_reading_is_larger_than_its_window(window, refused):
    """Exactly the window is possible; an unknown window refuses nothing."""
    assert take(Meter(learns=True), 5_000, window=window) == refused


@pytest.mark.parametrize(
    ("predicted", "tokens", "refused"),
    [
        (10_000, 260_000, False),
        (10_000, 260_001, True),
        (300_000, 600_000, False),
        (300_000, 600_001, True),
        (300_000, 10, False),
    ],
)
def test_a_jump_is_more_than_double_and_a_quarter_of_the_window(predicted, tokens, refused):
    """Both must be exceeded; falling is always believed."""
    meter = Meter(learns=True)
    take(meter, predicted)
    assert bool(take(meter, tokens, predicted=predicted)) == refused
    assert meter.anchor.tokens == (predicted if refused else tokens)


def test_a_jump_that_is_said_again_is_believed():
    """Then the content did grow in a way that is not seen here; a third, different number is a new jump."""
    meter = Meter(learns=True)
    take(meter, 10_000)
    assert take(meter, 400_000, predicted=10_000)
    assert take(meter, 900_000, predicted=10_000)
    assert not take(meter, 900_500, predicted=10_000)


def test_the_meter_learns_from_each_new_reading():
    """What was measured between two readings teaches the factor; one odd reading does not carry it."""
    meter = Meter(learns=True)
    for ratio in (1.0, 1.2, 4.0, 1.2, 1.2):
        before = meter.anchor.tokens if meter.anchor else 1_000
        take(meter, before + 1_000 * ratio, grown=1_000, predicted=1e9)
    assert meter.factor == meter.calibration.factor == 1.2


@pytest.mark.parametrize(("grown", "tokens"), [(59, 2_000), (1_000, 1_000), (1_000, 500)])
def test_small_or_falling_readings_teach_nothing(grown, tokens):
    """Below 60 own tokens, and where nothing was added, there is no ratio."""
    meter = Meter(learns=True)
    take(meter, 1_000)
    take(meter, tokens, grown=grown, predicted=1e9)
    assert meter.calibration.readings == ()


def test_a_sizer_of_ones_own_is_not_corrected():
    """``learns`` off: the factor stays 1."""
    meter = Meter(learns=False)
    take(meter, 1_000)
    take(meter, 5_000, grown=1_000, predicted=1e9)
    assert meter.factor == 1.0


def test_dropping_keeps_what_was_learnt():
    """Factor and overhead outlive the anchor."""
    meter = Meter(learns=True, learnt=Calibrated(readings=((100, 150),)), overhead=700)
    assert (meter.factor, meter.unanchored(100)) == (1.5, 850)
    take(meter, 2_000, raw=1_000)
    meter.drop()
    assert (meter.anchor, meter.overhead) == (None, 500)
