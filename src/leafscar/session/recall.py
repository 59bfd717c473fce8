"""Bringing back what a marker stands for (docs/pruning.md)."""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from leafscar.errors import BadReference, SessionError
from leafscar.model import Entry
from leafscar.model.entries import iso_to_ms
from leafscar.pruning import (
    Capped,
    Reference,
    cap_text,
    not_a_result,
    not_found,
    parse_reference,
    result_text,
)
from leafscar.session.pages import Lines, take_lines, take_page
from leafscar.session.session import Session, load
from leafscar.session.texts import entry_text

__all__ = ["Recalled", "find", "recall", "renew"]


class Recalled(Struct, frozen=True, kw_only=True):
    """The full output of a tool, or a part of it."""

    text: str
    truncated: bool
    """Whether more follows; then ``text`` ends in a hint at how to get it."""


def recall(session: Session, ref: str, *, lines: Lines | None = None, page: int | None = None) -> Recalled:
    """Give the tool output that a reference names: ``#LINE`` or an entry id, with ``:full`` for all of it.

    ``lines`` gives a range of lines of it, ``page`` one page of 12,000 UTF-16 units (1-based); both read every entry
    that has words, messages and summaries too. References name entries of every branch, before and after any cut.
    Raises :class:`BadReference`.
    """
    reference = parse_reference(ref)
    if page is not None and (lines is not None or reference.full):
        other = "lines" if lines is not None else ":full"
        raise BadReference(f"recall: a page and {other} exclude each other; give one", reference=ref, kind="two-parts")
    entry = find(session, reference)
    if lines is None and page is None:
        return _capped(cap_text(_output(entry, reference), reference))
    text = entry_text(entry)
    if text is None:
        raise BadReference(
            f"recall: {reference.target} holds no words, it is {_what(entry)}", reference=ref, kind="no-words"
        )
    if lines is not None:
        return _capped(take_lines(text, lines, reference))
    return _capped(take_page(text, page or 0, reference))


def _capped(capped: Capped) -> Recalled:
    return Recalled(text=capped.text, truncated=capped.truncated)


def _output(entry: Entry, reference: Reference) -> str:
    text = None if entry.message is None else result_text(entry.message)
    if text is None:
        raise not_a_result(reference, _what(entry))
    return text


def find(session: Session, reference: Reference) -> Entry:
    """Give the entry that a reference names. Raises :class:`BadReference` when there is none."""
    line = reference.line
    entry = session.entry(reference.entry_id or "") if line is None else session.entry_at(line)
    if entry is None:
        raise not_found(reference)
    return entry


def renew(session: Session, ref: str, asked_by: Entry | None = None) -> str | None:
    """Reference that names, in this session's file, what an earlier recall call asked for; None when nothing does.

    ``asked_by`` is the entry that holds the call. A ``#LINE`` from before a fork counts the lines of the file that it
    was written in, so it is looked up there, through as many forks as lie between.
    """
    try:
        reference = parse_reference(ref)
        entry = _meant(session, reference, asked_by)
    except (BadReference, SessionError):
        return None
    if entry is None or entry.message is None or result_text(entry.message) is None:
        return None
    return session.reference_for(entry) + (":full" if reference.full else "")


def _meant(session: Session, reference: Reference, asked_by: Entry | None) -> Entry | None:
    if reference.line is None or asked_by is None:
        return find(session, reference)
    parent = _inherited_from(session, asked_by)
    if parent is None:
        return find(session, reference)
    written_in = load(parent)
    if _forked_at(written_in) >= _forked_at(session):  # no fork is older than its source: a circle of headers
        return None
    meant = _meant(written_in, reference, asked_by)
    return None if meant is None else session.entry(meant.id)


def _inherited_from(session: Session, entry: Entry) -> Path | None:
    """File that an entry was copied from when this session was forked; None for an entry of its own."""
    header = session.header
    if header is None or header.parent_session is None or session.path is None:
        return None
    if (entry.timestamp_ms or 0) >= _forked_at(session):
        return None
    return session.path.parent / header.parent_session


def _forked_at(session: Session) -> float:
    """When the session began, in milliseconds since 1970."""
    return iso_to_ms(session.header.timestamp if session.header else None) or 0


def _what(entry: Entry) -> str:
    role = (entry.message_data or {}).get("role")
    kind = f"{role[:40]!r} message" if isinstance(role, str) else f"{entry.type[:40]!r} entry"
    return ("an " if kind[1] in "aeio" else "a ") + kind
