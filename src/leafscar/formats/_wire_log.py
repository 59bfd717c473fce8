"""A log of model requests as a whole: which format it is in, and its entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from leafscar._words import counted
from leafscar.errors import SessionRefused
from leafscar.formats._json import Record, decode, fields_of, lines_of, outline, read_records, refuse_giant
from leafscar.formats._pieces import first_text, mappings
from leafscar.formats._unknown import gaps
from leafscar.formats._wire_exchange import (
    CHAT,
    GEMINI,
    RESPONSES,
    Exchanges,
    Vendor,
    answer_vendor,
    body_vendor,
    is_payload,
    stream_of,
)
from leafscar.formats._wire_tree import merged
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model import Assistant, ToolResult
from leafscar.model.messages import tool_calls
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["log_format", "read_log"]

_SNIFFED_LINES = 12
_ROLES = ("system", "developer", "user", "assistant", "tool", "function", "human", "model")
_FOREIGN = ("sessionId", "trajectory", "history", "info", "kind", "uuid", "ts")
"""Fields of other tools' recordings that also hold messages."""
_ITEMS = ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "reasoning")


_CLINE = b"<environment_details>"
"""Stands in the lists of messages that Cline keeps, and nowhere else."""


# --- sniffing ------------------------------------------------------------------------------------------


def log_format(head: bytes) -> str | None:
    """Name of the format that a file with this head is a log in; None when it is none."""
    first = outline(head)
    if as_list(first) is not None:
        return None if _CLINE in head else _list_format(mappings(first))
    if as_mapping(first) is None:
        return None
    lines = [as_mapping(decode(raw)) for _, raw in islice(lines_of(head), _SNIFFED_LINES)]
    found = (_object_format(fields) for fields in (first, *lines) if fields is not None)
    return next((name for name in found if name is not None), None)


def _list_format(items: Sequence[Mapping[str, Any]]) -> str | None:
    first = fields_of(next(iter(items), None))
    if as_mapping(first.get("request")) is not None:
        return _object_format(first)
    if any(item.get("type") in _ITEMS for item in items):
        return RESPONSES.format
    if answer_vendor(first) is GEMINI or (first.get("role") in ("user", "model") and as_list(first.get("parts"))):
        return GEMINI.format
    vendor = body_vendor({"messages": items}) if _is_message(first) else None
    return None if vendor is None else vendor.format


def _object_format(fields: Mapping[str, Any]) -> str | None:
    request = as_mapping(fields.get("request"))
    if request is not None:
        body = request.get("body", request)
        vendor = body_vendor(
            fields_of(decode(body) if isinstance(body, str) else body), as_text(request.get("url")) or ""
        )
    elif any(name in fields for name in _FOREIGN):
        vendor = None
    elif "session_meta" in fields_of(fields.get("meta")) or _is_message(fields):
        vendor = CHAT if answer_vendor(fields) is None else answer_vendor(fields)
    else:
        vendor = answer_vendor(fields) or body_vendor(fields)
    return None if vendor is None else vendor.format


def _is_message(fields: Mapping[str, Any]) -> bool:
    named = fields.get("role") in _ROLES and ("content" in fields or "tool_calls" in fields)
    return named and not any(name in fields for name in _FOREIGN)


# --- reading -------------------------------------------------------------------------------------------


def read_log(data: bytes, vendor: Vendor) -> Reading:
    """Read a log; messages outside an exchange are taken to be in ``vendor``'s shape."""
    refuse_giant(data, vendor.format)
    log = _Log(vendor)
    value = decode(data)
    if as_list(value) is not None:
        log.items(mappings(value))
    elif as_mapping(value) is not None:
        log.value(value)
    else:
        log.records(read_records(data, vendor.format, log.builder), data)
    return log.reading()


class _Log:
    """Finds out what the parts of a log are."""

    def __init__(self, vendor: Vendor) -> None:
        self.builder = Builder()
        self._vendor = vendor
        self._exchanges = Exchanges(self.builder, vendor.format)
        self._facts: dict[str, Any] = {}
        self._alone = False
        self._whole = False  # requests stand in the file as they were sent

    def value(self, fields: Mapping[str, Any]) -> None:
        """Read a document that is one object."""
        if as_mapping(fields.get("request")) is not None:
            self._whole = True
            self._exchanges.record(Record(line=0, raw=b"", fields=fields))
        elif is_payload(fields):
            self._stream([fields])
        elif answer_vendor(fields) is not None:
            self._answer(answer_vendor(fields) or self._vendor, fields)
        else:
            self._facts.update({**fields_of(fields_of(fields.get("meta")).get("session_meta")), **fields})
            self._body(fields)

    def items(self, items: Sequence[Mapping[str, Any]]) -> None:
        """Read a document that is a list."""
        if any(as_mapping(item.get("request")) is not None for item in items):
            for item in items:
                self.value(item)
        elif any(answer_vendor(item) is GEMINI for item in items):
            self._stream(items)
        else:
            self._body({"messages": items, "input": items, "contents": items})

    def records(self, records: Sequence[Record], data: bytes) -> None:
        """Read lines: exchanges, payloads of one stream, conversations, or the messages of one."""
        exchanges = [record for record in records if as_mapping(record.fields.get("request")) is not None]
        payload = next((found for record in records if (found := answer_vendor(record.fields))), None)
        for record in exchanges:
            self._exchanges.record(record)
        if exchanges:
            self._whole = True
        elif payload is not None or (not records and b"data:" in data):
            self._stream(stream_of(data))
        elif any(_is_body(record.fields) for record in records):
            for record in records:
                self._exchanges.tree.line, self._exchanges.tree.raw = record.line, record.raw
                self._body(record.fields)
        else:
            self._body({"messages": [record.fields for record in records], "input": [r.fields for r in records]})

    def _stream(self, payloads: Sequence[Mapping[str, Any]]) -> None:
        vendor = next((found for payload in payloads if (found := answer_vendor(payload))), None)
        if vendor is not None:
            self._answer(vendor, vendor.assemble(payloads))

    def _body(self, body: Mapping[str, Any]) -> None:
        known = {"messages": [said for said in mappings(body.get("messages")) if said.get("role") in _ROLES]}
        items = self._vendor.request({**body, **known}, self._vendor.format)
        self._exchanges.tree.follow(merged(items))

    def _answer(self, vendor: Vendor, body: Mapping[str, Any]) -> None:
        self._alone = True
        self._exchanges.tree.respond(vendor.response(body, self._vendor.format), -1)

    def reading(self) -> Reading:
        """Give what was read; raises :class:`SessionRefused` when that is nothing."""
        entries = self.builder.entries
        if not entries:
            name = self._vendor.format
            raise SessionRefused(name, f"no messages in the shape of {name}", hint="see `leafscar formats`")
        notes = [*gaps(entries, system=not self._whole), *self._exchanges.notes()]
        if self._alone:
            notes.append("It is a response alone; the request that it answers is not in the file.")
        if apart := _apart(self.builder):
            notes.append(f"It is not what was sent: {counted(apart, 'result')} not right behind the call.")
        facts = self._facts
        header = Header(
            version=3,
            id=first_text(facts.get("session_id"), facts.get("id"), facts.get("task_id")) or "",
            cwd=as_text(facts.get("cwd")),
        )
        return self.builder.reading(self._vendor.format, header, unknown=notes)


def _is_body(fields: Mapping[str, Any]) -> bool:
    named = any(as_list(fields.get(name)) is not None for name in ("messages", "contents"))
    return named or ("input" in fields and "model" in fields)


def _apart(builder: Builder) -> int:
    """Results that something other than their own response and its other results stands before."""
    number = 0
    asked: list[set[str]] = []
    for entry, parent in zip(builder.entries, builder.parents, strict=True):
        message = entry.message
        before = asked[parent] if parent >= 0 else set[str]()
        if isinstance(message, ToolResult):
            number += message.tool_call_id not in before
            asked.append(before)
        elif isinstance(message, Assistant):
            asked.append({call.id for call in tool_calls(message)})
        else:
            asked.append(set())
    return number
