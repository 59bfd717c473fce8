"""What happened to each file along a path: read, edited, written, and what of it was needed after a cut."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, TypeAlias

from leafscar.hindsight.acts import WHOLE
from leafscar.hindsight.shown import Output, ShownFile
from leafscar.hindsight.walk import Done, last_shown

__all__ = ["Touch", "TouchKind", "needs_of", "touches_of"]

TouchKind: TypeAlias = Literal["read", "edited", "written"]


class Touch(NamedTuple):
    """One answered call that read or changed a file."""

    kind: TouchKind
    done: Done
    first: float = 1
    last: float = WHOLE


def touches_of(done: Iterable[Done]) -> dict[str, list[Touch]]:
    """Give the touches of each file, in the order in which they were answered; calls that failed touch nothing."""
    found: dict[str, list[Touch]] = {}
    for each in done:
        for path, touch in () if each.failed else _touches(each):
            found.setdefault(path, []).append(touch)
    return found


def needs_of(touches: Sequence[Touch], cut: int, gone: Iterable[int], kept: Iterable[int]) -> Iterator[Touch]:
    """Give the later touches that needed what the cut at index ``cut`` took of the file.

    ``gone`` and ``kept`` are indexes of touches on either side. What a kept one shows was still there. The first
    change after the cut ends it: what is read from then on is a new state.
    """
    lost, other = Output("", -1, ""), Output("", -1, "")
    shown = ShownFile()
    for at, owner in (*((at, lost) for at in gone), *((at, other) for at in kept)):
        if touches[at].kind != "edited":
            shown.show(touches[at].first, touches[at].last, owner)
    if not shown.needed_by(1, WHOLE):
        shown.show(1, WHOLE, lost)  # edited without having been read: the call itself knew the place
    for touch in touches[_first_after(touches, cut) :]:
        if lost in shown.needed_by(touch.first, touch.last) and touch.kind != "written":
            yield touch
        if touch.kind != "read":
            return
        shown.show(touch.first, touch.last, other)


def _touches(done: Done) -> Iterator[tuple[str, Touch]]:
    for path, first, asked in done.act.shows:
        last = asked if asked is not None else last_shown(done.text, first, alone=len(done.act.shows) == 1)
        yield path, Touch("read", done, first, last)
    for change in done.act.changes:
        yield change.path, Touch("written" if change.whole else "edited", done)


def _first_after(touches: Sequence[Touch], cut: int) -> int:
    """Index of the first touch whose call was made after the cut."""
    at = bisect_right(touches, cut, key=lambda touch: touch.done.answer)
    while at < len(touches) and touches[at].done.at <= cut:
        at += 1
    return at
