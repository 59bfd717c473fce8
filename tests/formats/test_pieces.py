import math

import pytest
from tests.formats.documents import read_or_refuse

from leafscar.formats import _unknown
from leafscar.formats._pieces import count, data_url, iso_time, make_usage, mappings, milliseconds, number_in, uncached
from leafscar.formats.reading import Builder
from leafscar.formats.swe_agent import read_swe_agent


@pytest.mark.parametrize(
    ("value", "when"),
    [
        (1_780_000_000_000, 1_780_000_000_000),
        (1_780_000_000, 1_780_000_000_000),
        ("2026-05-28T20:26:40Z", 1_780_000_000_000),
        (0, None),
        (-5, None),
        (math.nan, None),
        (math.inf, None),
        (True, None),
        ("soon", None),
        (None, None),
    ],
)
def test_moments(value, when):
    """Seconds, milliseconds and ISO times are milliseconds; what is none is None."""
    assert milliseconds(value) == when


def test_moments_beyond_the_calendar():
    """A number that is no date has no ISO time."""
    assert iso_time(1e300) is None
    assert iso_time(1_780_000_000_500) == "2026-05-28T20:26:40.500000Z"
    assert iso_time("x") is None


@pytest.mark.parametrize(
    ("value", "number"), [(5, 5), (5.0, 5), (-1, None), (math.nan, None), ("5", None), (True, None)]
)
def test_counts(value, number):
    """Only finite numbers from 0 on are counts."""
    assert count(value) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [("14,443", 14_443), ("3.2k", 3200), ("1M tokens", 1_000_000), ("x", None), ("9" * 400, None), ("128K", 128_000)],
)
def test_numbers_as_people_write_them(text, number):
    """Thousands marks and suffixes are read."""
    assert number_in(text) == number


def test_usages():
    """What is unknown is absent, and the total stands only where both sides are known."""
    assert make_usage(input=0, output=0) is None
    assert make_usage(input=1, output=None, cache_read=2) == {"input": 1, "cacheRead": 2}
    assert make_usage(input=1, output=2, cache_write=3, cache_write_1h=1) == {
        "input": 1,
        "output": 2,
        "cacheWrite": 3,
        "cacheWrite1h": 1,
        "totalTokens": 6,
    }
    assert uncached(None, 5) is None
    assert uncached(5, 6) is None
    assert uncached(5, None, 2) == 3


def test_pictures_and_objects():
    """Data in a URL are taken out, other URLs stay; only objects are objects."""
    assert data_url("data:image/png;base64,QQ==") == {"type": "image", "mimeType": "image/png", "data": "QQ=="}
    assert data_url("data:,x", "image/gif")["mimeType"] == "image/gif"
    assert data_url(5) == {"type": "image", "mimeType": "", "data": ""}
    assert mappings({"a": 1}) == [{"a": 1}]
    assert mappings("x") == []


def test_gaps_of_nothing():
    """No entries leave the window and the prompt open; a stated window closes the first."""
    assert len(_unknown.gaps(Builder().entries)) == 2
    assert _unknown.gaps([], 1000, system=False) == []


def test_refusals_are_checked():
    """A refusal counts as an answer of a reader."""
    assert read_or_refuse(read_swe_agent, b"") is None
