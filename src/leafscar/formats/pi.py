"""Reading pi's session lines, versions 1 to 3, into entries (docs/sessions.md).

A line is never judged twice: the head says whether it is an entry, its data are decoded when asked for.
What a reader cannot use becomes a :class:`Problem`, and reading goes on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NoReturn

import msgspec
from msgspec import Struct

from leafscar.errors import SessionRefused
from leafscar.formats._deep_head import plain_fields
from leafscar.model.entries import MAX_DEPTH, Entry, TooDeep, is_deep, loads
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["MAX_LINE_BYTES", "VERSIONS", "Head", "Header", "PiReader", "Problem", "parse_header", "read_head"]

MAX_LINE_BYTES = 128 * 1024 * 1024
"""A longer line is refused: no recording holds one, and it would fill the memory."""

VERSIONS = (1, 2, 3)
"""Versions of the format that are read; only version 3 is written."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""One escape in a JSON text, a surrogate pair as one; the group is half a pair."""


class Problem(Struct, frozen=True, kw_only=True):
    """Something in a file that reading went around; nothing was changed."""

    kind: str
    """blank-line, broken-line, not-an-object, no-type, torn-tail, no-header, second-header, missing-id,
    duplicate-id, missing-parent, bad-usage, lone-surrogate, not-utf8, too-deep."""
    line: int
    """1-based physical line."""
    message: str


class Header(Struct, frozen=True, kw_only=True):
    """Line 1 of a session file."""

    version: int
    id: str = ""
    timestamp: str | None = None
    cwd: str | None = None
    parent_session: str | None = None
    """Path of the session that this one was forked from."""
    provider: str | None = None
    model: str | None = None
    """Version 1 keeps the model here."""


class Head(msgspec.Struct):
    """The fields that place a line in the tree."""

    type: str = ""
    id: str | None = None
    parentId: str | None | msgspec.UnsetType = msgspec.UNSET  # noqa: N815 - the format's name


_decode_head = msgspec.json.Decoder(Head).decode


def read_head(raw: bytes) -> Head | None:
    """Head of a line; None when the line is no JSON object."""
    if not raw or raw.isspace():
        return None
    try:
        return _decode_head(raw)
    except (msgspec.MsgspecError, RecursionError):
        return _lenient_head(raw) if _may_be_object(raw) else None


def _may_be_object(raw: bytes) -> bool:
    """Whether a line begins and ends as an object does: most broken ones do not, and failing to decode is dear."""
    text = raw.strip()
    return text.startswith(b"{") and text.endswith(b"}")


def _lenient_head(raw: bytes) -> Head | None:
    try:
        fields = as_mapping(loads(raw))
    except TooDeep:
        fields = plain_fields(raw)
    except ValueError:
        return None
    if fields is None:
        return None
    parent = fields.get("parentId", msgspec.UNSET)
    return Head(
        type=as_text(fields.get("type")) or "",
        id=as_text(fields.get("id")),
        parentId=parent if isinstance(parent, str) or parent is None or parent is msgspec.UNSET else "",
    )


def parse_header(raw: bytes, path: str, line: int = 1) -> Header | None:
    """Header of a line; None when that line is no header.

    Raises :class:`SessionRefused` when it is a header of a version that is not read.
    """
    try:
        data = loads(raw)
    except ValueError:
        return None
    fields = as_mapping(data)
    if fields is None or fields.get("type") != "session":
        return None
    version = fields.get("version", 1)
    if isinstance(version, bool) or version not in VERSIONS:
        _refuse_version(version, path, line)
    text = {key: value for key, value in fields.items() if isinstance(value, str)}
    return Header(
        version=version,
        id=text.get("id", ""),
        timestamp=text.get("timestamp"),
        cwd=text.get("cwd"),
        parent_session=text.get("parentSession"),
        provider=text.get("provider"),
        model=text.get("modelId"),
    )


def _refuse_version(version: object, path: str, line: int) -> NoReturn:
    shown = repr(version)[:40]
    raise SessionRefused(
        path, f"session version {shown} is not read (1, 2 and 3 are)", line=line, hint="use a newer leafscar"
    )


class PiReader:
    """Turns physical lines into entries, in file order; holds what the next line needs to know.

    ``parents`` has, for each entry, the position of its parent in ``entries`` (-1 for a root). A parent is always
    an earlier entry, so a walk to the root ends.
    """

    def __init__(self, header: Header | None) -> None:
        self.header = header
        self.entries: list[Entry] = []
        self.parents: list[int] = []
        self.problems: list[Problem] = []
        self.positions: dict[str, int] = {}
        """Newest position of each id."""
        self._linear = header is not None and header.version == 1
        self._by_index: list[str | None] = [None]  # version 1 counts the header and all that is JSON

    def feed(self, raw: bytes, line: int, *, torn: bool = False) -> None:
        """Read one line (without its newline); ``torn`` says that the file ends without a newline after it."""
        if not raw or raw.isspace():
            self._problem("blank-line", line, "blank line, skipped")
            return
        head = read_head(raw)
        if head is None or not head.type:
            self._unusable(raw, line, torn=torn)
        elif head.type == "session":
            self._by_index.append(None)
            self._problem("second-header", line, "a header that is not the first line, skipped")
        else:
            self._add(head, raw, line)

    def _unusable(self, raw: bytes, line: int, *, torn: bool) -> None:
        if torn:
            self._problem("torn-tail", line, "the file ends inside this line, skipped")
            return
        try:
            data = loads(raw)
        except ValueError as fault:
            self._problem("broken-line", line, f"not JSON ({_short(fault)}), skipped")
            return
        self._by_index.append(None)
        kind = "no-type" if isinstance(data, Mapping) else "not-an-object"
        self._problem(kind, line, "no entry: " + ("it has no type" if kind == "no-type" else "not an object"))

    def _add(self, head: Head, raw: bytes, line: int) -> None:
        position = len(self.entries)
        id_ = self._id(head, position, line)
        parent = position - 1 if self._linear else self._parent(head, position, line)
        parent_id = self.entries[parent].id if parent >= 0 else None
        if id_ in self.positions:
            message = f"id {id_[:80]!r} was used before; the nearest earlier one is the parent"
            self._problem("duplicate-id", line, message)
        entry = Entry(id=id_, parent_id=parent_id, type=head.type, line=line, raw=raw)
        self._by_index.append(id_)
        if self.header is not None and self.header.version < 3:  # noqa: PLR2004 - the format's version
            entry = self._migrated(entry)
        self.positions[id_] = position
        self.entries.append(entry)
        self.parents.append(parent)

    def _id(self, head: Head, position: int, line: int) -> str:
        if head.id and not self._linear:
            return head.id
        if not self._linear:
            self._problem("missing-id", line, f"the entry has no id, called line{line} here")
            return f"line{line}"
        return f"{position:08x}"

    def _parent(self, head: Head, position: int, line: int) -> int:
        if head.parentId is None:
            return -1
        if isinstance(head.parentId, str):
            found = self.positions.get(head.parentId)
            if found is not None:
                return found
            self._problem("missing-parent", line, "its parent stands nowhere before it; the entry before it is taken")
        elif head.id:
            self._problem("missing-parent", line, "it names no parent; the entry before it is taken")
        return position - 1

    def _migrated(self, entry: Entry) -> Entry:
        """Entry of version 1 or 2 as version 3 words it: in memory only, ``raw`` stays what the file holds."""
        data = dict(entry.data)
        message = as_mapping(data.get("message"))
        if message is not None and message.get("role") == "hookMessage":
            data["message"] = {**message, "role": "custom"}
        index = data.get("firstKeptEntryIndex")
        if entry.type == "compaction" and isinstance(index, int) and 0 <= index < len(self._by_index):
            data["firstKeptEntryId"] = self._by_index[index]
        return Entry(id=entry.id, parent_id=entry.parent_id, type=entry.type, line=entry.line, raw=entry.raw, data=data)

    def _problem(self, kind: str, line: int, message: str) -> None:
        self.problems.append(Problem(kind=kind, line=line, message=message))


def content_problems(entries: Iterable[Entry]) -> Iterable[Problem]:
    """Faults inside entries that were kept: usage that is no count, text that is no Unicode, too many levels."""
    for entry in entries:
        usage = getattr(entry.message, "usage", None)
        faults = () if usage is None else usage.faults
        if faults:
            message = f"usage {', '.join(faults)} is no count of tokens; no estimate rests on it"
            yield Problem(kind="bad-usage", line=entry.line, message=message)
        yield from _text_problems(entry)


def _text_problems(entry: Entry) -> Iterable[Problem]:
    raw = entry.raw or b""
    if is_deep(raw):
        message = f"nested deeper than {MAX_DEPTH} levels; the entry is kept and gives no message"
        yield Problem(kind="too-deep", line=entry.line, message=message)
    if not raw.isascii():
        try:
            raw.decode()
        except UnicodeDecodeError:
            yield Problem(kind="not-utf8", line=entry.line, message="bytes that are no UTF-8 read as U+FFFD")
    if (b"\\ud" in raw or b"\\uD" in raw) and any(escape[1] for escape in _ESCAPE.finditer(raw)):
        message = "half of a surrogate pair; kept as it is"
        yield Problem(kind="lone-surrogate", line=entry.line, message=message)


def _short(fault: Exception) -> str:
    return str(fault).split("\n")[0][:120]
