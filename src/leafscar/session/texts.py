"""The words of an entry, piece by piece: what a search looks through and what a recall of pages gives."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Literal, TypeAlias

from msgspec import Struct

from leafscar.model import Entry, Message, ToolCall, ToolResult
from leafscar.model.messages import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    System,
    Text,
    Thinking,
    Unknown,
    User,
    parts_of,
    text_of,
)
from leafscar.pruning import result_text

__all__ = ["Kind", "Piece", "entry_text", "pieces_of"]

Kind: TypeAlias = Literal["user", "assistant", "thinking", "call", "result", "command", "summary", "note", "system"]
"""Who a text is from: ``call`` is a tool call with its arguments, ``command`` one that the user ran."""

_GAP = "\n\n"
_DEPTH = 3


class Piece(Struct, frozen=True, kw_only=True):
    """One text of an entry."""

    kind: Kind
    text: str
    tool: str = ""
    """Name of the tool, for calls and results."""
    first_line: int | None = 1
    """1-based line of the entry's text on which it begins; None: it is no part of what a recall gives."""


def entry_text(entry: Entry) -> str | None:
    """Whole text of an entry as its pages and lines count it; None for an entry without words."""
    pieces = pieces_of(entry)
    counted = [piece.text for piece in pieces if piece.first_line is not None]
    return _GAP.join(counted) if counted else None


def pieces_of(entry: Entry) -> tuple[Piece, ...]:
    """Give the texts of an entry in order; nothing for an entry that projects no message."""
    message = entry.message
    return () if message is None else tuple(_numbered(_pieces(message)))


def _numbered(pieces: Iterable[Piece]) -> Iterable[Piece]:
    line = 1
    for piece in pieces:
        if piece.first_line is None:
            yield piece
            continue
        yield Piece(kind=piece.kind, text=piece.text, tool=piece.tool, first_line=line)
        line += piece.text.count("\n") + len(_GAP)


def _pieces(message: Message) -> Iterable[Piece]:
    match message:
        case User(content=content):
            yield from _worded("user", text_of(content))
        case Assistant():
            yield from _answer(message)
        case ToolResult(tool_name=name):
            yield Piece(kind="result", text=result_text(message) or "", tool=name)
        case BashExecution(command=command, output=output):
            yield Piece(kind="result", text=output, tool="bash")
            yield Piece(kind="command", text=command, first_line=None)
        case BranchSummary(summary=summary) | CompactionSummary(summary=summary):
            yield from _worded("summary", summary)
        case Custom(content=content):
            yield from _worded("note", text_of(content))
        case System(content=content):
            yield from _worded("system", text_of(content))
        case Unknown():
            return


def _worded(kind: Kind, text: str) -> Iterable[Piece]:
    if text:
        yield Piece(kind=kind, text=text)


def _answer(message: Assistant) -> Iterable[Piece]:
    for part in parts_of(message.content):
        match part:
            case Text(text=text):
                yield from _worded("assistant", text)
            case Thinking(thinking=text):
                yield from _worded("thinking", text)
            case ToolCall():
                yield Piece(kind="call", text=_call_text(part), tool=part.name)
            case _:
                continue


def _call_text(call: ToolCall) -> str:
    """A call with its arguments one below the other; what is text stays as it is, so that its lines can be found."""
    arguments: object = call.arguments
    return "\n".join((call.name, *_named("", arguments, _DEPTH)))


def _named(name: str, value: object, depth: int) -> Iterable[str]:
    if depth and isinstance(value, Mapping | list):
        fields: Mapping[object, object] | list[object] = value  # pyright: ignore[reportUnknownVariableType]
        for key, each in fields.items() if isinstance(fields, Mapping) else enumerate(fields, 1):
            yield from _named(f"{name}.{key}" if name else str(key), each, depth - 1)
    else:
        yield f"{name}: {_plain(value)}" if name else _plain(value)


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):  # deeper than Python goes: no text that anybody looks for
        return "..."
