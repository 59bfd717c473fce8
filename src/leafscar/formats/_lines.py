"""Lines of a JSONL recording as records, read in order, and what the head of a file says about its format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from leafscar.formats._json import Record
from leafscar.formats.reading import Builder
from leafscar.model.entries import loads
from leafscar.model.shapes import as_mapping

__all__ = ["head_objects", "records_in"]

_LOOKED_AT = 40
"""Lines of a file's head that are looked at; bookkeeping stands before the first telling one."""

_quick = msgspec.json.Decoder().decode


def records_in(lines: Iterable[tuple[int, bytes]], builder: Builder) -> list[Record]:
    """Read the lines that hold a JSON object; what the others are is noted in ``builder``."""
    records: list[Record] = []
    faults: list[tuple[str, int, str]] = []
    last = 0
    for line, raw in lines:
        if not raw or raw.isspace():
            continue
        last = line
        try:
            value = _decode(raw)
        except ValueError as fault:
            faults.append(("broken-line", line, f"not JSON ({str(fault).splitlines()[0][:120]}), skipped"))
            continue
        fields = as_mapping(value)
        if fields is None:
            faults.append(("not-an-object", line, "not an object, skipped"))
        else:
            records.append(Record(line=line, raw=raw, fields=fields))
    for kind, line, message in faults:
        torn = kind == "broken-line" and line == last
        builder.problem("torn-tail" if torn else kind, line, "the file ends inside this line" if torn else message)
    return records


def _decode(raw: bytes) -> Any:
    """Decode a line, quickly where it is plain; raises ``ValueError`` when it is no JSON."""
    try:
        return _quick(raw)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return loads(raw)


def head_objects(head: bytes) -> Iterator[Mapping[str, Any]]:
    """Give the JSON objects of the first complete lines of a file's head; a line that the head cuts off is left out."""
    for raw in head.split(b"\n", _LOOKED_AT)[:_LOOKED_AT]:
        try:
            fields = as_mapping(_decode(raw)) if raw.strip() else None
        except ValueError:
            continue
        if fields is not None:
            yield fields
