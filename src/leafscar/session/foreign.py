"""Opening the recordings of other tools: read whole, never written (docs/formats.md)."""

from __future__ import annotations

import os
from pathlib import Path

from leafscar.errors import SessionRefused
from leafscar.formats.reading import MAX_DOCUMENT_BYTES, Reading
from leafscar.formats.registry import HEAD_BYTES, Format, format_of
from leafscar.model.entries import Entry
from leafscar.session.lines import lines, opened, whole
from leafscar.session.opencode_database import address_of, is_database, list_sessions, read_database
from leafscar.session.opencode_files import is_stored_head, read_stored

__all__ = ["ForeignEntries", "is_recording", "read_foreign", "stored_sessions"]


class ForeignEntries:
    """The entries of a reading, as a session keeps them."""

    def __init__(self, reading: Reading) -> None:
        self.entries = list(reading.entries)
        self.parents = list(reading.parents)
        self.problems = list(reading.problems)
        self.positions = {entry.id: position for position, entry in enumerate(self.entries)}
        self.first_on_line: dict[int, Entry] = {}
        """One line may give several entries; a line number names the first of them."""
        for entry in self.entries:
            self.first_on_line.setdefault(entry.line, entry)


def read_foreign(path: Path, fd: int, size: int) -> Reading | None:
    """Read a file of another tool's format; None when no reader knows it.

    Raises :class:`SessionRefused` for a file of a known format that holds nothing to read.
    """
    head = os.pread(fd, HEAD_BYTES, 0)
    if is_database(head):
        return read_database(path)
    known = format_of(head, path.name)
    if known is None:
        return None
    try:
        return _read(known, path, fd, size)
    except SessionRefused as fault:
        if fault.path == str(path):
            raise
        raise SessionRefused(path, f"{known.tool}: {fault.reason}", line=fault.line, hint=fault.hint) from fault


def is_recording(path: Path) -> bool:
    """Whether a file is of a format of another tool, by its beginning and its name; False when it cannot be read."""
    try:
        head = _head(path)
    except SessionRefused:
        return False
    return is_database(head) or format_of(head, path.name) is not None


def stored_sessions(path: Path) -> list[Path]:
    """Names of the sessions in a database, oldest first; none for any other file.

    Raises :class:`SessionRefused` for a database that is not opencode's.
    """
    try:
        head = _head(path)
    except SessionRefused:
        return []
    return [address_of(path, each.id) for each in reversed(list_sessions(path))] if is_database(head) else []


def _head(path: Path) -> bytes:
    with opened(path) as fd:
        return os.pread(fd, HEAD_BYTES, 0)


def _read(known: Format, path: Path, fd: int, size: int) -> Reading:
    if known.by_line:
        return known.read_lines((line.number, line.raw) for line in lines(path, fd, size))
    if size > MAX_DOCUMENT_BYTES:
        raise SessionRefused(path, f"a document over {MAX_DOCUMENT_BYTES >> 20} MiB", hint="split it")
    data = whole(fd, size)
    return read_stored(path, data) if is_stored_head(known.name, data) else known.read_document(data)
