"""Entries of a session: the raw line is the truth, everything else is read from it when asked.

An entry knows its place (``line``), its head (``id``, ``parent_id``, ``type``) and how to give its data and its
context message. Plain dicts in pi's shape become entries through :func:`as_entry`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any, TypeAlias

import msgspec

from leafscar.model.messages import (
    Assistant,
    BranchSummary,
    CompactionSummary,
    Custom,
    KnownMessage,
    Message,
    as_message,
)
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

__all__ = ["MAX_DEPTH", "Entry", "EntryLike", "TooDeep", "as_entry", "dump_line", "is_deep", "iso_to_ms", "loads"]

MAX_DEPTH = 128
"""Levels of objects and arrays in each other that a line may have; no recording comes near, and readers recurse."""

_SAFE_DIGITS = 308
_CONTAINERS = (dict, list)
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class TooDeep(ValueError):
    """A JSON value has more than :data:`MAX_DEPTH` levels."""

    def __init__(self) -> None:
        super().__init__(f"nested deeper than {MAX_DEPTH} levels")


def loads(raw: bytes | str) -> Any:
    """Decode one JSON value as leniently as the sources and more: NaN, lone surrogates, huge numbers.

    Bytes that are no UTF-8 read as U+FFFD, integers beyond every double as infinities. Raises ``ValueError`` when it
    is no JSON, :class:`TooDeep` when it has too many levels.
    """
    text = raw.decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    try:
        value = _decode(text)
    except RecursionError as fault:
        raise TooDeep from fault
    if text.count("{") + text.count("[") > MAX_DEPTH and _has_more_levels(value):
        raise TooDeep
    return value


def is_deep(raw: bytes) -> bool:
    """Whether a line that is JSON has more than :data:`MAX_DEPTH` levels."""
    if raw.count(b"{") + raw.count(b"[") <= MAX_DEPTH:  # the usual case, and a hundred times faster than decoding
        return False
    try:
        return _has_more_levels(msgspec.json.decode(raw))
    except RecursionError:
        return True
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return _is_deep_for_the_lenient(raw)


def _is_deep_for_the_lenient(raw: bytes) -> bool:
    try:
        loads(raw)
    except ValueError as fault:
        return isinstance(fault, TooDeep)
    return False


def _has_more_levels(value: Any) -> bool:
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        level = [inner for each in level for inner in _members(each) if isinstance(inner, _CONTAINERS)]
    return bool(level)


def _members(value: Any) -> Iterable[Any]:
    fields = as_mapping(value)
    return fields.values() if fields is not None else as_list(value) or ()


def _integer(digits: str) -> int | float:
    return int(digits) if len(digits) <= _SAFE_DIGITS else float(digits)


_decode = json.JSONDecoder(parse_int=_integer).decode  # json.loads would build one for each line


def dump_line(data: Mapping[str, Any]) -> bytes:
    """One line of JSON, without its newline, as pi writes it: compact, lone surrogates escaped.

    Raises ``ValueError`` for NaN, infinities and too many levels, ``TypeError`` for what is no JSON.
    """
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except RecursionError as fault:
        raise TooDeep from fault
    line = _LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", text).encode()
    if is_deep(line):  # it would be no entry to whoever reads it
        raise TooDeep
    return line


class _MessageLine(msgspec.Struct, frozen=True, rename="camel"):
    message: KnownMessage
    type: str = ""
    id: str = ""
    parent_id: str | msgspec.UnsetType | None = msgspec.UNSET


_decode_line = msgspec.json.Decoder(_MessageLine).decode


class Entry:
    """One entry of a session's tree.

    ``raw`` is the exact line without its newline (None for an entry that came as a dict), ``line`` its 1-based
    physical line in the file (0 when it stands in no file).
    """

    __slots__ = ("_data", "_message", "id", "line", "parent_id", "raw", "type")

    def __init__(
        self,
        *,
        id: str,  # noqa: A002 - the format's name
        parent_id: str | None,
        type: str,  # noqa: A002 - the format's name
        line: int = 0,
        raw: bytes | None = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:
        self.id = id
        self.parent_id = parent_id
        self.type = type
        self.line = line
        self.raw = raw
        self._data = data
        self._message: Message | None = None

    def __repr__(self) -> str:
        where = f" line {self.line}" if self.line else ""
        return f"<Entry {self.type} {self.id}{where}>"

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Field ``key`` of the entry's data, else ``default``."""
        return self.data.get(key, default)

    @property
    def data(self) -> Mapping[str, Any]:
        """The whole entry as decoded JSON; empty where the line has too many levels. Read it, never change it."""
        if self._data is None:
            self._data = _object(self.raw or b"{}")
        return self._data

    @property
    def timestamp_ms(self) -> float | None:
        """When the entry was written, in milliseconds since 1970; None when it does not say."""
        return iso_to_ms(self.data.get("timestamp"))

    @property
    def message(self) -> Message | None:
        """The context message that this entry projects, on its own; None when it projects nothing."""
        if self._message is None:
            self._message = self._project()
        return self._message

    @property
    def message_data(self) -> Mapping[str, Any] | None:
        """The message of a ``message`` entry exactly as the line holds it, else None."""
        return as_mapping(self.data.get("message")) if self.type == "message" else None

    def _project(self) -> Message | None:
        match self.type:
            case "message":
                return self._typed_message()
            case "custom_message":
                return _custom(self)
            case "branch_summary":
                return _branch_summary(self)
            case "compaction":
                return _compaction_summary(self)
            case _:
                return None

    @classmethod
    def quick(cls, raw: bytes) -> Entry | None:
        """Give the ``message`` entry of an ordinary line, its message decoded; None: other readers must look at it."""
        line = _quick_line(raw)
        if line is None or line.type != "message" or not line.id or line.parent_id is msgspec.UNSET:
            return None
        entry = cls(id=line.id, parent_id=line.parent_id, type="message", raw=raw)
        entry._message = line.message
        return entry

    def _typed_message(self) -> Message | None:
        line = _quick_line(self.raw) if self.raw is not None and self._data is None else None
        if line is not None:
            return line.message
        data = self.message_data
        return None if data is None else as_message(data)


def _quick_line(raw: bytes) -> _MessageLine | None:
    """Decode a line in one go; None when it is odd in any way, so that the lenient reader takes what is there."""
    try:
        line = _decode_line(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return line if _is_plain(line.message) and not is_deep(raw) else None


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        return as_mapping(loads(raw)) or {}
    except ValueError:  # too many levels: only the head of the line is read
        return {}


EntryLike: TypeAlias = Entry | Mapping[str, Any]
"""An entry, or a plain dict in pi's shape."""


def as_entry(value: EntryLike) -> Entry:
    """Give the entry of ``value``; a dict keeps its identity as ``entry.data``."""
    if isinstance(value, Entry):
        return value
    id_, kind = as_text(value.get("id")), as_text(value.get("type"))
    return Entry(id=id_ or "", parent_id=as_text(value.get("parentId")), type=kind or "", data=value)


def _is_plain(message: Message) -> bool:
    """Whether the fast decoder read the same as the lenient one: there a null count is 0, a giant one an infinity."""
    usage = message.usage if isinstance(message, Assistant) else None
    if usage is not None and (usage.faults or None in (usage.input, usage.output, usage.cache_read, usage.cache_write)):
        return False
    return abs(message.timestamp) <= sys.float_info.max


def iso_to_ms(value: object) -> float | None:
    """Milliseconds since 1970 of an ISO timestamp; None when it is none."""
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000


def _custom(entry: Entry) -> Message:
    fields = {**entry.data, "role": "custom", "timestamp": entry.timestamp_ms or 0}
    message = as_message(fields)
    if isinstance(message, Custom) and message.content is None:
        return msgspec.structs.replace(message, content=())
    return message


def _branch_summary(entry: Entry) -> Message | None:
    summary = entry.data.get("summary")
    if not isinstance(summary, str) or not summary:
        return None
    from_id = as_text(entry.data.get("fromId"))
    return BranchSummary(summary=summary, from_id=from_id, timestamp=entry.timestamp_ms or 0)


def _compaction_summary(entry: Entry) -> Message:
    summary, before = as_text(entry.data.get("summary")), as_number(entry.data.get("tokensBefore"))
    return CompactionSummary(summary=summary or "", tokens_before=before, timestamp=entry.timestamp_ms or 0)
