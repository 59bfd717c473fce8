"""A recorded session: an append-only tree of entries that nothing here rewrites (docs/sessions.md)."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, overload

from msgspec import Struct

from leafscar.compaction import ModelRef, Projection, project_context
from leafscar.config import MAX_WINDOW
from leafscar.errors import AppendFailed, BadReference, SessionRefused
from leafscar.formats.pi import Header, PiReader, Problem, content_problems, parse_header, read_head
from leafscar.formats.reading import Reading
from leafscar.model.entries import Entry, dump_line
from leafscar.model.messages import Message
from leafscar.session.foreign import ForeignEntries, read_foreign
from leafscar.session.lines import Line, count_newlines, lines, opened
from leafscar.session.opencode_database import read_database, split_address
from leafscar.session.openhands_files import is_conversation, read_conversation
from leafscar.session.tail import TailEntry, read_tail

__all__ = ["Context", "Session", "load"]

_BINARY_BYTES = 65_536
_HEADER_BYTES = 16_384
_NAME_ONE = "name a recording that `leafscar formats` lists"


class Context(Sequence[Message]):
    """What the model sees at a leaf: a sequence of messages, each with the entry that it came from."""

    def __init__(self, projection: Projection, whole: Callable[[], Projection] | None = None) -> None:
        self._projection = projection
        self._whole = whole
        self.messages: list[Message] = [item.message for item in projection.items]
        self.entries: list[Entry] = [item.entry for item in projection.items]

    @property
    def thinking_level(self) -> str:
        """Thinking level that the path set last; ``off`` without one."""
        level = self._projection.thinking_level
        return self._whole().thinking_level if level == "off" and self._whole else level

    @property
    def model(self) -> ModelRef | None:
        """Model that the path used last; None when it names none."""
        model = self._projection.model
        return self._whole().model if model is None and self._whole else model

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
    header: Line | None


class Session:
    """One session, in a file or in memory only. Opening reads the live context; the rest is read when asked for."""

    def __init__(self, header: Header | None, *, file: _File | None = None, reading: Reading | None = None) -> None:
        self.header = header
        self.format = reading.format if reading else "pi"
        """Name of the format that the file is in."""
        self.unknown = reading.unknown if reading else ()
        """Sentences: what a recording of another tool cannot tell."""
        self.recorded_window = _usable(reading.window) if reading else None
        """Context window in tokens, where the recording states one that can be; at most ``MAX_WINDOW``."""
        self._file = file
        self._foreign = ForeignEntries(reading) if reading else None
        self._reader: PiReader | ForeignEntries | None = self._foreign or (None if file else PiReader(header))
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
    def cwd(self) -> str:
        """Folder that the session ran in; empty when it does not say."""
        return (self.header.cwd if self.header else None) or ""

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
        if self._foreign is not None:
            return self._foreign.first_on_line.get(line) if line else None
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
        """What the model sees at ``leaf`` (default: where the session stands), newest cut applied.

        Raises :class:`BadReference` when there is no such entry.
        """
        if leaf is None and self._reader is None and (tail := self._read_tail()) is not None:
            return Context(
                project_context([found.entry for found in tail]), whole=lambda: project_context(self.branch())
            )
        return Context(project_context(self.branch(leaf)))

    def reference_for(self, entry: Entry) -> str:
        """Recall reference of an entry: ``#LINE`` in a file, its id in memory and where the file does not hold it."""
        if self._file is None:
            return entry.id
        if self._foreign is not None:
            # a reference counts lines from 2 on, since line 1 of pi's files is the header
            named = entry.line > 1 and self.entry_at(entry.line) is entry
            return f"#{entry.line}" if named else entry.id
        if not entry.line:
            self._number_tail()
        known = entry if entry.line else self.entry(entry.id)
        return f"#{known.line}" if known else entry.id

    def add(self, data: Mapping[str, Any], *, raw: bytes | None = None) -> Entry:
        """Put one more entry into a session in memory; :func:`leafscar.session.append` is the one that writes.

        Raises ``ValueError`` or ``TypeError`` for what is no entry, :class:`AppendFailed` for a session in a file.
        """
        if self._file is not None:
            raise AppendFailed(self._file.path, "entries of a file are not added in memory", hint="use append")
        reader = self._full()
        assert isinstance(reader, PiReader), "a session without a file is pi's"
        count = len(reader.entries)
        reader.feed(raw or dump_line(data), count + 2)
        if len(reader.entries) == count:
            raise ValueError(f"no entry: {reader.problems.pop().message}")
        return reader.entries[-1]

    def _leaf_position(self) -> int:
        reader = self._full()
        position = len(reader.entries) - 1
        while position >= 0 and reader.entries[position].type == "leaf":
            target = reader.entries[position].get("targetId")
            position -= 1
            while position >= 0 and reader.entries[position].id != target:
                position -= 1
        return position

    def _read_tail(self) -> list[TailEntry] | None:
        if self._tail is None and self._file is not None and self.header is not None:
            if self.header.version != 3:  # noqa: PLR2004 - older versions need every line
                return None
            with opened(self._file.path) as fd:
                self._tail = read_tail(fd, self._file.size, self._file.header.end if self._file.header else 0)
            if self._tail is None:
                self._full()
        return self._tail

    def _number_tail(self) -> None:
        if self._file is None or self._tail is None:
            return
        with opened(self._file.path) as fd:
            line, at = 1, 0
            for found in self._tail:
                line, at = line + count_newlines(fd, at, found.offset), found.offset
                found.entry.line = line

    def _full(self) -> PiReader | ForeignEntries:
        if self._reader is None and self._file is not None:
            self._reader = _read_all(self._file, self.header)
        assert self._reader is not None
        return self._reader


def _usable(window: float | None) -> int | None:
    return int(window) if window is not None and 1 <= window <= MAX_WINDOW else None


def load(path: str | os.PathLike[str]) -> Session:
    """Open a pi session file, version 1 to 3, headerless ones for reading only, or a recording of another tool.

    One session of opencode's database is named ``opencode.db#ses_ID``, a conversation of OpenHands by its folder.
    Raises :class:`SessionRefused` for what is no session: missing, not a file, binary, empty, a version that is not
    read, nothing readable in it. A line over 128 MiB is refused when it is reached, which may be later.
    """
    where = Path(path)
    if (address := split_address(where)) is not None:
        reading = read_database(*address)
        return Session(reading.header, file=_File(where, address[0].stat().st_size, None), reading=reading)
    if is_conversation(where):
        reading, size = read_conversation(where)
        return Session(reading.header, file=_File(where, size, None), reading=reading)
    with opened(where) as fd:
        return _open(where, fd)


def _open(path: Path, fd: int) -> Session:
    size = os.fstat(fd).st_size
    if size == 0:
        raise SessionRefused(path, "the file is empty", hint="name a session file with at least a header")
    if not _begins_as_pi(fd) and (reading := read_foreign(path, fd, size)) is not None:
        return Session(reading.header, file=_File(path, size, None), reading=reading)
    first = _first_object(path, fd, size)
    header = parse_header(first.raw, str(path), first.number)
    if header is not None:
        return Session(header, file=_File(path, size, first))
    session = Session(None, file=_File(path, size, None))
    if all(entry.message is None for entry in session.entries):
        raise SessionRefused(path, "no session header and no message", line=first.number, hint=_NAME_ONE)
    return session


def _begins_as_pi(fd: int) -> bool:
    """Whether the first line is a header of pi's; a version that is not read is one too."""
    head = read_head(os.pread(fd, _HEADER_BYTES, 0).split(b"\n", 1)[0].removeprefix(b"\xef\xbb\xbf"))
    return head is not None and head.type == "session"


def _first_object(path: Path, fd: int, size: int) -> Line:
    """First line that is a JSON object; what stands before it is skipped, as pi does."""
    for line in lines(path, fd, size):
        if line.number == 1 and b"\0" in line.raw[:_BINARY_BYTES]:
            raise SessionRefused(path, "binary, not a session", line=1, hint=_NAME_ONE)
        if read_head(line.raw) is not None:
            return line
    document = path.suffix == ".json" and os.pread(fd, 256, 0).lstrip().startswith(b"{")
    reason = "a JSON document of no format that is read" if document else "no line of it is a JSON object"
    raise SessionRefused(path, reason, line=1, hint=_NAME_ONE)


def _read_all(file: _File, header: Header | None) -> PiReader:
    reader = PiReader(header)
    with opened(file.path) as fd:
        for line in lines(file.path, fd, file.size):
            if file.header is None or line.number != file.header.number:
                reader.feed(line.raw, line.number, torn=line.torn)
    return reader
