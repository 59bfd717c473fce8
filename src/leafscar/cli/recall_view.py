"""Hits of a search as lines to read, each with the command that prints more of it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import UTC, datetime
from itertools import groupby

from leafscar._words import counted
from leafscar.session import Found, Hit
from leafscar.session.search import Place
from leafscar.session.texts import Kind

__all__ = ["found_lines"]

_KINDS: dict[Kind, str] = {
    "user": "user",
    "assistant": "assistant",
    "thinking": "thinking",
    "call": "call of {}",
    "result": "output of {}",
    "command": "command of the user",
    "summary": "summary",
    "note": "note",
    "system": "system",
}
_PLACES: dict[Place, str] = {"context": "in the context", "cut": "cut away", "branch": "on another branch"}
_BEFORE, _AFTER = 5, 15


def found_lines(found: Found, text: str) -> Iterable[str]:
    """Hits by session, then what was searched and how to go on."""
    for session, hits in groupby(found.hits, lambda hit: hit.session):
        yield session
        for hit in hits:
            yield from _hit_lines(hit)
        yield ""
    sessions = counted(found.searched, "session")
    yield f"{counted(len(found.hits), 'text')} in {sessions}" if found.hits else f"nothing in {sessions}"
    if found.after is not None:
        why = "the limit was reached" if found.stopped == "limit" else "time was up"
        yield f"there may be more: {why}; go on with --search {shlex.quote(text)} --after {shlex.quote(found.after)}"


def _hit_lines(hit: Hit) -> Iterable[str]:
    facts = [_KINDS[hit.kind].format(hit.tool or "a tool"), _PLACES[hit.place], *_when(hit.at)]
    if hit.matches > len(hit.lines):
        facts.append(f"{hit.matches} lines match")
    yield f"  {hit.reference:<6}{', '.join(facts)}"
    for line in hit.lines:
        number = "" if line.number is None else f"{line.number}: "
        yield f"        {number}{line.text}"
    yield f"        {_command(hit)}"


def _when(at: float | None) -> Iterable[str]:
    if at is not None and abs(at) < 8e15:  # noqa: PLR2004 - what a year of four digits can hold
        try:
            yield datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
        except (OverflowError, ValueError):
            return


def _command(hit: Hit) -> str:
    """What prints the lines around the match."""
    words = ["leafscar", "recall", hit.session, hit.reference]
    numbers = [line.number for line in hit.lines if line.number is not None]
    if numbers:
        words += ["--lines", f"{max(1, numbers[0] - _BEFORE)}-{numbers[-1] + _AFTER}"]
    return shlex.join(words)
