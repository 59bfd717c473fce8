"""The parts of the page that belong to one session: facts, table, panels, lists."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leafscar.replay.result import Assumption, PolicyResult, SessionResult
from leafscar.report.figures import figures
from leafscar.report.markup import paragraph, safe, typeset
from leafscar.report.money import breaks, money_sections, protected
from leafscar.report.numbers import UNKNOWN, count
from leafscar.report.rows import WITHIN_ERROR, Row, columns_of, is_priced, rows_of, trend_of
from leafscar.report.scatter import scatter
from leafscar.report.words import (
    INFERRED,
    UNITS,
    error_sentence,
    heading,
    model_of,
    sizes,
    window_sentence,
)

__all__ = ["policy_table", "session_section"]

_MUTED = {UNKNOWN, WITHIN_ERROR, "baseline"}


def session_section(session: SessionResult, number: int, *, of: int) -> Iterable[str]:
    """Write everything about one session of a page with ``of`` sessions."""
    yield f'<section class="session" id="session-{number}" aria-labelledby="session-{number}-name">'
    yield f'<h2 id="session-{number}-name">{safe(heading(session))}</h2>'
    if of > 1:
        yield f"<p>{safe(session.verdict)}</p>"
    yield from _facts(session)
    yield from policy_table(session)
    yield from _notes(session.policies)
    yield from scatter(session, number)
    yield from figures(session, number)
    yield from money_sections(session)
    yield from breaks(session)
    yield from protected(session)
    yield from _list("What would not help", session.not_helped)
    yield from _assumptions(session.assumptions)
    yield from _list(f"{count(len(session.problems), 'problem')} in the recording", session.problems)
    yield "</section>"


def _facts(session: SessionResult) -> Iterable[str]:
    yield '<dl class="facts">'
    for name, value in (
        ("Session", session.session_id or UNKNOWN),
        ("Model", model_of(session)),
        ("Size", sizes(session)),
        ("Window", window_sentence(session)),
        ("Deltas", error_sentence(session)),
    ):
        yield f"<dt>{name}</dt><dd>{safe(value)}</dd>"
    yield "</dl>"


def policy_table(session: SessionResult) -> Iterable[str]:
    """Write the table of policies and what its marks mean."""
    if not session.policies:
        yield paragraph("No policy was replayed.")
        return
    yield '<div class="scroll" role="region" aria-label="Policies compared" tabindex="0">'
    yield '<table class="policies sortable">\n<thead>\n<tr>'
    for column in columns_of(session):
        yield f'<th scope="col" title="{safe(column.meaning)}">{safe(column.long)}</th>'
    yield "</tr>\n</thead>\n<tbody>"
    yield from (_row(row, session) for row in rows_of(session))
    yield "</tbody>\n</table>\n</div>"
    if not is_priced(session):
        yield paragraph(UNITS)
    if not all(policy.recorded for policy in session.policies):
        yield paragraph(INFERRED)


def _row(row: Row, session: SessionResult) -> str:
    name, cost, delta, *rest = row.cells
    tag = '<span class="tag">recorded</span>' if row.policy.recorded else ""
    cells = (_cell(cost), _cell(delta, trend_of(row.policy, session)), *map(_cell, rest))
    return f'<tr><th scope="row">{safe(name)}{tag}</th>{"".join(cells)}</tr>'


def _cell(text: str, kind: str = "") -> str:
    kind = "muted" if text in _MUTED else kind
    return f'<td class="{kind}">{typeset(text)}</td>' if kind else f"<td>{typeset(text)}</td>"


def _notes(policies: Sequence[PolicyResult]) -> Iterable[str]:
    yield from _list("Notes", [f"{policy.policy}: {note}" for policy in policies for note in policy.notes])


def _list(title: str, items: Sequence[str]) -> Iterable[str]:
    if items:
        yield f"<h3>{title}</h3>\n<ul>"
        yield from (f"<li>{safe(item)}</li>" for item in items)
        yield "</ul>"


def _assumptions(assumptions: Sequence[Assumption]) -> Iterable[str]:
    if not assumptions:
        return
    yield '<h3>Assumptions</h3>\n<div class="scroll" role="region" aria-label="Assumptions" tabindex="0">'
    heads = "".join(f'<th scope="col">{name}</th>' for name in ("Assumption", "Value", "Source"))
    yield f"<table>\n<thead>\n<tr>{heads}</tr>\n</thead>\n<tbody>"
    for one in assumptions:
        yield f'<tr><th scope="row">{safe(one.name)}</th><td>{safe(one.value)}</td><td>{safe(one.source)}</td></tr>'
    yield "</tbody>\n</table>\n</div>"
