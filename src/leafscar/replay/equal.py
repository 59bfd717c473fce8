"""Compaction alone at other lines: what the same number of cuts costs without shedding (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from leafscar.replay.details import EqualCuts
from leafscar.replay.result import PolicyResult
from leafscar.replay.rows import NEVER_CUT

__all__ = ["MOST_RUNS", "equal_cuts"]

MOST_RUNS = 8
"""Runs of ``compaction`` that one session may cost."""

_LOW, _HIGH = 10, 100  # percent of the window
_USUAL = (50, 70, 80)


def equal_cuts(rows: Sequence[PolicyResult], run: Callable[[str], PolicyResult]) -> list[EqualCuts]:
    """Look for the fractions at which ``compaction`` makes as many cuts as each of ``rows``, by rising cuts.

    A higher line makes fewer cuts, or as many; so halving finds the fraction, if a whole percent has it. A few usual
    fractions are tried in any case. Every run is a true point; of those with as many cuts the cheapest is given.
    """
    wanted = {len(row.cuts) for row in rows if row.policy != NEVER_CUT}
    search = _Search(run, [row for row in rows if row.policy.startswith("compaction")])
    for percent in _USUAL if wanted else ():
        search.try_line(percent)
    for cuts in sorted(wanted):
        search.look_for(cuts)
    return [_point(row) for row in search.by_cuts()]


class _Search:
    def __init__(self, run: Callable[[str], PolicyResult], known: Iterable[PolicyResult]) -> None:
        self._run = run
        self._known = list(known)
        self._rows: dict[int, PolicyResult] = {}
        self._rows.update((_HIGH, row) for row in self._known if row.policy == "compaction")

    def by_cuts(self) -> list[PolicyResult]:
        """One row for each number of cuts, the cheapest, by rising cuts."""
        best: dict[int, PolicyResult] = {}
        for row in sorted(self._every(), key=lambda row: -(row.units or 0)):
            best[len(row.cuts)] = row
        return [best[cuts] for cuts in sorted(best)]

    def look_for(self, cuts: int) -> None:
        """Halve the span of fractions until one makes ``cuts`` cuts, or the runs are used up."""
        low, high = _LOW, _HIGH
        if self.try_line(_HIGH) > cuts:
            return
        while low <= high and not self._has(cuts):
            middle = (low + high) // 2
            if middle not in self._rows and len(self._rows) >= MOST_RUNS:
                return
            if self.try_line(middle) > cuts:
                low = middle + 1
            else:
                high = middle - 1

    def _has(self, cuts: int) -> bool:
        return any(len(row.cuts) == cuts for row in self._every())

    def _every(self) -> list[PolicyResult]:
        return [*self._known, *self._rows.values()]

    def try_line(self, percent: int) -> int:
        """Cuts of a line at so many percent of the window."""
        if percent not in self._rows:
            self._rows[percent] = self._run(f"compaction:{percent / 100:.2f}")
        return len(self._rows[percent].cuts)


def _point(row: PolicyResult) -> EqualCuts:
    return EqualCuts(policy=row.policy, cuts=len(row.cuts), cost=row.cost, units=row.units)
