"""Gemini CLI: the chat file (JSON, or JSONL from 0.40 on) and the output of ``--output-format stream-json``.

One ``gemini`` record is one response with its calls and their results. Notices (``info``, ``warning``, ``error``) and
the totals of a run become ``gemini_cli.*`` custom entries; how the screen showed a result is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats._gemini_chat import Chat
from leafscar.formats._gemini_stream import Stream
from leafscar.formats._json import decode, fields_of, lines_of, outline, read_records, refuse_giant
from leafscar.formats._pieces import mappings
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["FORMAT", "read_gemini_cli", "sniff"]

FORMAT = "gemini_cli"

_FIRST = ("init", "message")
_SNIFFED_LINES = 20


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a chat file or a stream of Gemini CLI."""
    first = as_mapping(outline(head))
    if first is None:
        return False
    return {"sessionId", "projectHash"} <= first.keys() or (first.get("type") in _FIRST and _has_start(head))


def _has_start(head: bytes) -> bool:
    lines = islice(lines_of(head), _SNIFFED_LINES)
    starts = (fields for _, raw in lines if (fields := fields_of(decode(raw))).get("type") == "init")
    return {"session_id", "model"} <= fields_of(next(starts, None)).keys()


def read_gemini_cli(data: bytes) -> Reading:
    """Read a chat file or a stream; raises ``SessionRefused`` when it is neither."""
    refuse_giant(data, FORMAT)
    whole = as_mapping(decode(data))
    if whole is not None and as_list(whole.get("messages")) is not None:
        return _document(whole)
    builder = Builder()
    records = read_records(data, FORMAT, builder)
    if any(record.fields.get("type") == "init" for record in records):
        return Stream(builder, FORMAT).read(records)
    chat = Chat(builder, FORMAT)
    for record in records:
        chat.record(record.fields, record.line, record.raw)
    return _finished(chat)


def _document(whole: Mapping[str, Any]) -> Reading:
    chat = Chat(Builder(), FORMAT)
    chat.facts.update(whole)
    for number, fields in enumerate(mappings(whole.get("messages")), start=1):
        chat.message(fields, as_text(fields.get("id")) or f"m{number}")
    return _finished(chat)


def _finished(chat: Chat) -> Reading:
    if not chat.nodes and not chat.facts:
        raise SessionRefused(FORMAT, "no record of a Gemini CLI session", hint="see `leafscar formats`")
    chat.emit()
    header = Header(
        version=3,
        id=as_text(chat.facts.get("sessionId")) or "",
        timestamp=as_text(chat.facts.get("startTime")),
    )
    notes = gaps(chat.builder.entries)
    if chat.facts.get("kind") == "subagent":
        notes.append("It is the session of a sub-agent; the session that started it is another file.")
    return chat.builder.reading(FORMAT, header, unknown=notes)
