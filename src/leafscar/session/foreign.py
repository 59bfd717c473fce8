"""Opening the recordings of other tools: read whole, never written (docs/formats.md)."""

from __future__ import annotations

import os
from pathlib import Path

from leafscar.errors import SessionRefused
from leafscar.formats.reading import Reading
from leafscar.formats.registry import HEAD_BYTES, Format, format_of
from leafscar.model.entries import Entry
from leafscar.session.lines import lines, opened

__all__ = ["ForeignEntries", "is_recording", "read_foreign"]

_MAX_DOCUMENT = 512 * 1024 * 1024
_CHUNK = 16 * 1024 * 1024


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
    known = format_of(os.pread(fd, HEAD_BYTES, 0), path.name)
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
        with opened(path) as fd:
            return format_of(os.pread(fd, HEAD_BYTES, 0), path.name) is not None
    except SessionRefused:
        return False


def _read(known: Format, path: Path, fd: int, size: int) -> Reading:
    if known.by_line:
        return known.read_lines((line.number, line.raw) for line in lines(path, fd, size))
    if size > _MAX_DOCUMENT:
        raise SessionRefused(path, "a document over 512 MiB", hint="split it")
    pieces: list[bytes] = []
    at = 0
    while at < size and (piece := os.pread(fd, min(_CHUNK, size - at), at)):
        pieces.append(piece)
        at += len(piece)
    return known.read_document(b"".join(pieces))
