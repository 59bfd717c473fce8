"""Parts of a long text: pages of one size, and ranges of lines, each with a hint at what comes next."""

from __future__ import annotations

from collections.abc import Sequence

from leafscar.errors import BadReference
from leafscar.model.jsjson import utf16_length
from leafscar.pruning import RECALL_LIMIT, Capped, Reference
from leafscar.pruning.sizes import whole_prefix

__all__ = ["Lines", "page_count", "take_lines", "take_page"]

Lines = tuple[int, int | None]
"""First and last line, 1-based, both included; None: up to the end."""


def page_count(text: str, limit: int = RECALL_LIMIT) -> int:
    """Give the number of pages of ``limit`` UTF-16 units; an empty text is one page."""
    return max(1, -(-utf16_length(text) // limit))


def take_page(text: str, page: int, reference: Reference, *, limit: int = RECALL_LIMIT) -> Capped:
    """Give one page, 1-based; all pages one after another are the text. Raises :class:`BadReference`."""
    pages = page_count(text, limit)
    if not 1 <= page <= pages:
        has = "1 page" if pages == 1 else f"{pages} pages"
        raise _refused(reference, "no-page", f"has {has}; give a page from 1 to {pages}")
    start = len(whole_prefix(text, (page - 1) * limit))
    body = text[start : len(whole_prefix(text, page * limit))]
    if page == pages:
        return Capped(body, truncated=False)
    return Capped(f"{body}\n\n... [page {page} of {pages}. Use page {page + 1} for what follows.]", truncated=True)


def take_lines(text: str, lines: Lines, reference: Reference, *, limit: int = RECALL_LIMIT) -> Capped:
    """Give a range of lines, at most ``limit`` UTF-16 units unless ``:full`` stands behind the reference.

    A last line beyond the end means the end. Raises :class:`BadReference`.
    """
    every = text.split("\n")
    first, last = lines[0], len(every) if lines[1] is None else min(lines[1], len(every))
    if not 1 <= first <= len(every) or last < first:
        has = "1 line" if len(every) == 1 else f"{len(every)} lines"
        raise _refused(reference, "no-lines", f"has {has}; give lines from 1 to {len(every)}, the first one first")
    asked = every[first - 1 : last]
    fitting = len(asked) if reference.full else _fitting(asked, limit)
    if fitting == len(asked):
        return Capped("\n".join(asked), truncated=False)
    if fitting == 0:
        return _giant(every, first, last, limit)
    rest = f"{first + fitting}-{last}"
    hint = f"... [lines {first}-{first + fitting - 1} of {len(every)}. Use lines {rest} for what follows.]"
    return Capped("\n".join((*asked[:fitting], "", hint)), truncated=True)


def _fitting(lines: Sequence[str], limit: int) -> int:
    """How many of the lines fit, newlines counted."""
    used = -1
    for number, line in enumerate(lines):
        used += utf16_length(line) + 1
        if used > limit:
            return number
    return len(lines)


def _giant(every: Sequence[str], first: int, last: int, limit: int) -> Capped:
    """A line that alone is over the limit: its beginning, and the page on which it goes on."""
    before = utf16_length("\n".join((*every[: first - 1], "")))
    page = (before + limit) // limit + 1
    rest = f", lines {first + 1}-{last} for those after it" if last > first else ""
    head = whole_prefix(every[first - 1], limit)
    hint = f"... [the beginning of line {first}. Use page {page} for where it goes on{rest}.]"
    return Capped(f"{head}\n\n{hint}", truncated=True)


def _refused(reference: Reference, kind: str, words: str) -> BadReference:
    return BadReference(f"recall: {reference.target} {words}", reference=str(reference), kind=kind)
