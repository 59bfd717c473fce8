"""The charts of one session: which panels there are, what stands above each, and the legend."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.report.markup import paragraph, safe, typeset
from leafscar.report.numbers import count, tokens
from leafscar.report.rows import Row, rows_of
from leafscar.report.scale import Scale
from leafscar.report.svg import DASHES, Panels, curve, panel, panels_of, symbol
from leafscar.report.words import breaks_by_cause

__all__ = ["figures"]


def figures(session: SessionResult, number: int) -> Iterable[str]:
    """Draw the policies of the ``number``-th session of a page, each in its panel, all on one scale.

    Policies that neither moved nor cut and look the same share a panel: eight equal pictures would say less than one.
    """
    panels = panels_of(session, number)
    groups = _groups(session, panels)
    if not groups:
        return
    yield "<h3>Context over requests</h3>"
    yield paragraph(f"Input tokens of each request; one scale for all policies.{_above(session.window, panels.scale)}")
    yield from _legend(panels, groups)
    yield '<div class="panels">'
    for at, group in enumerate(groups):
        policies = [row.policy for row in group]
        yield f"<figure>\n<figcaption>{_caption(group)}</figcaption>\n{panel(panels, policies, at)}\n</figure>"
    yield "</div>"


def _groups(session: SessionResult, panels: Panels) -> list[list[Row]]:
    groups: dict[Hashable, list[Row]] = {}
    for at, row in enumerate(rows_of(session)):
        if row.policy.moments:
            groups.setdefault(_looks(row, panels) or at, []).append(row)
    return list(groups.values())


def _looks(row: Row, panels: Panels) -> Hashable:
    """What makes two quiet policies the same picture; None when the policy needs a panel of its own."""
    policy = row.policy
    if policy.policy == panels.session.baseline or policy.cuts or any(moment.shed for moment in policy.moments):
        return None
    breaks = tuple(moment.request for moment in policy.moments if moment.break_cause)
    return curve(policy, panels.scale), breaks, row.cells[1:]


def _above(window: float, scale: Scale) -> str:
    return "" if scale.holds(window) else f" The window ({tokens(window)}) lies above."


def _caption(group: Sequence[Row]) -> str:
    names = ", ".join(row.policy.policy for row in group)
    tag = '<span class="tag">recorded</span>' if group[0].policy.recorded else ""
    bill = typeset(", ".join(group[0].cells[1:3]))
    small = "".join(f'<span class="small">{safe(text)}</span>' for text in (_happened(group), _waited(group)) if text)
    return f'<strong>{safe(names)}</strong>{tag} <span class="bill">{bill}</span>{small}'


def _happened(group: Sequence[Row]) -> str:
    policy = group[0].policy
    return f"{count(policy.moves, 'move')}, {count(len(policy.cuts), 'cut')}, {breaks_by_cause(policy)}"


def _waited(group: Sequence[Row]) -> str:
    """Sizes of the lines; with several policies, whose they are."""
    alone = len(group) == 1
    parts = [_sizes(row.policy.lines) if alone else f"{row.policy.policy}: {_sizes(row.policy.lines)}" for row in group
             if row.policy.lines]  # fmt: skip
    return "; ".join(parts)


def _sizes(lines: dict[str, float]) -> str:
    return ", ".join(f"{name} {tokens(size)}" for name, size in lines.items())


def _legend(panels: Panels, groups: Sequence[Sequence[Row]]) -> Iterable[str]:
    drawn: list[PolicyResult] = [group[0].policy for group in groups if len(group) == 1]
    names = dict.fromkeys(name for policy in drawn for name in policy.lines if name in DASHES)
    entries = {
        "context": "context of the policy",
        **({"ghost": f"context of {panels.session.baseline}"} if panels.ghost else {}),
        "cuts": "cut",
        "moves": "move: outputs shed",
        "breaks": "cache break",
        "window": "window",
        **{name: f"{name} line" for name in names},
    }
    yield '<ul class="legend">'
    yield from (f"<li>{symbol(name)}{safe(text)}</li>" for name, text in entries.items())
    yield "</ul>"
