"""Markers in the place of long texts that old write and edit calls carried (docs/pruning.md, ADR 0052)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast

import msgspec

from leafscar.model import Assistant, ToolCall
from leafscar.model.messages import parts_of, tool_calls
from leafscar.pruning.eligible import Candidate, Never
from leafscar.pruning.sizes import format_size, text_tokens
from leafscar.pruning.tools import ALL, ToolTable, path_of, tool_of

__all__ = ["argument_marker", "argument_tokens", "with_marked_arguments", "with_marked_dict"]

_LONG = 50
"""Tokens up to which a text stays: names, paths and short edits tell what the call was."""


def argument_tokens(message: Assistant, *, never: Never, entry_id: str, tools: ToolTable = ALL) -> int:
    """Tokens of the long texts in the write and edit calls of a response; 0 where one of them must stay raw."""
    edits = [call for call in tool_calls(message) if tool_of(call.name, tools).kind == "edit"]
    if any(never.keeps(_candidate(call, entry_id, tools)) for call in edits):
        return 0
    return sum(text_tokens(text) for call in edits for text in _long_texts(call.arguments, _paths(call.name, tools)))


def argument_marker(tokens: int, reference: str) -> str:
    """Write what stands in the place of each of those texts."""
    return f"[argument pruned: {format_size(tokens)} tokens in {reference}]"


def with_marked_arguments(message: Assistant, marker: str, *, tools: ToolTable = ALL) -> Assistant:
    """Give a copy whose write and edit calls have the same arguments, the long texts among them replaced."""
    parts = tuple(
        msgspec.structs.replace(part, arguments=_marked(part.arguments, marker, _paths(part.name, tools)))
        if isinstance(part, ToolCall) and tool_of(part.name, tools).kind == "edit"
        else part
        for part in parts_of(message.content)
    )
    return msgspec.structs.replace(message, content=parts)


def with_marked_dict(message: Mapping[str, Any], marker: str, *, tools: ToolTable = ALL) -> dict[str, Any]:
    """Give the same for a response as a plain dict in pi's shape."""
    parts = cast("Sequence[Mapping[str, Any]]", message.get("content") or ())
    return {**message, "content": [_marked_part(part, marker, tools) for part in parts]}


def _marked_part(part: Mapping[str, Any], marker: str, tools: ToolTable) -> Mapping[str, Any]:
    name = str(part.get("name"))
    if part.get("type") != "toolCall" or tool_of(name, tools).kind != "edit":
        return part
    return {**part, "arguments": _marked(part.get("arguments"), marker, _paths(name, tools))}


def _paths(name: str, tools: ToolTable) -> tuple[str, ...]:
    return tool_of(name, tools).paths


def _candidate(call: ToolCall, entry_id: str, tools: ToolTable) -> Candidate:
    tool = tool_of(call.name, tools)
    return Candidate(
        position=0,
        entry_id=entry_id,
        call_id=call.id,
        tool_name=call.name,
        kind=tool.kind,
        tokens=0,
        text_tokens=0,
        path=path_of(call, tool),
    )


def _long_texts(value: object, paths: tuple[str, ...]) -> Iterable[str]:
    if isinstance(value, str):
        if text_tokens(value) > _LONG:
            yield value
    elif isinstance(value, Mapping):
        for name, inner in cast("Mapping[str, object]", value).items():
            yield from () if name in paths else _long_texts(inner, paths)
    elif isinstance(value, Sequence):
        for inner in cast("Sequence[object]", value):
            yield from _long_texts(inner, paths)


def _marked(value: object, marker: str, paths: tuple[str, ...]) -> Any:
    if isinstance(value, str):
        return marker if text_tokens(value) > _LONG else value
    if isinstance(value, Mapping):
        inside = cast("Mapping[str, object]", value)
        return {name: inner if name in paths else _marked(inner, marker, paths) for name, inner in inside.items()}
    if isinstance(value, Sequence):
        return [_marked(inner, marker, paths) for inner in cast("Sequence[object]", value)]
    return value
