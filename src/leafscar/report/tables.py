"""Tables of the page beside the one of policies: heads, rows, and a bar for a share (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.report.markup import safe, typeset
from leafscar.report.numbers import UNKNOWN

__all__ = ["Cell", "Head", "bar", "link", "number", "table", "text"]


class Head(Struct, frozen=True, kw_only=True):
    """Head of one column."""

    name: str
    meaning: str = ""
    is_number: bool = False


class Cell(Struct, frozen=True):
    """One cell, ready to be put in; ``kind`` is its class."""

    markup: str
    kind: str = ""


def text(words: str) -> Cell:
    """Set words, foreign ones too."""
    return Cell(safe(words))


def number(printed: str, kind: str = "") -> Cell:
    """Set a printed number."""
    return Cell(typeset(printed), "num muted" if printed == UNKNOWN else f"num {kind}".rstrip())


def link(words: str, target: str) -> Cell:
    """Set words that lead to another place of the page."""
    return Cell(f'<a href="#{safe(target)}">{safe(words)}</a>')


def bar(share: float | None) -> Cell:
    """Draw a share of 1; the number itself stands in another cell."""
    width = 0.0 if share is None else 100 * min(max(share, 0.0), 1.0)
    drawn = f'<rect width="{width:.1f}" height="8"/>'
    return Cell(f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">{drawn}</svg>')


def table(name: str, heads: Sequence[Head], rows: Iterable[Sequence[Cell]], *, sortable: bool = True) -> Iterable[str]:
    """Write a table that scrolls on its own where it is too wide; the first cell of a row heads it."""
    yield f'<div class="scroll" role="region" aria-label="{safe(name)}" tabindex="0">'
    yield f'<table class="data{" sortable" if sortable else ""}">\n<thead>\n<tr>'
    for head in heads:
        kind = ' class="num"' if head.is_number else ""
        title = f' title="{safe(head.meaning)}"' if head.meaning else ""
        yield f'<th scope="col"{kind}{title}>{safe(head.name)}</th>'
    yield "</tr>\n</thead>\n<tbody>"
    for first, *rest in rows:
        yield f'<tr><th scope="row">{first.markup}</th>{"".join(map(_cell, rest))}</tr>'
    yield "</tbody>\n</table>\n</div>"


def _cell(cell: Cell) -> str:
    return f'<td class="{cell.kind}">{cell.markup}</td>' if cell.kind else f"<td>{cell.markup}</td>"
