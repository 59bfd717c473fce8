"""What a session's context holds and what it lost, and what stood around an entry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from leafscar.mcp.data import one_line
from leafscar.mcp.scope import Transcript
from leafscar.model import Assistant, Entry
from leafscar.model.jsjson import utf16_length
from leafscar.pruning import parse_reference
from leafscar.pruning.sizes import whole_prefix
from leafscar.session import Session
from leafscar.session.recall import find
from leafscar.session.search import places_of
from leafscar.session.texts import entry_text, pieces_of

__all__ = ["around", "overview", "when"]

_SHOWN = 10
_LABEL = 120
_ROOM = 13_000


def overview(transcript: Transcript, session: Session, others: Sequence[Transcript]) -> str:
    """Numbers of the context, the cuts, and the largest outputs that are no longer in it."""
    entries = session.entries
    path, place_of = session.branch(), places_of(session)
    with_words = [entry for entry in entries if pieces_of(entry)]
    cut = [entry for entry in with_words if place_of(entry) == "cut"]
    elsewhere = sum(place_of(entry) == "branch" for entry in with_words)
    lines = [
        f"session {transcript.name} ({session.format}), last written {when(transcript.modified * 1000)}",
        f"entries with words: {len(with_words):,}",
        f"  in the context: {len(with_words) - len(cut) - elsewhere:,}",
        f"  cut away: {len(cut):,}",
        f"  on other branches: {elsewhere:,}",
        f"newest answer: {_reported(path)}",
        *_cuts(session, path),
        *_largest(session, cut),
        *(f"other session: {each.name}, last written {when(each.modified * 1000)}" for each in others[:_SHOWN]),
    ]
    if len(others) > _SHOWN:
        lines.append(f"and {len(others) - _SHOWN} older sessions")
    return "\n".join(lines)


def around(session: Session, ref: str, before: int, after: int) -> str:
    """The beginnings of the entries around one, in file order; ``ref`` may name any entry with words."""
    found = find(session, parse_reference(ref))
    with_words = [entry for entry in session.entries if pieces_of(entry) or entry is found]
    at = next(position for position, entry in enumerate(with_words) if entry is found)
    shown = with_words[max(0, at - before) : at + after + 1]
    room = _ROOM // len(shown)
    return "\n\n".join(_beginning(session, entry, room, asked=entry is found) for entry in shown)


def when(at: float | None) -> str:
    """A time to the minute, in UTC; ``at`` in milliseconds since 1970."""
    try:
        return datetime.fromtimestamp((at or 0) / 1000, UTC).strftime("%Y-%m-%d %H:%M") if at else "at an unknown time"
    except (OverflowError, ValueError, OSError):
        return "at an unknown time"


def _reported(path: Sequence[Entry]) -> str:
    for entry in reversed(path):
        message = entry.message
        if isinstance(message, Assistant) and message.usage is not None and message.usage.prompt:
            return f"{round(message.usage.prompt + (message.usage.output or 0)):,} tokens of context reported"
    return "no usage reported"


def _cuts(session: Session, path: Sequence[Entry]) -> Iterator[str]:
    cuts = [entry for entry in path if entry.type == "compaction"]
    yield f"cuts: {len(cuts)}" + (" (newest first; recall their references for the summaries)" if cuts else "")
    for entry in cuts[: -_SHOWN - 1 : -1]:
        tokens = entry.get("tokensBefore")
        before = f", {tokens:,.0f} tokens before it" if isinstance(tokens, int | float) else ""
        yield f"  {session.reference_for(entry)} {when(entry.timestamp_ms)}{before}"


def _largest(session: Session, cut: Sequence[Entry]) -> Iterator[str]:
    outputs = [
        (utf16_length(piece.text), piece.tool, entry)
        for entry in cut
        for piece in pieces_of(entry)
        if piece.kind == "result"
    ]
    outputs.sort(key=lambda output: -output[0])
    if outputs:
        yield f"largest of {len(outputs):,} outputs that were cut away:"
    for size, tool, entry in outputs[:_SHOWN]:
        text = one_line(entry_text(entry) or "", _LABEL)
        yield f"  {session.reference_for(entry)} {one_line(tool, 60)}, {size:,} characters: {text}"


def _beginning(session: Session, entry: Entry, room: int, *, asked: bool) -> str:
    kinds = ", ".join(dict.fromkeys(f"{piece.kind} {one_line(piece.tool, 60)}".strip() for piece in pieces_of(entry)))
    reference = session.reference_for(entry)
    head = f"--- {reference} {kinds or entry.type[:40]}, {when(entry.timestamp_ms)}" + (" (asked for)" if asked else "")
    text = entry_text(entry) or ""
    shown = whole_prefix(text, max(0, room - utf16_length(head) - 80))
    more = utf16_length(text) - utf16_length(shown)
    return f"{head}\n{shown}" + (f"\n... [{more:,} more characters: recall {reference}]" if more else "")
