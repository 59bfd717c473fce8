"""Cline and its forks: ``ui_messages.json`` and ``api_conversation_history.json`` of a task.

Of the screen's messages a request, what the model said and the tools it called are read. The results stand in the text
of the next request; each part that names a tool's result answers the call of the same rank. What left the context by
truncation is a cut without a summary. Progress lists, checkpoints, retries and output on the screen are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats._cline_screen import Screen
from leafscar.formats._cuts import add_cut
from leafscar.formats._json import fields_of, outline, read_document
from leafscar.formats._pieces import count, iso_time, make_usage, mappings
from leafscar.formats._unknown import gaps
from leafscar.formats._wire_anthropic import message_items
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_list

__all__ = ["FORMAT", "read_cline", "sniff"]

FORMAT = "cline"


def sniff(head: bytes, name: str) -> bool:
    """Whether a file that starts with ``head`` belongs to a task of Cline."""
    first = fields_of(next(iter(mappings(as_list(outline(head)) or ())), None))
    if first.get("type") in ("say", "ask") and "ts" in first:
        return True
    told = first.get("role") in ("user", "assistant") and "content" in first
    return told and (
        name.endswith("api_conversation_history.json") or "ts" in first or b"<environment_details>" in head
    )


def read_cline(data: bytes) -> Reading:
    """Read one of the two files; raises ``SessionRefused`` when it is neither."""
    found = mappings(as_list(read_document(data, FORMAT)) or ())
    if any(item.get("type") in ("say", "ask") for item in found):
        return _screen(found)
    told = [item for item in found if item.get("role") in ("user", "assistant", "system")]
    if told:
        return _history(told)
    hint = "give ui_messages.json or api_conversation_history.json"
    raise SessionRefused(FORMAT, "no messages of a task", hint=hint)


def _screen(found: list[Mapping[str, Any]]) -> Reading:
    screen = Screen(FORMAT)
    for item in found:
        screen.message(item)
    builder, header = screen.finish(), Header(version=3, timestamp=iso_time(found[0].get("ts")))
    notes = [*gaps(builder.entries, screen.window), *screen.notes()]
    return builder.reading(FORMAT, header, unknown=notes, window=screen.window)


def _history(told: list[Mapping[str, Any]]) -> Reading:
    builder = Builder()
    names: dict[str, str] = {}
    for number, said in enumerate(told, start=1):
        items = message_items([said], FORMAT, None, names)
        for at, item in enumerate(items):
            id_, when = f"m{number}" if at == len(items) - 1 else f"m{number}-r{at + 1}", iso_time(said.get("ts"))
            if item.message is None:
                add_cut(builder, item.cut or {}, id_=id_, timestamp=when)
            else:
                builder.add("message", {"message": _measured(item.message, said)}, id_=id_, timestamp=when)
    notes = gaps(builder.entries)
    notes.append("Which old messages a request left out stands in ui_messages.json only.")
    return builder.reading(FORMAT, Header(version=3, timestamp=iso_time(told[0].get("ts"))), unknown=notes)


def _measured(message: Mapping[str, Any], said: Mapping[str, Any]) -> Mapping[str, Any]:
    """Message with its counts; reads from the cache and writes to it are one number here, so only the sum is known."""
    tokens = fields_of(fields_of(said.get("metrics")).get("tokens"))
    prompt, output, cached = (count(tokens.get(name)) for name in ("prompt", "completion", "cached"))
    usage = make_usage(input=None if cached else prompt, output=output)
    if message.get("role") != "assistant" or usage is None:
        return message
    return {**message, "usage": {**usage, "totalTokens": (prompt or 0) + (output or 0) + (cached or 0)}}
