"""One panel of the page: the context of one policy over the requests, as inline SVG (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.replay.result import CutMark, Moment, PolicyResult, SessionResult
from leafscar.report.markup import safe
from leafscar.report.numbers import count, dollars, inferred, known, tick, tokens
from leafscar.report.scale import Scale, scale_of, spread, steps, thinned
from leafscar.report.words import breaks_by_cause, enumerated

__all__ = ["DASHES", "Panels", "curve", "panel", "panels_of", "symbol"]

_WIDTH, _LEFT, _RIGHT, _TOP, _BOTTOM = 460, 46, 384, 12, 162
_LANES = {"cuts": 180, "moves": 194, "breaks": 208}  # names and heights of the lanes below the plot
_END = 214  # below the last lane
_HEIGHT = 232
_DOTTED = 60  # requests up to which each one gets a dot
_TITLED = 100  # moves up to which each one explains itself
_LABEL = 12  # height of a line's label

DASHES = {"window": "", "threshold": "7 3", "shed": "2 3", "goal": "1 4", "gate": "8 3 2 3", "cut": "4 2",
          "trigger": "1 2"}  # fmt: skip
"""Dash pattern of each line by name; together with its label it tells lines apart without colour."""


class Panels(Struct, frozen=True, kw_only=True):
    """What all panels of one session share."""

    session: SessionResult
    scale: Scale
    name: str
    """Start of every id in these panels."""
    ghost: str | None
    """Id of the baseline's path, which the other panels repeat in grey; None when the baseline is not drawn."""


def panels_of(session: SessionResult, number: int) -> Panels:
    """Prepare the panels of the ``number``-th session of a page."""
    scale = scale_of(session, first=_LEFT, last=_RIGHT, top=_TOP, bottom=_BOTTOM)
    drawn = any(policy.policy == session.baseline and policy.moments for policy in session.policies)
    name = f"chart-{number}"
    return Panels(session=session, scale=scale, name=name, ghost=f"{name}-baseline" if drawn else None)


def panel(panels: Panels, policies: Sequence[PolicyResult], number: int) -> str:
    """Draw one policy, or several that look the same; the lines of several are left out."""
    policy = policies[0]
    lines = policy.lines if len(policies) == 1 else {}
    under = ", ".join(one.policy for one in policies)
    name = f"{panels.name}-{number}"
    scale = panels.scale
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="{name}-t {name}-d">',
        f'<title id="{name}-t">Context over requests under {safe(under)}</title>',
        f'<desc id="{name}-d">{safe(_described(policy))}</desc>',
        *_axes(scale),
        *_over(panels.session.window, scale),
        *_lines({"window": panels.session.window, **lines}, scale),
        *_curves(panels, policy),
        *_cuts(policy.cuts, scale),
        *_moves(policy.moments, scale),
        *_breaks(policy.moments, scale),
        *_beyond(policy, scale),
        "</svg>",
    ]
    return "\n".join(parts)


def _described(policy: PolicyResult) -> str:
    moves = [moment.request for moment in policy.moments if moment.shed]
    parts = [
        f"{count(len(policy.moments), 'request')}, peak {tokens(policy.peak)} tokens",
        f"{count(len(moves), 'move')}{_at(moves)}",
        f"{count(len(policy.cuts), 'cut')}{_at([cut.request for cut in policy.cuts])}",
        breaks_by_cause(policy),
    ]
    return "; ".join(parts) + "."


def _at(requests: Sequence[int]) -> str:
    return f" (request {enumerated(requests)})" if requests else ""


def _axes(scale: Scale) -> Iterable[str]:
    yield '<g class="axis">'
    for value in steps(scale.tokens, 6):
        y = scale.y(value)
        yield f'<path class="grid" d="M{_LEFT} {y:.1f}H{_RIGHT}"/>'
        yield f'<text class="end" x="{_LEFT - 6}" y="{y + 4:.1f}">{tick(value)}</text>'
    for request in _request_ticks(scale.requests):
        x = scale.x(request)
        yield f'<path class="grid" d="M{x:.1f} {_BOTTOM}V{_END}"/>'
        yield f'<text class="mid" x="{x:.1f}" y="{_END + 13}">{request:,}</text>'
    for lane, y in _LANES.items():
        yield f'<text class="end" x="{_LEFT - 6}" y="{y + 3}">{lane}</text>'
    yield f'<text x="{_RIGHT + 14}" y="{_END + 13}">request</text></g>'


def _request_ticks(requests: int) -> list[int]:
    inner = [int(step) for step in steps(requests, 5) if step == int(step) and step > 1]
    return [1, *(step for step in inner if step <= requests)]


def _over(window: float, scale: Scale) -> Iterable[str]:
    if window > 0 and scale.holds(window):
        y = scale.y(window)
        yield f'<rect class="over" x="{_LEFT}" y="{_TOP}" width="{_RIGHT - _LEFT}" height="{y - _TOP:.1f}"/>'


def _lines(lines: dict[str, float], scale: Scale) -> Iterable[str]:
    seen = {name: size for name, size in lines.items() if known(size) and size > 0 and scale.holds(size)}
    heights = [scale.y(size) for size in seen.values()]
    yield '<g class="lines">'
    for (name, size), y, label in zip(seen.items(), heights, spread(heights, _LABEL, _BOTTOM), strict=True):
        kind = "window" if name == "window" else "line"
        dash = DASHES.get(name, "3 3")
        yield f'<g class="{kind}"><title>{safe(name)}: {tokens(size)} tokens</title>'
        yield f'<path d="M{_LEFT} {y:.1f}H{_RIGHT}l8 {label - y:.1f}h3" stroke-dasharray="{dash or "none"}"/>'
        yield f'<text x="{_RIGHT + 14}" y="{label + 3.5:.1f}">{safe(name[:11])}</text></g>'
    yield "</g>"


def _curves(panels: Panels, policy: PolicyResult) -> Iterable[str]:
    is_baseline = policy.policy == panels.session.baseline
    if panels.ghost and not is_baseline:
        yield f'<g class="ghost"><use href="#{panels.ghost}"/></g>'
    mark = f' id="{panels.ghost}"' if is_baseline else ""
    yield f'<g class="context"><path{mark} d="{curve(policy, panels.scale)}"/></g>'
    runs = thinned(policy.moments, panels.scale)
    if len(policy.moments) <= _DOTTED or any(len(run) == 1 for run in runs):
        dots = "".join(f"M{x:.1f} {y:.1f}h0" for run in runs for x, y in run)
        yield f'<g class="dots"><path d="{dots}"/></g>'


def curve(policy: PolicyResult, scale: Scale) -> str:
    """The policy's line as path data."""
    return "".join(map(_path, thinned(policy.moments, scale)))


def _path(run: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in run)


def _cuts(cuts: Sequence[CutMark], scale: Scale) -> Iterable[str]:
    yield f'<g class="cuts" data-count="{len(cuts)}">'
    for cut in cuts:
        x = scale.x(cut.request - 0.5)
        after = cut.after if known(cut.after) else 0
        drop = f"M{x:.1f} {_end(scale, cut.before):.1f}V{_end(scale, after):.1f}"
        yield f'<g><title>{safe(_cut_title(cut))}</title><path class="drop" d="{drop}"/>'
        yield f'<path class="mark" d="M{x:.1f} {_LANES["cuts"]}m0 -4l4 4l-4 4l-4 -4z"/></g>'
    yield "</g>"


def _end(scale: Scale, size: float) -> float:
    return scale.y(size) if known(size) else scale.top


def _cut_title(cut: CutMark) -> str:
    return (
        f"cut before request {cut.request} ({cut.reason}): {tokens(cut.before)} to {tokens(cut.after)} tokens, "
        f"summary of {tokens(cut.summary_tokens)}, {dollars(cut.cost)}"
    )


def _moves(moments: Sequence[Moment], scale: Scale) -> Iterable[str]:
    moves = [moment for moment in moments if moment.shed]
    y = _LANES["moves"]
    yield f'<g class="moves" data-count="{len(moves)}">'
    if len(moves) <= _TITLED:
        for moment in moves:
            title = f"move at request {moment.request}: {_shed(moment)}"
            yield f'<path d="{_triangle(scale.x(moment.request), y)}"><title>{title}</title></path>'
    else:
        yield f'<path d="{_once(_triangle(scale.x(moment.request), y) for moment in moves)}"/>'
    yield "</g>"


def _shed(moment: Moment) -> str:
    return f"{count(moment.shed, 'output')}, {inferred(tokens(moment.shed_tokens), when=True)} tokens out"


def _triangle(x: float, y: float) -> str:
    return f"M{x:.1f} {y + 4}l-4.5 -8h9z"


def _breaks(moments: Sequence[Moment], scale: Scale) -> Iterable[str]:
    broken = [moment for moment in moments if moment.break_cause]
    y = _LANES["breaks"]
    ticks = _once(f"M{scale.x(moment.request):.1f} {y - 4}v8" for moment in broken)
    yield f'<g class="breaks" data-count="{len(broken)}"><path d="{ticks}"/></g>'


def _once(marks: Iterable[str]) -> str:
    """Join marks; those at the same tenth of a unit are one."""
    return "".join(dict.fromkeys(marks))


def _beyond(policy: PolicyResult, scale: Scale) -> Iterable[str]:
    if known(policy.peak) and policy.peak > scale.tokens:
        text = f"peak {tokens(policy.peak)}: above this chart"
        yield f'<text class="beyond mid" x="{(_LEFT + _RIGHT) / 2:g}" y="{_TOP - 3}">{text}</text>'


_SYMBOLS = {
    "context": '<g class="context"><path d="M2 10L12 3L22 10L30 5"/></g>',
    "ghost": '<g class="ghost"><path d="M2 10L12 3L22 10L30 5"/></g>',
    "cuts": '<g class="cuts"><path class="mark" d="M16 3l4 4l-4 4l-4 -4z"/></g>',
    "moves": '<g class="moves"><path d="M16 11l-4.5 -8h9z"/></g>',
    "breaks": '<g class="breaks"><path d="M12 3v8M16 3v8M20 3v8"/></g>',
}


def symbol(name: str) -> str:
    """Draw a mark of the legend, or a line by its name."""
    kind = "window" if name == "window" else "line"
    line = f'<g class="{kind}"><path d="M1 7H31" stroke-dasharray="{DASHES.get(name) or "none"}"/></g>'
    return f'<svg class="symbol" viewBox="0 0 32 14" aria-hidden="true">{_SYMBOLS.get(name, line)}</svg>'
