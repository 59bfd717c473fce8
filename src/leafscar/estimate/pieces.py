"""What of a message an estimate measures: its texts, and how many images it holds (docs/estimates.md)."""

from __future__ import annotations

from typing import NamedTuple

from leafscar.model.jsjson import stringify
from leafscar.model.messages import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Content,
    Custom,
    Image,
    MessageLike,
    Part,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
    as_message,
    parts_of,
)
from leafscar.model.shapes import as_mapping

__all__ = ["Pieces", "pieces_of"]


class Pieces(NamedTuple):
    """The measured parts of one message."""

    texts: list[str]
    """Texts in order; the arguments of a tool call as compact JSON."""
    images: int = 0
    """Number of image parts."""


def pieces_of(message: MessageLike) -> Pieces:
    """Give what of a message is measured; nothing for roles that are never sent."""
    match as_message(message):
        case User() | ToolResult() | Custom() as it:
            return _user_pieces(it.content)
        case Assistant() as it:
            return Pieces([text for part in parts_of(it.content) for text in _assistant_texts(part)])
        case BashExecution() as it:
            return Pieces([it.command, it.output])
        case BranchSummary() | CompactionSummary() as it:
            return Pieces([it.summary])
        case System() as it:
            texts, images = _user_pieces(it.content)
            return Pieces([*texts, *_system_texts(it)], images)
        case _:
            return Pieces([])


def _user_pieces(content: Content) -> Pieces:
    texts: list[str] = []
    images = 0
    for part in parts_of(content):
        if isinstance(part, Text):
            texts.append(part.text)
        elif isinstance(part, Image):
            images += 1
    return Pieces(texts, images)


def _assistant_texts(part: Part) -> tuple[str, ...]:
    match part:
        case Text(text=text) | Thinking(thinking=text):
            return (text,)
        case ToolCall(name=name, arguments=arguments):
            return (name, stringify(arguments))
        case _:
            return ()


def _system_texts(message: System) -> list[str]:
    sections = as_mapping(message.sections) or {}
    texts = [text for text in sections.values() if isinstance(text, str)]
    return texts if message.tools_added is None else [*texts, stringify(message.tools_added)]
