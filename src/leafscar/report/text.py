"""The view for a terminal and for a pipe: plain lines, the verdict first (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import wrap

from leafscar.replay.result import PolicyResult, ReplayResult, SessionResult
from leafscar.report.numbers import count
from leafscar.report.rows import Row, columns_of, is_priced, rows_of, trend_of
from leafscar.report.spending import costliest_words, held_words, shed_words, spent_words
from leafscar.report.totals import Total, total_of
from leafscar.report.words import (
    INFERRED,
    UNITS,
    clean,
    error_sentence,
    heading,
    model_of,
    sizes,
    sourced,
    window_sentence,
)

__all__ = ["render_text"]

_BOLD, _DIM, _GREEN, _RED = "1", "2", "32", "31"
_TREND = {"cheaper": _GREEN, "dearer": _RED}
_SHOWN_PROBLEMS = 3
_DELTA = 2  # the column that may break into two lines


def render_text(result: ReplayResult, *, width: int = 80, color: bool = False) -> str:
    """Print a replay as lines that end with a newline; without ``color`` there is no control code in them."""
    out = _Lines(width, color=color)
    out.sentence(result.verdict or "Nothing was replayed.", _BOLD)
    if total := total_of(result):
        _total(out, total, result.not_helped)
    several = len(result.sessions) > 1
    for number, session in enumerate(result.sessions, 1):
        out.blank()
        if several:
            out.sentence(f"Session {number} of {len(result.sessions)}: {heading(session)}", _BOLD)
            out.sentence(session.verdict)
        else:
            out.sentence(f"session  {heading(session)}", _DIM, then=" " * 9)
        _session(out, session)
    if result.skipped:
        out.section("Skipped:", result.skipped)
    return out.text()


class _Lines:
    """Collects lines of one width; everything that comes in is cleaned before colour is put on."""

    def __init__(self, width: int, *, color: bool) -> None:
        self._width = max(width, 20)
        self._color = color
        self._lines: list[str] = []

    @property
    def width(self) -> int:
        return self._width

    def text(self) -> str:
        return "\n".join(self._lines).replace("\u00a0", " ") + "\n"

    def blank(self) -> None:
        self._lines.append("")

    def sentence(self, text: str, style: str = "", *, first: str = "", then: str = "") -> None:
        lines = wrap(clean(text), self._width, initial_indent=first, subsequent_indent=then, break_on_hyphens=False)
        self._lines += [self.painted(line, style) for line in lines]

    def section(self, title: str, items: Iterable[str]) -> None:
        self.blank()
        self._lines.append(self.painted(title, _BOLD))
        for item in items:
            self.sentence(item, first="- ", then="  ")

    def raw(self, line: str) -> None:
        self._lines.append(line.rstrip())

    def painted(self, text: str, style: str) -> str:
        return f"\x1b[{style}m{text}\x1b[0m" if self._color and style and text else text


def _total(out: _Lines, total: Total, not_helped: Sequence[str]) -> None:
    out.blank()
    out.sentence("All sessions", _BOLD)
    out.sentence(f"{total.scope} {sizes(total.session)}; deltas {error_sentence(total.session)}.", _DIM)
    out.blank()
    _table(out, total.session)
    if not_helped:
        out.section("Not helped:", not_helped)


def _session(out: _Lines, session: SessionResult) -> None:
    for name, value in (
        ("model", f"{model_of(session)}; {sizes(session)}"),
        ("window", window_sentence(session)),
        ("deltas", error_sentence(session)),
    ):
        out.sentence(value, _DIM, first=f"{name:<9}", then=" " * 9)
    out.blank()
    _table(out, session)
    notes = [f"{policy.policy}: {note}" for policy in session.policies for note in policy.notes]
    for title, items in (
        ("Notes:", notes),
        ("Where the money goes:", list(_spending(session))),
        ("What would not help:", session.not_helped),
        ("Assumptions:", sourced(session.assumptions)),
        (f"{count(len(session.problems), 'problem')} in the recording:", _first_few(session.problems)),
    ):
        if items:
            out.section(title, items)


def _spending(session: SessionResult) -> Iterable[str]:
    """Where the money of the session as it was went, in a few lines; the page has the tables."""
    money = session.money
    if money is not None and money.shares:
        yield spent_words(money)
        yield shed_words(money)
        if money.outputs:
            yield costliest_words(money, priced=money.shares[0].cost is not None)
    if session.held is not None:
        yield from held_words(session.held)


def _first_few(problems: Sequence[str]) -> list[str]:
    more = len(problems) - _SHOWN_PROBLEMS
    return [*problems[:_SHOWN_PROBLEMS], *([f"and {more:,} more"] if more > 0 else [])]


def _table(out: _Lines, session: SessionResult) -> None:
    if not session.policies:
        out.sentence("No policy was replayed.")
        return
    rows = rows_of(session)
    texts = [tuple(column.short for column in columns_of(session)), *(_cleaned(row) for row in rows)]
    gap = _gap(texts, out.width)
    if not gap:
        texts = [_broken(cells) for cells in texts]
    widths = _widths(texts)
    styles = [_DIM, *(_TREND.get(trend_of(row.policy, session), "") for row in rows)]
    for cells, style in zip(texts, styles, strict=True):
        _print_row(out, cells, widths, " " * max(gap, 1), style)
    _legend(out, session.policies, priced=is_priced(session))


def _cleaned(row: Row) -> tuple[str, ...]:
    return tuple(clean(cell) for cell in row.cells)


def _gap(texts: Sequence[Sequence[str]], width: int) -> int:
    """Blanks between columns: 2, else 1; 0 when even that is too wide."""
    widths = _widths(texts)
    return next((gap for gap in (2, 1) if sum(widths) + gap * (len(widths) - 1) <= width), 0)


def _widths(texts: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(line) for cell in column for line in cell.split("\n")) for column in zip(*texts, strict=True)]


def _broken(cells: Sequence[str]) -> tuple[str, ...]:
    head, _, tail = cells[_DELTA].rpartition(" ")
    return (*cells[:_DELTA], f"{head}\n{tail}" if head else tail, *cells[_DELTA + 1 :])


def _print_row(out: _Lines, cells: Sequence[str], widths: Sequence[int], gap: str, style: str) -> None:
    lines = [cell.split("\n") for cell in cells]
    for number in range(max(len(line) for line in lines)):
        row = [_aligned(line[number] if number < len(line) else "", at, widths[at]) for at, line in enumerate(lines)]
        painted = [out.painted(cell, style) if style == _DIM or at == _DELTA else cell for at, cell in enumerate(row)]
        out.raw(gap.join(painted))


def _aligned(text: str, column: int, width: int) -> str:
    return text.rjust(width) if column else text.ljust(width)


def _legend(out: _Lines, policies: Sequence[PolicyResult], *, priced: bool) -> None:
    if not priced:
        out.sentence(UNITS, _DIM)
    if not all(policy.recorded for policy in policies):
        out.sentence(INFERRED, _DIM)
