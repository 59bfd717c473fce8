"""The sources' size rule: UTF-16 units divided by four, rounded up once a message (docs/estimates.md)."""

from __future__ import annotations

from leafscar.model.jsjson import stringify, utf16_length
from leafscar.model.messages import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    Image,
    MessageLike,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    as_message,
    parts_of,
)

__all__ = ["CHARS_PER_IMAGE", "content_chars", "estimate_tokens", "message_chars"]

CHARS_PER_IMAGE = 4800
"""UTF-16 units that one image counts for: 1,200 tokens."""


def estimate_tokens(message: MessageLike) -> int:
    """Tokens of one message: ``ceil(units / 4)``; 0 for roles that are never sent."""
    return -(-message_chars(message) // 4)


def message_chars(message: MessageLike) -> int:
    """UTF-16 units of a message as the sources count them."""
    match as_message(message):
        case User() | ToolResult() | Custom() as it:
            return content_chars(it.content)
        case Assistant() as it:
            return sum(_part_units(part) for part in parts_of(it.content))
        case BashExecution() as it:
            return utf16_length(it.command) + utf16_length(it.output)
        case BranchSummary() | CompactionSummary() as it:
            return utf16_length(it.summary)
        case System() as it:
            return content_chars(it.content) + _system_extras(it)
        case _:
            return 0


def content_chars(content: object) -> int:
    """UTF-16 units of a user-side content: text, and a fixed sum for each image."""
    if isinstance(content, str):
        return utf16_length(content)
    if not isinstance(content, tuple):
        return 0
    return sum(_content_units(part) for part in content)  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _content_units(part: object) -> int:
    match part:
        case Text(text=text):
            return utf16_length(text)
        case Image():
            return CHARS_PER_IMAGE
        case _:
            return 0


def _part_units(part: object) -> int:
    match part:
        case Text(text=text):
            return utf16_length(text)
        case Thinking(thinking=text):
            return utf16_length(text)
        case ToolCall(name=name, arguments=arguments):
            return utf16_length(name) + utf16_length(stringify(arguments))
        case _:
            return 0


def _system_extras(message: System) -> int:
    sections = message.sections
    texts = sections.values() if isinstance(sections, dict) else ()  # pyright: ignore[reportUnknownVariableType, reportUnknownMemberType]
    units = sum(utf16_length(text) for text in texts if isinstance(text, str))  # pyright: ignore[reportUnknownVariableType]
    return units + (0 if message.tools_added is None else utf16_length(stringify(message.tools_added)))
