"""Which output shows which lines of a file newest: the one that a later use needed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

__all__ = ["Output", "ShownFile"]

_NUMBERED = re.compile(r"\s*\d+(?:→|\t|\||: | {2})")
_TELLING = re.compile(r"\w\W*\w\W*\w")
_MOST_SEARCHED = 16
_SEAM = 10
"""Lines that a read may share with the one before it and still only read on."""


class Output:
    """One output on the path: where it stands and, once an edit asks, the lines that it shows."""

    __slots__ = ("_lines", "entry_id", "position", "text")

    def __init__(self, entry_id: str, position: int, text: str) -> None:
        self.entry_id = entry_id
        self.position = position
        self.text = text
        self._lines: frozenset[str] | None = None

    def shows(self, lines: frozenset[str]) -> bool:
        """Whether one of ``lines`` stands in it."""
        if self._lines is None:
            self._lines = telling_lines(self.text)
        return not self._lines.isdisjoint(lines)


def telling_lines(text: str) -> frozenset[str]:
    """Lines that are no mere bracket, without the number that a tool puts before them and blanks around."""
    bare = (_NUMBERED.sub("", line, count=1).strip() for line in text.splitlines())
    return frozenset(line for line in bare if _TELLING.search(line))


class ShownFile:
    """The lines of one file that outputs show, each by the newest output only."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._owners: list[Output] = []
        self._newest: Output | None = None
        self.changed_at = -1
        """Position of the newest call that changed the file."""

    def needed_by(self, first: float, last: float) -> list[Output]:
        """Outputs of which a read from ``first`` to ``last`` asks a good part again: no mere seam of reading on."""
        enough = min(_SEAM, (last - first + 1) / 2)
        lines: dict[Output, float] = {}
        for at in range(*self._slice(first, last).indices(len(self._owners))):
            overlap = min(last, self._ends[at]) - max(first, self._starts[at]) + 1
            lines[self._owners[at]] = lines.get(self._owners[at], 0) + overlap
        return [output for output, overlap in lines.items() if overlap >= enough]

    def show(self, first: float, last: float, output: Output) -> None:
        """Let ``output`` replace whatever showed lines from ``first`` to ``last``."""
        at = self._slice(first, last)
        pieces = [(first, last, output)]
        if at.start < at.stop:
            pieces = [*self._before(at.start, first), *pieces, *self._behind(at.stop - 1, last)]
        self._starts[at] = [start for start, _, _ in pieces]
        self._ends[at] = [end for _, end, _ in pieces]
        self._owners[at] = [owner for _, _, owner in pieces]
        self._newest = output

    def forget(self) -> None:
        """Nothing that outputs show stands in the file any more."""
        self._starts, self._ends, self._owners, self._newest = [], [], [], None

    def needed_for(self, old: str | None) -> Output | None:
        """Give the newest output that shows a line of ``old``, the newest of all where no such line is known."""
        lines = telling_lines(old or "")
        if not lines:
            return self._newest
        return next((output for output in self._newest_first() if output.shows(lines)), None)

    def _newest_first(self) -> list[Output]:
        found = sorted(set(self._owners), key=lambda output: output.position, reverse=True)
        return found[:_MOST_SEARCHED]

    def _slice(self, first: float, last: float) -> slice:
        return slice(bisect_left(self._ends, first), bisect_right(self._starts, last))

    def _before(self, at: int, first: float) -> Iterator[tuple[float, float, Output]]:
        if self._starts[at] < first:
            yield self._starts[at], first - 1, self._owners[at]

    def _behind(self, at: int, last: float) -> Iterator[tuple[float, float, Output]]:
        if self._ends[at] > last:
            yield last + 1, self._ends[at], self._owners[at]
