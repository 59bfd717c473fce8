"""When a request is over, and what a summary may be."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from leafscar.compaction import (
    CompactionSettings,
    as_settings,
    derive_reserve,
    keep_recent,
    should_compact,
    summary_budget,
)


@pytest.mark.parametrize(
    ("window", "max_output", "reserve"),
    [
        pytest.param(200_000, 8192, 16_384, id="b10_1-small-output"),
        pytest.param(131_072, 32_768, 32_768, id="b10_1-large-output"),
        pytest.param(32_768, 4096, 10_922, id="b10_2-twice-the-reserve-is-the-window"),
        pytest.param(32_769, 4096, 16_384, id="b10_2-one-token-more"),
        pytest.param(32_767, 4096, 10_922, id="b10_2-one-token-less"),
        pytest.param(1000, 100, 1024, id="b10_3-floor"),
        pytest.param(3075, 0, 1025, id="third"),
        pytest.param(1_000_000, 500_000, 333_333, id="output-of-half-the-window"),
        pytest.param(1_000_001, 500_000, 500_000, id="output-of-just-under-half"),
        pytest.param(200_000, math.nan, 16_384, id="output-unknown"),
    ],
)
def test_a_reserve_holds_one_full_response(window: int, max_output: float, reserve: int) -> None:
    """The reserve is the largest response, at least 16,384, at most a third of a small window."""
    derived = derive_reserve(window, max_output)
    assert (derived.enabled, derived.reserve, derived.threshold) == (True, reserve, window - reserve)


VECTORS = json.loads((Path(__file__).parent.parent / "data" / "pruning.json").read_bytes())


@pytest.mark.parametrize("row", VECTORS["reserve"], ids=lambda row: f"{row['window']}-{row['max_tokens']}")
def test_reserves_are_the_recorded_ones(row: dict) -> None:
    """Computed by a second implementation."""
    derived = derive_reserve(row["window"], row["max_tokens"])
    assert (derived.enabled, derived.reserve, derived.threshold) == (row["enabled"], row["reserve"], row["threshold"])


@pytest.mark.parametrize("row", VECTORS["summary_budget"], ids=lambda row: f"{row['reserve']}-{row['max_tokens']}")
def test_budgets_are_the_recorded_ones(row: dict) -> None:
    """Computed by a second implementation."""
    assert summary_budget(row["reserve"], row["max_tokens"]) == (row["history"], row["prefix"])


@pytest.mark.parametrize("window", [0, -1, math.nan, math.inf], ids=lambda window: f"b10_4-{window}")
def test_a_window_that_is_none_switches_control_off(window: float) -> None:
    """Without a usable window there is no threshold."""
    derived = derive_reserve(window, 8192)
    assert (derived.enabled, derived.threshold) == (False, None)


def test_b10_5_settings_have_the_known_defaults() -> None:
    """What a dict leaves out has its default; what it says counts."""
    assert as_settings({}) == CompactionSettings(enabled=True, reserve_tokens=16_384, keep_recent_tokens=20_000)
    assert as_settings({"keepRecentTokens": 12}).keep_recent_tokens == 12
    known = CompactionSettings(reserve_tokens=0)
    assert as_settings(known) is known


@pytest.mark.parametrize(
    ("over_by", "expected"),
    [
        pytest.param(-1, False, id="b10_6-below"),
        pytest.param(0, False, id="b10_6-at"),
        pytest.param(1, True, id="b10_6-above"),
    ],
)
def test_exactly_the_threshold_is_not_over(over_by: int, expected: bool) -> None:
    """Only more than window minus reserve is over."""
    assert should_compact(163_616 + over_by, 180_000, CompactionSettings()) is expected


def test_b10_7_disabled_is_never_over() -> None:
    """A million tokens are not over when cuts are switched off."""
    assert not should_compact(1_000_000, 180_000, {"enabled": False})


@pytest.mark.parametrize(
    ("threshold", "keep"),
    [(163_616, 20_000), (40_000, 20_000), (39_999, 19_999), (10_923, 5461), (0, 0), (-512, 0)],
)
def test_b10_84_recent_work_is_at_most_half_of_the_threshold(threshold: int, keep: int) -> None:
    """In a small window less stays raw, so that a cut can shrink it."""
    assert keep_recent(threshold) == keep


@pytest.mark.parametrize(
    ("reserve", "max_output", "budgets"),
    [
        pytest.param(16_384, 8192, (8192, 8192), id="b10_66-small-output"),
        pytest.param(16_384, 32_768, (13_107, 8192), id="b10_66-large-output"),
        pytest.param(16_384, 0, (13_107, 8192), id="b10_67-no-limit"),
        pytest.param(0, 0, (0, 0), id="no-reserve"),
    ],
)
def test_a_summary_may_use_a_share_of_the_reserve(reserve: int, max_output: int, budgets: tuple[int, int]) -> None:
    """History takes 0.8 and a prefix 0.5 of the reserve, neither more than the model writes."""
    assert summary_budget(reserve, max_output) == budgets
