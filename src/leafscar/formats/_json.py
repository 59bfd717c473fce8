"""Documents and lines of other tools' recordings as JSON values, whatever the bytes hold."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct

from leafscar.errors import SessionRefused
from leafscar.formats.reading import MAX_DOCUMENT_BYTES, Builder
from leafscar.model.entries import loads
from leafscar.model.jsjson import stringify
from leafscar.model.shapes import as_mapping

__all__ = [
    "Record",
    "as_arguments",
    "as_json_text",
    "decode",
    "fields_of",
    "lines_of",
    "outline",
    "read_document",
    "read_records",
    "refuse_giant",
]

_DECODER = json.JSONDecoder(parse_int=float)
_OUTLINE_DEPTH = 6


class Record(Struct, frozen=True, kw_only=True):
    """One JSON object of a line format."""

    line: int
    """1-based physical line."""
    raw: bytes
    fields: Mapping[str, Any]


def read_document(data: bytes, format_: str) -> Any:
    """Decode a one-document recording; raises :class:`SessionRefused` when it is too long or no JSON."""
    refuse_giant(data, format_)
    value = decode(data)
    if value is None:
        raise SessionRefused(format_, "the document is not JSON or ends too early", hint="export it once more")
    return value


def refuse_giant(data: bytes, format_: str) -> None:
    """Raise :class:`SessionRefused` for a document over :data:`MAX_DOCUMENT_BYTES`."""
    if len(data) > MAX_DOCUMENT_BYTES:
        reason = f"{len(data):,} bytes are more than the {MAX_DOCUMENT_BYTES:,} that one document may hold"
        raise SessionRefused(format_, reason, hint="split it by session")


def decode(data: bytes | str) -> Any:
    """Give the JSON value of ``data``; None when it is none, or null."""
    try:
        return loads(data if isinstance(data, str) else _text(data))
    except ValueError:
        return None


def _text(data: bytes) -> str:
    """Text of a file; shells of Windows write a mark before it, or UTF-16."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "replace")


def lines_of(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Give the physical lines without their ends, numbered from 1; the last may be torn."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        stripped = line.strip()
        if stripped:
            yield number, stripped


def read_records(data: bytes, format_: str, builder: Builder) -> list[Record]:
    """Read all lines that hold a JSON object; what the others are is noted in ``builder``."""
    refuse_giant(data, format_)
    records: list[Record] = []
    for line, raw in lines_of(data):
        value = decode(raw)
        fields = as_mapping(value)
        if fields is not None:
            records.append(Record(line=line, raw=raw, fields=fields))
        elif value is None:
            builder.problem("broken-line", line, "not JSON, skipped")
        else:
            builder.problem("not-an-object", line, "not an object, skipped")
    return records


def fields_of(value: object) -> Mapping[str, Any]:
    """Give the fields of a JSON object; nothing for other values."""
    return as_mapping(value) or {}


def outline(head: bytes) -> Any:
    """Give the first JSON value of a file's head, as far as the head holds it; None when it starts with none."""
    text = _text(head)
    return _Outline(text).value(_skip(text, 0), 0)[0]


class _Outline:
    """Reads a JSON text that may end anywhere."""

    def __init__(self, text: str) -> None:
        self._text = text

    def value(self, at: int, depth: int) -> tuple[Any, int | None]:
        """Value at ``at`` and the position behind it; None for a position when the text ended in it."""
        try:
            return _DECODER.raw_decode(self._text, at)
        except (ValueError, RecursionError):
            opening = self._text[at : at + 1]
            if depth > _OUTLINE_DEPTH or opening not in ("{", "["):
                return None, None
            return (self._members(at + 1, depth) if opening == "{" else self._items(at + 1, depth)), None

    def _items(self, at: int | None, depth: int) -> list[Any]:
        items: list[Any] = []
        while at is not None:
            item, at = self.value(_skip(self._text, at), depth + 1)
            if item is not None:
                items.append(item)
            at = self._behind(at, ",")
        return items

    def _members(self, at: int | None, depth: int) -> dict[str, Any]:
        members: dict[str, Any] = {}
        while at is not None:
            name, at = self.value(_skip(self._text, at), _OUTLINE_DEPTH + 1)
            at = self._behind(at, ":")
            if isinstance(name, str) and at is not None:
                members[name], at = self.value(_skip(self._text, at), depth + 1)
                at = self._behind(at, ",")
        return members

    def _behind(self, at: int | None, mark: str) -> int | None:
        """Position behind ``mark``; None when it does not stand there."""
        start = None if at is None else _skip(self._text, at)
        return start + 1 if start is not None and self._text[start : start + 1] == mark else None


def _skip(text: str, at: int) -> int:
    """Position of the first character from ``at`` on that is no blank."""
    while text[at : at + 1].isspace():
        at += 1
    return at


def as_json_text(value: Any, format_: str) -> str:
    """Compact JSON of a value that a model was sent as text; a string is that text itself."""
    del format_  # every value can be written; callers still say whose it is
    return value if isinstance(value, str) else stringify(value)


def as_arguments(value: Any) -> Any:
    """Give the arguments of a call: the object that a JSON text holds, or the text itself where it is free text."""
    if value is None:
        return {}
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    parsed = as_mapping(decode(value))
    return value if parsed is None else parsed
