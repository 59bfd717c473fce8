"""Cost against cuts: every policy a point, and compaction alone at other lines (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.report.markup import paragraph, safe
from leafscar.report.numbers import count, dollars, known, tokens
from leafscar.report.scale import spread, steps

__all__ = ["scatter"]

_WIDTH, _HEIGHT = 700, 300
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 470, 14, 246
_LABEL = 14  # height of a label
_FITS = 38  # letters of a label
_AIR = 0.12  # of the spread of costs, above and below


class _Point(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    cuts: int
    bill: float
    kind: str


class _Plane(Struct, frozen=True, kw_only=True):
    """Maps cuts and bills to the drawing."""

    cuts: int
    low: float
    high: float
    priced: bool

    def x(self, cuts: float) -> float:
        """Place of a number of cuts."""
        return _LEFT + 24 + (_RIGHT - _LEFT - 48) * cuts / self.cuts

    def y(self, bill: float) -> float:
        """Height of a bill."""
        return _BOTTOM - (_BOTTOM - _TOP) * (bill - self.low) / (self.high - self.low)

    def printed(self, bill: float) -> str:
        """The bill as the table has it."""
        return dollars(bill) if self.priced else tokens(bill)


def scatter(session: SessionResult, number: int) -> Iterable[str]:
    """Draw the policies of the ``number``-th session of a page by their cuts and cost; nothing for fewer than two."""
    priced = all(known(policy.cost) for policy in session.policies)
    points = _points(session.policies, priced=priced)
    line = _line(session, priced=priced)
    if sum(len(point.names) for point in points) < 2:  # noqa: PLR2004 - one point compares nothing
        return
    plane = _plane([*points, *line], priced=priced)
    yield "<h3>Cost against cuts</h3>"
    yield paragraph(_words(line, priced=priced))
    name = f"scatter-{number}"
    yield '<div class="scroll" role="region" aria-label="Cost against cuts" tabindex="0">'
    yield f'<svg class="scatter" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">'
    yield f'<title id="{name}-t">Cost against cuts by policy</title>'
    yield f'<desc id="{name}-d">{safe("; ".join(_told(point, plane) for point in (*points, *line)))}.</desc>'
    yield from _axes(plane)
    yield from _baseline(line, plane)
    yield from _labelled(points, plane)
    yield "</svg>\n</div>"


def _words(line: Sequence[_Point], *, priced: bool) -> str:
    what = "Dollars" if priced else "Input-token equivalents"
    text = f"{what} of the whole session upwards, cuts to the right; lower left is better."
    if not line:
        return text
    return (
        f"{text} The hollow diamonds are compaction alone, cut at other fractions of the window: what the same number "
        "of cuts costs without shedding."
    )


def _points(policies: Sequence[PolicyResult], *, priced: bool) -> list[_Point]:
    """Policies by place; those on one spot are one point."""
    places: dict[tuple[int, str], _Point] = {}
    for policy in policies:
        bill = policy.cost if priced else policy.units
        if not known(bill):
            continue
        cuts, kind = len(policy.cuts), "recorded" if policy.recorded else "policy"
        place = cuts, f"{bill:.4g}"
        before = places.get(place)
        names = (*(before.names if before else ()), policy.policy)
        places[place] = _Point(names=names, cuts=cuts, bill=bill, kind=before.kind if before else kind)
    return list(places.values())


def _line(session: SessionResult, *, priced: bool) -> list[_Point]:
    bills = [(point, point.cost if priced else point.units) for point in session.equal_cuts]
    return [
        _Point(names=(point.policy,), cuts=point.cuts, bill=bill, kind="equal") for point, bill in bills if known(bill)
    ]


def _plane(points: Sequence[_Point], *, priced: bool) -> _Plane:
    bills = [point.bill for point in points]
    low, high = min(bills), max(bills)
    air = (high - low) * _AIR or high * _AIR or 1.0
    return _Plane(
        cuts=max(1, *(point.cuts for point in points)), low=max(0.0, low - air), high=high + air, priced=priced
    )


def _told(point: _Point, plane: _Plane) -> str:
    about = "" if point.kind == "recorded" else "~"
    return f"{', '.join(point.names)}: {count(point.cuts, 'cut')}, {about}{plane.printed(point.bill)}"


def _axes(plane: _Plane) -> Iterable[str]:
    yield '<g class="axis">'
    for value in _ticks(plane):
        y = plane.y(value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>'
        yield f'<text class="end" x="{_LEFT - 8}" y="{y + 4:.1f}">{plane.printed(value)}</text>'
    for cuts in sorted({round(value) for value in steps(plane.cuts, 8)}):
        x = plane.x(cuts)
        yield f'<path class="grid" d="M{x:.1f} {_TOP}V{_BOTTOM}"/>'
        yield f'<text class="mid" x="{x:.1f}" y="{_BOTTOM + 18}">{cuts:,}</text>'
    yield f'<text class="mid" x="{(_LEFT + _RIGHT) / 2:g}" y="{_BOTTOM + 38}">cuts</text></g>'


def _ticks(plane: _Plane) -> list[float]:
    """Round bills inside the plane."""
    inside = steps(plane.high - plane.low, 5)
    step = inside[1]
    first = -(-plane.low // step) * step
    return [first + step * number for number in range(len(inside) + 1) if first + step * number <= plane.high]


def _baseline(line: Sequence[_Point], plane: _Plane) -> Iterable[str]:
    if not line:
        return
    places = [(plane.x(point.cuts), plane.y(point.bill)) for point in line]
    yield '<g class="equal">'
    yield f'<path class="thread" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in places)}"/>'
    for point, (x, y) in zip(line, places, strict=True):
        diamond = f"M{x:.1f} {y - 5:.1f}l5 5l-5 5l-5 -5z"
        yield f'<path class="spot" d="{diamond}"><title>{_title(point, plane)}</title></path>'
    yield "</g>"


def _labelled(points: Sequence[_Point], plane: _Plane) -> Iterable[str]:
    heights = spread([plane.y(point.bill) for point in points], _LABEL, _BOTTOM)
    for point, label in zip(points, heights, strict=True):
        x, y = plane.x(point.cuts), plane.y(point.bill)
        mark = f"M{x - 4.5:.1f} {y - 4.5:.1f}h9v9h-9z" if point.kind == "recorded" else _circle(x, y)
        yield f'<g class="{point.kind}"><title>{_title(point, plane)}</title>'
        yield f'<path class="lead" d="M{x + 6:.1f} {y:.1f}L{_RIGHT + 4} {label:.1f}h6"/><path class="spot" d="{mark}"/>'
        yield f'<text x="{_RIGHT + 14}" y="{label + 4:.1f}">{safe(_name(point))}</text></g>'


def _circle(x: float, y: float) -> str:
    return f"M{x - 4.5:.1f} {y:.1f}a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z"


def _name(point: _Point) -> str:
    names = ", ".join(point.names)
    return names if len(names) <= _FITS else f"{names[: _FITS - 1]}\u2026"


def _title(point: _Point, plane: _Plane) -> str:
    return safe(_told(point, plane))
