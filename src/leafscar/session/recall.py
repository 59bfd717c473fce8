"""Bringing back what a marker stands for (docs/pruning.md)."""

from __future__ import annotations

from msgspec import Struct

from leafscar.errors import BadReference, SessionError
from leafscar.model import Entry
from leafscar.pruning import Reference, cap_text, not_a_result, not_found, parse_reference, result_text
from leafscar.session.session import Session, load

__all__ = ["Recalled", "find", "recall", "renew"]


class Recalled(Struct, frozen=True, kw_only=True):
    """The full output of a tool, or its beginning."""

    text: str
    truncated: bool
    """Whether ``text`` is the beginning and a hint at the ``:full`` form."""


def recall(session: Session, ref: str) -> Recalled:
    """Give the tool output that a reference names: ``#LINE`` or an entry id, with ``:full`` for all of it.

    References name entries of every branch, before and after any cut. Raises :class:`BadReference`.
    """
    reference = parse_reference(ref)
    entry = find(session, reference)
    text = None if entry.message is None else result_text(entry.message)
    if text is None:
        raise not_a_result(reference, _what(entry))
    capped = cap_text(text, reference)
    return Recalled(text=capped.text, truncated=capped.truncated)


def find(session: Session, reference: Reference) -> Entry:
    """Give the entry that a reference names. Raises :class:`BadReference` when there is none."""
    line = reference.line
    entry = session.entry(reference.entry_id or "") if line is None else session.entry_at(line)
    if entry is None:
        raise not_found(reference)
    return entry


def renew(session: Session, ref: str, asked_by: Entry | None = None) -> str | None:
    """Reference that names, in this session's file, what an earlier recall call asked for; None when nothing does.

    A ``#LINE`` from before a fork counts the lines of the file it was written in, so it is looked up there.
    """
    try:
        reference = parse_reference(ref)
        if reference.line is not None and asked_by is not None and _is_inherited(session, asked_by):
            entry = session.entry(find(_parent(session), reference).id)
        else:
            entry = find(session, reference)
    except (BadReference, SessionError):
        return None
    if entry is None or entry.message is None or result_text(entry.message) is None:
        return None
    return session.reference_for(entry) + (":full" if reference.full else "")


def _is_inherited(session: Session, entry: Entry) -> bool:
    """Whether an entry was copied from the session that this one was forked from."""
    header = session.header
    if header is None or header.parent_session is None:
        return False
    return str(entry.get("timestamp", "")) < str(header.timestamp or "")


def _parent(session: Session) -> Session:
    header = session.header
    assert header is not None
    return load(header.parent_session or "")


def _what(entry: Entry) -> str:
    message = entry.message_data
    role = message.get("role") if message else None
    return f"a {role} message" if isinstance(role, str) else f"a {entry.type} entry"
