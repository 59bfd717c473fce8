"""Geometry of the charts: scales, ticks, thinned paths, labels that do not overlap. No markup here."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.replay.result import Moment, PolicyResult, SessionResult
from leafscar.report.numbers import known

__all__ = ["Scale", "scale_of", "spread", "steps", "thinned"]

_ROOM = 1.06  # air above the highest value
_CEILING = 1.25  # no chart goes higher than this multiple of what was recorded or the window


class Scale(Struct, frozen=True, kw_only=True):
    """Maps requests and tokens to the drawing; all panels of a session share one."""

    first: float
    """Left end of the plot."""
    last: float
    """Right end."""
    top: float
    bottom: float
    requests: int
    """Requests across, at least 1."""
    tokens: float
    """Tokens at the top, more than 0."""

    def x(self, request: float) -> float:
        """Place of a request, 1-based; a single one stands in the middle."""
        if self.requests == 1:
            return (self.first + self.last) / 2
        share = (request - 1) / (self.requests - 1)
        return self.first + (self.last - self.first) * min(max(share, 0), 1)

    def y(self, tokens: float) -> float:
        """Height of a size; what is above the top stays at the top."""
        share = min(max(tokens / self.tokens, 0), 1)
        return self.bottom - (self.bottom - self.top) * share

    def holds(self, tokens: float) -> bool:
        """Whether a size lies inside the plot."""
        return 0 <= tokens <= self.tokens


def scale_of(session: SessionResult, *, first: float, last: float, top: float, bottom: float) -> Scale:
    """Choose one scale for every panel of a session."""
    numbers = [moment.request for policy in session.policies for moment in policy.moments]
    return Scale(
        first=first,
        last=last,
        top=top,
        bottom=bottom,
        requests=max([1, session.requests, *numbers]),
        tokens=_highest(session) * _ROOM,
    )


def _highest(session: SessionResult) -> float:
    """Tokens that must be seen: every peak, but a runaway policy must not flatten the others; the window if near."""
    peak = max((_peak(policy) for policy in session.policies), default=0)
    ceiling = _CEILING * max([session.window, *(_peak(policy) for policy in session.policies if policy.recorded)])
    highest = min(peak, ceiling or peak) or session.window or 1
    return max(highest, session.window) if session.window <= 2 * highest else highest


def _peak(policy: PolicyResult) -> float:
    return max((moment.context for moment in policy.moments if known(moment.context)), default=0)


def steps(highest: float, about: int) -> list[float]:
    """Round numbers from 0 to ``highest``, about as many as asked for."""
    raw = highest / about
    unit = 10 ** math.floor(math.log10(raw))
    step = next(unit * factor for factor in (1, 2, 2.5, 5, 10) if unit * factor >= raw * 0.999)
    return [step * number for number in range(int(highest / step + 0.001) + 1)]


def thinned(moments: Sequence[Moment], scale: Scale, column: float = 0.5) -> list[list[tuple[float, float]]]:
    """Points of a line in runs: a run ends where a size is unknown.

    Of the requests that share a column of ``column`` units only the first, the lowest, the highest and the last stay,
    which is all that can be seen; so do all with a move or a cut.
    """
    runs: list[list[Moment]] = [[]]
    for moment in moments:
        if known(moment.context):
            runs[-1].append(moment)
        elif runs[-1]:
            runs.append([])
    return [
        [(scale.x(one.request), scale.y(one.context or 0)) for one in _kept(run, scale, column)] for run in runs if run
    ]


def _kept(run: Sequence[Moment], scale: Scale, column: float) -> Iterable[Moment]:
    buckets: dict[int, list[Moment]] = {}
    for moment in run:
        buckets.setdefault(int(scale.x(moment.request) / column), []).append(moment)
    for bucket in buckets.values():
        sizes = [moment.context or 0 for moment in bucket]
        ends = {0, len(bucket) - 1, sizes.index(min(sizes)), sizes.index(max(sizes))}
        yield from (one for at, one in enumerate(bucket) if at in ends or one.shed or one.cut)


def spread(heights: Sequence[float], gap: float, lowest: float) -> list[float]:
    """Move labels apart until ``gap`` lies between any two, in their order from the top; none goes below ``lowest``."""
    placed: dict[int, float] = {}
    order = sorted(range(len(heights)), key=lambda at: heights[at])
    for at in order:
        placed[at] = max([heights[at], *(taken + gap for taken in placed.values())])
    floor = lowest
    for at in reversed(order):
        placed[at] = min(placed[at], floor)
        floor = placed[at] - gap
    return [placed[at] for at in range(len(heights))]
