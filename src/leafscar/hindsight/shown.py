"""Which output shows which lines of a file newest: the one that a later use needed."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from itertools import islice

__all__ = ["Output", "ShownFile", "bare_lines", "telling_lines"]

_NUMBERED = re.compile(r"\d+(?:→|\t|\||: | {2})")
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
    """Bare lines that are no mere bracket."""
    return frozenset(line for line in bare_lines(text) if _TELLING.search(line))


def bare_lines(text: str) -> Iterator[str]:
    """Lines of a text without the number that a tool puts before them and blanks around."""
    for line in text.splitlines():
        plain = line.strip()
        # most lines begin with no digit, and asking a pattern costs more than all the rest
        number = _NUMBERED.match(plain) if plain[:1].isdigit() else None
        yield plain if number is None else plain[number.end() :].lstrip()


class ShownFile:
    """The lines of one file that outputs show, each by the newest output only."""

    def __init__(self) -> None:
        self._starts: list[float] = []
        self._ends: list[float] = []
        self._owners: list[Output] = []
        self._pieces: dict[Output, int] = {}  # how many each output still has; the newest output last
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
        replaced = self._owners[at]
        self._starts[at] = [start for start, _, _ in pieces]
        self._ends[at] = [end for _, end, _ in pieces]
        self._owners[at] = [owner for _, _, owner in pieces]
        self._count(self._owners[at.start : at.start + len(pieces)], replaced, output)

    def forget(self) -> None:
        """Nothing that outputs show stands in the file any more."""
        self._starts, self._ends, self._owners, self._pieces = [], [], [], {}

    def needed_for(self, old: str) -> Output | None:
        """Give the newest output that shows a line of ``old``, the newest of all where no such line is known."""
        lines = telling_lines(old)
        newest = islice(reversed(self._pieces), _MOST_SEARCHED)
        return next((output for output in newest if not lines or output.shows(lines)), None)

    def _count(self, added: list[Output], removed: list[Output], newest: Output) -> None:
        for owner in added:
            self._pieces[owner] = self._pieces.get(owner, 0) + 1
        for owner in removed:
            self._pieces[owner] -= 1
            if not self._pieces[owner]:
                del self._pieces[owner]
        self._pieces[newest] = self._pieces.pop(newest)

    def _slice(self, first: float, last: float) -> slice:
        return slice(bisect_left(self._ends, first), bisect_right(self._starts, last))

    def _before(self, at: int, first: float) -> Iterator[tuple[float, float, Output]]:
        if self._starts[at] < first:
            yield self._starts[at], first - 1, self._owners[at]

    def _behind(self, at: int, last: float) -> Iterator[tuple[float, float, Output]]:
        if self._ends[at] > last:
            yield last + 1, self._ends[at], self._owners[at]
