"""A recorded session: an append-only tree of entries that nothing here rewrites (docs/sessions.md)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from msgspec import Struct

from leafscar.compaction import ModelRef, Projection, project_context
from leafscar.errors import BadReference, SessionRefused
from leafscar.formats.pi import ENTRY_TYPES, MAX_LINE_BYTES, Header, PiReader, Problem, content_problems, parse_header
from leafscar.model.entries import Entry, dump_line
from leafscar.model.messages import Message
from leafscar.session.tail import TailEntry, read_tail

__all__ = ["Context", "Session", "load"]

_CHUNK = 1024 * 1024


class Context(Sequence[Message]):
    """What the model sees at a leaf: a sequence of messages, each with the entry that it came from."""

    def __init__(self, projection: Projection) -> None:
        self._projection = projection
        self.messages: list[Message] = [item.message for item in projection.items]
        self.entries: list[Entry] = [item.entry for item in projection.items]

    @property
    def thinking_level(self) -> str:
        """Thinking level that the path set last, ``off`` when the read part of it sets none."""
        return self._projection.thinking_level

    @property
    def model(self) -> ModelRef | None:
        """Model that the path used last; None when the read part names none."""
        return self._projection.model

    def __len__(self) -> int:
        return len(self.messages)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | Sequence[Message]:
        return self.messages[index]

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    def __repr__(self) -> str:
        return f"<Context of {len(self)} messages>"


class _File(Struct, frozen=True):
    """The part of a file that a session was opened on; what is appended later is not seen."""

    path: Path
    size: int
    header_end: int


class Session:
    """One session, in a file or in memory only. Opening reads the live context; the rest is read when asked for."""

    def __init__(self, header: Header | None, *, file: _File | None = None) -> None:
        self.header = header
        self._file = file
        self._reader: PiReader | None = None if file else PiReader(header)
        self._tail: list[TailEntry] | None = None

    @classmethod
    def memory(cls, entries: Sequence[Mapping[str, Any]] = (), *, cwd: str | None = None) -> Session:
        """Give a session without a file; references to its entries are their ids."""
        session = cls(Header(version=3, cwd=cwd))
        for data in entries:
            session.add(data)
        return session

    def __repr__(self) -> str:
        return f"<Session {self.path or 'in memory'}>"

    @property
    def path(self) -> Path | None:
        """The file, or None for a session in memory."""
        return self._file.path if self._file else None

    @property
    def size(self) -> int:
        """Bytes of the file that this session covers; 0 in memory."""
        return self._file.size if self._file else 0

    @property
    def entries(self) -> Sequence[Entry]:
        """All entries in file order, every branch."""
        return self._full().entries

    @property
    def problems(self) -> list[Problem]:
        """Everything that reading went around, by line."""
        reader = self._full()
        found = [*reader.problems, *content_problems(reader.entries)]
        if self.header is None:
            found.append(Problem(kind="no-header", line=1, message="no header line; the file is only read"))
        return sorted(found, key=lambda problem: problem.line)

    @property
    def leaf_id(self) -> str | None:
        """Id of the entry that the next one hangs on; None for an empty session."""
        if self._reader is None and (tail := self._read_tail()):
            return tail[-1].entry.id
        position = self._leaf_position()
        return None if position < 0 else self.entries[position].id

    def entry(self, id: str) -> Entry | None:  # noqa: A002 - the format's name
        """Give the newest entry of that id on any branch, else None."""
        position = self._full().positions.get(id)
        return None if position is None else self.entries[position]

    def entry_at(self, line: int) -> Entry | None:
        """Give the entry on a 1-based physical line, else None; in memory, as if a header stood on line 1."""
        if self._file is None:
            return self.entries[line - 2] if 2 <= line < len(self.entries) + 2 else None  # noqa: PLR2004
        return next((entry for entry in self.entries if entry.line == line), None)

    def branch(self, leaf: str | None = None) -> list[Entry]:
        """Path from the root to ``leaf`` (default: where the session stands), oldest first.

        Raises :class:`BadReference` when there is no such entry.
        """
        reader = self._full()
        position = self._leaf_position() if leaf is None else reader.positions.get(leaf)
        if position is None:
            raise BadReference(f"no entry {leaf!r} in {self}", reference=str(leaf), kind="not-found")
        path: list[Entry] = []
        while position >= 0:
            path.append(reader.entries[position])
            position = reader.parents[position]
        return path[::-1]

    def context(self, leaf: str | None = None) -> Context:
        """What the model sees at ``leaf`` (default: where the session stands), newest cut applied."""
        if leaf is None and self._reader is None and (tail := self._read_tail()) is not None:
            return Context(project_context([found.entry for found in tail]))
        return Context(project_context(self.branch(leaf)))

    def reference_for(self, entry: Entry) -> str:
        """Recall reference of an entry: ``#LINE`` in a file, its id in memory."""
        if self._file is None:
            return entry.id
        if not entry.line:
            self._number_tail()
        return f"#{entry.line}"

    def add(self, data: Mapping[str, Any], *, raw: bytes | None = None) -> Entry:
        """Put one more entry into memory; :func:`leafscar.session.append` is the one that writes."""
        reader = self._full()
        line = reader.entries[-1].line + 1 if reader.entries else 2
        reader.feed(raw or dump_line(data), line)
        return reader.entries[-1]

    def _leaf_position(self) -> int:
        reader = self._full()
        position = len(reader.entries) - 1
        while position >= 0 and reader.entries[position].type == "leaf":
            target = reader.entries[position].get("targetId")
            found = reader.positions.get(target, -1) if isinstance(target, str) else -1
            position = found if found < position else -1
        return position

    def _read_tail(self) -> list[TailEntry] | None:
        if self._tail is None and self._file is not None and self.header is not None:
            if self.header.version != 3:  # noqa: PLR2004 - older versions need every line
                return None
            with self._file.path.open("rb") as stream:
                self._tail = read_tail(stream.fileno(), self._file.size, self._file.header_end)
            if self._tail is None:
                self._full()
        return self._tail

    def _number_tail(self) -> None:
        if self._file is None or self._tail is None:
            return
        with self._file.path.open("rb") as stream:
            line, at = 1, 0
            for found in self._tail:
                line, at = line + _count_newlines(stream.fileno(), at, found.offset), found.offset
                found.entry.line = line

    def _full(self) -> PiReader:
        if self._reader is None and self._file is not None:
            self._reader = _read_all(self._file, self.header)
        assert self._reader is not None
        return self._reader


def load(path: str | os.PathLike[str]) -> Session:
    """Open a pi session file, version 1 to 3, headerless ones for reading only.

    Raises :class:`SessionRefused` for what is no session: missing, not a file, binary, empty, a version that is not
    read, nothing readable in it, a line over 128 MiB.
    """
    where = Path(path)
    try:
        with where.open("rb") as stream:
            return _open(where, stream.fileno())
    except OSError as fault:
        hint = "name a session file" if isinstance(fault, IsADirectoryError) else "check the path"
        raise SessionRefused(where, fault.strerror or str(fault), hint=hint) from fault


def _open(path: Path, fd: int) -> Session:
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode):
        raise SessionRefused(path, "not a regular file", hint="name a session file")
    if facts.st_size == 0:
        raise SessionRefused(path, "the file is empty", hint="name a session file with at least a header")
    first, header_end = _first_line(path, fd, facts.st_size)
    if b"\0" in first[:65536]:
        raise SessionRefused(path, "binary, not a session", line=1, hint="name a .jsonl session file")
    header = parse_header(first, str(path))
    file = _File(path, facts.st_size, header_end if header else 0)
    session = Session(header, file=file)
    if header is None and not any(entry.type in ENTRY_TYPES for entry in session.entries):
        raise SessionRefused(
            path, "no session header and no readable entry", line=1, hint="name a pi session file (.jsonl)"
        )
    return session


def _first_line(path: Path, fd: int, size: int) -> tuple[bytes, int]:
    held, at = b"", 0
    while at < size:
        piece = os.pread(fd, _CHUNK, at)
        end = piece.find(b"\n")
        if end >= 0:
            return held + piece[:end], at + end + 1
        held, at = held + piece, at + len(piece)
        if at > MAX_LINE_BYTES:
            _refuse_long_line(path, 1)
        if not piece:
            break
    return held, at


def _refuse_long_line(path: Path, line: int) -> None:
    raise SessionRefused(path, "a line over 128 MiB", line=line, hint="split or remove that line")


def _count_newlines(fd: int, start: int, end: int) -> int:
    count = 0
    while start < end:
        piece = os.pread(fd, min(_CHUNK, end - start), start)
        if not piece:
            break
        count += piece.count(b"\n")
        start += len(piece)
    return count


def _read_all(file: _File, header: Header | None) -> PiReader:
    reader = PiReader(header)
    with file.path.open("rb") as stream:
        for number, raw, torn in _lines(file, stream.fileno()):
            if number > 1 or header is None:
                reader.feed(raw.removeprefix(b"\xef\xbb\xbf") if number == 1 else raw, number, torn=torn)
    return reader


def _lines(file: _File, fd: int) -> Iterator[tuple[int, bytes, bool]]:
    """Number, content and whether the newline is missing, of each physical line."""
    held: list[bytes] = []
    held_size = at = number = 0
    while at < file.size:
        piece = os.pread(fd, min(_CHUNK, file.size - at), at)
        if not piece:
            break
        at += len(piece)
        *whole, rest = piece.split(b"\n")
        for part in whole:
            number += 1
            yield number, b"".join((*held, part)) if held else part, False
            held, held_size = [], 0
        if rest:
            held.append(rest)
            held_size += len(rest)
            if held_size > MAX_LINE_BYTES:
                _refuse_long_line(file.path, number + 1)
    if held:
        yield number + 1, b"".join(held), True
