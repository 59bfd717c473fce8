from __future__ import annotations

import pytest

from leafscar.errors import PolicyError
from leafscar.replay.choices import choice_of
from leafscar.replay.rivals import MaskLastN
from leafscar.replay.sweep import MOST_ROWS, swept


def names_of(rows):
    """Names of the rows."""
    return [row if isinstance(row, str) else row.name for row in rows]


def test_without_a_sweep_nothing_changes():
    """The rows are those that were chosen."""
    assert swept(["none", "balanced"], []) == ["none", "balanced"]


def test_one_row_for_each_value():
    """Every policy that has the key gives one row a value, in its place; others stay."""
    rows = swept(["none", "balanced", "none:never-cut", "mask-last-n", "thrifty"], ["shedFraction=0.5, 0.6"])
    assert names_of(rows) == [
        "none", "balanced[shedFraction=0.5]", "balanced[shedFraction=0.6]", "none:never-cut", "mask-last-n",
        "thrifty[shedFraction=0.5]", "thrifty[shedFraction=0.6]",
    ]  # fmt: skip
    assert [row.shed_fraction for row in rows if not isinstance(row, str)] == [0.5, 0.6, 0.5, 0.6]
    assert all(row.payback_fraction == 0 for row in rows[5:])


def test_several_keys_combine():
    """Each policy gets every combination of the keys that it has."""
    rows = swept(["mask-last-n:3+breakpoint", "compaction"], ["keep=5,6", "polling=1,2", "cutFraction=0.5"])
    assert names_of(rows) == [
        "mask-last-n:3+breakpoint[keep=5,polling=1]", "mask-last-n:3+breakpoint[keep=5,polling=2]",
        "mask-last-n:3+breakpoint[keep=6,polling=1]", "mask-last-n:3+breakpoint[keep=6,polling=2]",
        "compaction[cutFraction=0.5]",
    ]  # fmt: skip
    assert rows[2].rule == MaskLastN(keep=6, polling=1)
    assert rows[2].breakpoint


def test_switches_and_chosen_policies():
    """A switch takes true and false, and a policy from elsewhere is swept like one by name; equal values count once."""
    rows = swept([choice_of("clear-tool-uses")], ["breakpoint=true,false,true"])
    assert [row.breakpoint for row in rows] == [True, False]


@pytest.mark.parametrize(
    ("sweeps", "said"),
    [
        (["shedFraction"], "--sweep shedFraction: write KEY=VALUE,VALUE"),
        (["shedFraction="], "write KEY=VALUE"),
        (["=1"], "write KEY=VALUE"),
        (["shedFraction=0.5,,0.6"], "write KEY=VALUE"),
        (["keep=1"], "--sweep keep: no policy asked for has this key; they have absoluteTurn, batchDivisor"),
        (["shedFraction=0.5", "shedFraction=0.6"], "--sweep shedFraction: given twice"),
        (["shedFraction=2"], "--sweep shedFraction=2: Expected `float` <= 1.0"),
        (["shedFraction=half"], "--sweep shedFraction=half: Expected `float`, got `str`"),
        (["shedFraction=NaN"], "--sweep shedFraction=NaN: Expected `float`, got `str`"),
        (["shedFraction=[[[["], "Expected `float`, got `str`"),
        (["shedFraction=" + "[" * 100_000], "Expected `float`, got `str`"),
        (["\u001b=1"], "no policy asked for has this key"),
        (["batchTokens=" + ",".join(map(str, range(MOST_ROWS + 1)))], "--sweep: more than 64 rows"),
        ([f"{key}=1,2,3,4,5,6,7,8,9" for key in ("batchTokens", "coldTokens")], "more than 64 rows"),
    ],
)  # fmt: skip
def test_sweeps_that_are_refused(sweeps, said):
    """One line with the key, whatever was written."""
    with pytest.raises(PolicyError) as caught:
        swept(["balanced"], sweeps)
    assert said in str(caught.value)
    assert str(caught.value).isprintable()


def test_policies_without_keys():
    """Where nothing can be changed, the line says so."""
    with pytest.raises(PolicyError, match="none of them can be changed"):
        swept(["none", "none:never-cut"], ["keep=1"])
