"""The cells of the table."""

from __future__ import annotations

import math

import pytest
from tests.report.samples import a_cut, a_moment, a_policy, a_session

from leafscar.report.rows import columns_of, is_priced, rows_of, trend_of

NONE = a_policy("none", cost=2.0, ratio=1.0, saving=0.0)


def cells(policy, **changes):
    """Cells of one policy beside the recorded one, by the short name of their column."""
    session = a_session([NONE, policy], **changes)
    return dict(zip((column.short for column in columns_of(session)), rows_of(session)[1].cells, strict=True))


def test_every_policy_is_a_row():
    """Rows stand in the given order and fill every column."""
    session = a_session()
    assert [row.cells[0] for row in rows_of(session)] == ["none", "balanced"]
    assert {len(row.cells) for row in rows_of(session)} == {len(columns_of(session))}


def test_recorded_numbers_are_plain():
    """The row of the recording carries no mark of inference."""
    row = rows_of(a_session([a_policy("none", moments=[a_moment(inferred=False)], cost=2.0)]))[0]
    assert row.cells == ("none", "$2.00", "baseline", "90\u00a0%", "0", "0", "0", "10.0k", "0", "5 of 91")


def test_simulated_numbers_are_marked():
    """Costs, deltas, ratios and sizes of a simulated row are marked; counts are not."""
    row = cells(a_policy(breaks=4, moves=3, cuts=[a_cut()], over_window=2))
    assert row == {
        "policy": "balanced", "cost": "~$1.50", "delta": "~-$0.50 (-25\u00a0%)", "hit": "~90\u00a0%", "breaks": "4",
        "moves": "3", "cuts": "1", "peak": "~10.0k", "over": "2", "needed": "5 of 91",
    }  # fmt: skip


def test_a_recorded_peak_may_be_inferred():
    """A peak that rests on estimated sizes is marked in the recorded row too."""
    moments = [a_moment(1, inferred=False, context=5.0), a_moment(2, context=9.0), a_moment(3, context=math.nan)]
    assert rows_of(a_session([a_policy("none", moments=moments, peak=9.0)]))[0].cells[7] == "~9"
    assert rows_of(a_session([a_policy("none", moments=[], peak=9.0)]))[0].cells[7] == "9"


@pytest.mark.parametrize(
    ("changes", "delta"),
    [
        ({"ratio": 1.2, "saving": -0.4}, "~+$0.40 (+20\u00a0%)"),
        ({"ratio": 0.5, "saving": None}, "~-50\u00a0%"),
        ({"ratio": None, "saving": 0.4}, "~-$0.40"),
        ({"ratio": None, "saving": None}, "unknown"),
        ({"ratio": math.nan, "saving": math.inf}, "unknown"),
        ({"ratio": 0.98, "saving": 0.04}, "within model error"),
        ({"ratio": 1.029, "saving": None}, "within model error"),
    ],
)
def test_a_delta_says_only_what_is_known(changes, delta):
    """Dollars, percent, both, or a word: never a number inside the model's own error."""
    assert cells(a_policy(**changes))["delta"] == delta


def test_an_unchecked_model_still_tells_its_ratio():
    """Without a known error the ratio is printed, as inferred."""
    assert cells(a_policy(ratio=0.99, saving=None), error=None)["delta"] == "~-1.0\u00a0%"


def test_two_recorded_rows_differ_by_measured_numbers():
    """A difference between two recordings is no inference."""
    assert cells(a_policy("again", recorded=True))["delta"] == "-$0.50 (-25\u00a0%)"


def test_without_a_price_units_stand_in():
    """Input-token equivalents replace dollars when no policy has a cost."""
    session = a_session([a_policy("none", cost=None, units=None), a_policy(cost=None)])
    assert not is_priced(session)
    assert [column.short for column in columns_of(session)][1] == "units"
    assert [row.cells[1] for row in rows_of(session)] == ["unknown", "~500k"]


@pytest.mark.parametrize(
    ("policy", "trend"),
    [
        (NONE, ""), (a_policy(ratio=0.5), "cheaper"), (a_policy(ratio=1.5), "dearer"), (a_policy(ratio=None), ""),
        (a_policy(ratio=1.01), ""),
    ],
)  # fmt: skip
def test_colour_follows_a_claimed_difference(policy, trend):
    """Only a difference that may be claimed is coloured."""
    assert trend_of(policy, a_session()) == trend
