"""Several sessions side by side (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leafscar.engine import DEFAULT_POLICY
from leafscar.replay.result import PolicyResult, ReplayResult, SessionResult
from leafscar.report.markup import paragraph
from leafscar.report.numbers import UNKNOWN, percent
from leafscar.report.rows import Row, rows_of, trend_of
from leafscar.report.spending import by_kind
from leafscar.report.tables import Cell, Head, link, number, table
from leafscar.report.words import heading

__all__ = ["side_by_side"]


def side_by_side(result: ReplayResult) -> Iterable[str]:
    """Write one row for each session: as it was, and under the default policy or the first that was asked for."""
    name = _compared(result)
    yield "<h3>The sessions</h3>"
    if name:
        yield paragraph(f"Each session as it was, and under {name}.")
    heads = (
        Head(name="Session"),
        Head(name="Requests", is_number=True),
        Head(name="Cost", meaning="as it was", is_number=True),
        Head(name="Peak", meaning="as it was", is_number=True),
        Head(name="Cuts", meaning="as it was", is_number=True),
        Head(name="Outputs", meaning="part of the bill that outputs of tools made up", is_number=True),
        *(
            (
                Head(name="Delta", meaning=f"under {name}", is_number=True),
                Head(name="Cuts then", meaning=f"under {name}", is_number=True),
                Head(name="Needed later", meaning=f"outputs that {name} took out", is_number=True),
            )
            if name
            else ()
        ),
        Head(name="Model error", is_number=True),
    )
    rows = (_row(session, place, name) for place, session in enumerate(result.sessions, 1))
    yield from table("Sessions side by side", heads, rows)


def _compared(result: ReplayResult) -> str:
    names = [row.policy for session in result.sessions for row in session.policies if not row.recorded]
    return DEFAULT_POLICY if DEFAULT_POLICY in names else next(iter(names), "")


def _row(session: SessionResult, place: int, name: str) -> Sequence[Cell]:
    rows = {row.policy.policy: row for row in rows_of(session)}
    then = rows.get(name)
    return (
        link(heading(session), f"session-{place}"),
        number(f"{session.requests:,}"),
        *_as_it_was(rows.get(session.baseline)),
        number(f"{session.cuts:,}"),
        number(_outputs(session)),
        *(_then(then, session) if name else ()),
        number(percent(session.error)),
    )


def _as_it_was(row: Row | None) -> Iterable[Cell]:
    if row is None:
        return (number(UNKNOWN), number(UNKNOWN))
    return (number(row.cells[1]), number(row.cells[7]))


def _outputs(session: SessionResult) -> str:
    parts = by_kind(session.money) if session.money else []
    return next((percent(part.share) for part in parts if part.name == "outputs of tools"), UNKNOWN)


def _then(row: Row | None, session: SessionResult) -> Iterable[Cell]:
    if row is None:
        return (number(UNKNOWN),) * 3
    policy: PolicyResult = row.policy
    return (number(row.cells[2], trend_of(policy, session)), number(row.cells[6]), number(row.cells[9]))
