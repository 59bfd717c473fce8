from __future__ import annotations

import pytest
from msgspec.structs import replace
from tests.replay.sessions import autonomous
from tests.replay.test_simulate import setup_of

from leafscar.replay.equal import MOST_RUNS, equal_cuts
from leafscar.replay.rows import virtual_row


def test_compaction_is_found_at_equal_cuts():
    """For each policy's number of cuts there is a line at which compaction alone makes as many."""
    setup = setup_of(autonomous(90))
    rows = [virtual_row(setup, name) for name in ("compaction", "compaction:0.30", "none:never-cut")]
    rows.append(replace(rows[0], policy="other", cuts=rows[0].cuts + rows[0].cuts[:1]))
    points = equal_cuts(rows, lambda name: virtual_row(setup, name))
    assert {len(row.cuts) for row in rows if row.policy != "none:never-cut"} <= {point.cuts for point in points}
    assert [point.cuts for point in points] == sorted({point.cuts for point in points})
    for point in points:
        again = virtual_row(setup, point.policy)
        assert (len(again.cuts), again.cost, again.units) == (point.cuts, point.cost, point.units)


class Runs:
    """A policy whose cuts follow a rule, counting how often it is run."""

    def __init__(self, cuts_at):
        self.names = []
        self._row = virtual_row(setup_of(autonomous(2)), "compaction")
        self._cuts_at = cuts_at

    def __call__(self, name):
        """Run one line."""
        self.names.append(name)
        return self.row(name, self._cuts_at(float(name.partition(":")[2])))

    def row(self, name, cuts):
        """A row of so many cuts."""
        fields = {key: getattr(self._row, key) for key in self._row.__struct_fields__}
        return type(self._row)(**fields | {"policy": name, "cuts": [None] * cuts})


def test_a_session_costs_a_bounded_number_of_runs():
    """However many numbers of cuts there are to find, the runs are limited and no fraction is run twice."""
    runs = Runs(lambda fraction: round(30 / fraction))
    equal_cuts([runs.row(f"row{cuts}", cuts) for cuts in range(30, 300, 7)], runs)
    assert len(runs.names) == len(set(runs.names)) == MOST_RUNS


@pytest.mark.parametrize("known", [True, False])
def test_fewer_cuts_than_the_highest_line_are_not_looked_for(known):
    """No line lies above the threshold, so what it cannot do is not tried."""
    runs = Runs(lambda fraction: 3)
    rows = [runs.row("balanced", 1), *([runs.row("compaction", 3)] if known else [])]
    assert [point.cuts for point in equal_cuts(rows, runs)] == [3]
    usual = ["compaction:0.50", "compaction:0.70", "compaction:0.80"]
    assert runs.names == [*usual, *([] if known else ["compaction:1.00"])]


def test_the_session_without_cuts_asks_for_nothing():
    """A row that never cuts by definition is no policy to compare with."""
    runs = Runs(lambda fraction: 0)
    assert equal_cuts([runs.row("none:never-cut", 0)], runs) == []
