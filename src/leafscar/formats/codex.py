"""Codex rollouts: the envelope of today, and the bare items of the first versions (docs/formats.md).

Items are replayed, events are not: what the screen showed repeats them. Of the events only errors, aborted turns and
turns that were taken back leave an entry, of the token counts those that bill a response or state a new context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats._codex_items import ITEMS
from leafscar.formats._codex_reader import MAIN, Reader
from leafscar.formats._lines import head_objects, records_in
from leafscar.formats._pieces import mappings
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["FORMAT", "read_codex", "sniff"]

FORMAT = "codex"

_ENVELOPES = frozenset({"compacted", "event_msg", "response_item", "session_meta", "turn_context", "world_state"})
_SPOKEN = ("custom_message", "message")
_LONG_LINE = re.compile(
    rb'\{"timestamp":"[^"]*",(?:"ordinal":\d+,)?"type":"(?:session_meta|response_item|turn_context)","payload":\{'
)
_BARE_HEADER = re.compile(rb'\{"id":"[^"]*","timestamp":"[^"]*","instructions":')


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a rollout of Codex."""
    for fields in head_objects(head):
        if as_mapping(fields.get("payload")) is not None:
            return as_text(fields.get("type")) in _ENVELOPES
        return _is_bare_header(fields) or fields.get("record_type") == "state" or _is_bare_item(fields)
    return (_LONG_LINE.match(head) or _BARE_HEADER.match(head)) is not None


def _is_bare_header(fields: Mapping[str, Any]) -> bool:
    return "type" not in fields and {"id", "timestamp", "instructions"} <= fields.keys()


def _is_bare_item(fields: Mapping[str, Any]) -> bool:
    kind = as_text(fields.get("type"))
    if kind == "message":
        return any(part.get("type") in ("input_text", "output_text") for part in mappings(fields.get("content")))
    return kind in ITEMS and ("call_id" in fields or "summary" in fields)


def read_codex(lines: Iterable[tuple[int, bytes]]) -> Reading:
    """Read a rollout; raises ``SessionRefused`` when no line of it is a record of Codex."""
    builder = Builder()
    reader = Reader(FORMAT)
    for record in records_in(lines, builder):
        reader.read(record)
    reader.finish()
    if not reader.meta and not any(draft.kind in _SPOKEN for draft in reader.branches.drafts):
        hint = "name a rollout-*.jsonl file below ~/.codex/sessions"
        raise SessionRefused(FORMAT, "no record of a conversation in it", hint=hint)
    reader.branches.emit(builder, MAIN)
    window = reader.counts.windows[-1] if reader.counts.windows else None
    unknown = [*gaps(builder.entries, window), *reader.unknown()]
    return builder.reading(FORMAT, _header(reader), unknown=unknown, window=window)


def _header(reader: Reader) -> Header:
    stated = {name: as_text(reader.meta.get(name)) for name in ("id", "timestamp", "cwd")}
    return Header(version=3, id=stated["id"] or "", timestamp=stated["timestamp"], cwd=stated["cwd"] or reader.cwd)
