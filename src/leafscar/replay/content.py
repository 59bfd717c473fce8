"""What a message consists of, by class of content and tool (docs/replay.md)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from leafscar.estimate.chars import CHARS_PER_IMAGE, message_chars
from leafscar.model import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    Message,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    User,
)
from leafscar.model.jsjson import stringify, utf16_length
from leafscar.model.messages import Content, Image, Part, parts_of
from leafscar.replay.details import Kind

__all__ = ["OVERHEAD", "Label", "labels_of", "output_labels"]

_OPENING, _CLOSING = "<system-reminder>", "</system-reminder>"


class Label(NamedTuple):
    """A class of content."""

    kind: Kind
    tool: str | None = None


OVERHEAD = Label("overhead")
_BY_USER = "bash (by the user)"

_Piece = tuple[Label, int]


def labels_of(message: Message) -> Mapping[Label, int]:
    """Weigh the classes of content in ``message``, in UTF-16 units; empty for what no request holds as text."""
    weights: defaultdict[Label, int] = defaultdict(int)
    for label, weight in _pieces(message):
        if weight:
            weights[label] += weight
    return weights


def output_labels(message: Assistant, output: float, k: float) -> Mapping[Label, float]:
    """Share ``output`` billed tokens out among what a response holds; ``k`` is tokens for each four units.

    What its words do not account for is thinking, where the response thought: hosts keep a part of it, or nothing.
    """
    weights = labels_of(message)
    thought = any(isinstance(part, Thinking) for part in parts_of(message.content))
    words = sum(weight for label, weight in weights.items() if label.kind != "thinking") * k / 4
    if thought and words <= output:
        spoken = {label: weight * k / 4 for label, weight in weights.items() if label.kind != "thinking"}
        return {**spoken, Label("thinking"): output - words}
    whole = sum(weights.values())
    if not whole:
        return {Label("text"): output}
    return {label: output * weight / whole for label, weight in weights.items()}


def _pieces(message: Message) -> Iterable[_Piece]:
    match message:
        case User():
            yield from _said(message.content, Label("user"))
        case ToolResult():
            yield from _said(message.content, Label("results", message.tool_name))
        case Custom():
            yield from (_plain(part, Label("injected")) for part in parts_of(message.content))
        case Assistant():
            yield from map(_answered, parts_of(message.content))
        case BashExecution():
            yield Label("results", _BY_USER), message_chars(message)
        case BranchSummary() | CompactionSummary():
            yield Label("summaries"), message_chars(message)
        case System():
            yield OVERHEAD, message_chars(message)
        case _:
            pass


def _said(content: Content, label: Label) -> Iterable[_Piece]:
    """A user message or a result; reminders that a host wraps in tags are the host's words."""
    for part in parts_of(content):
        injected = _injected(part.text) if isinstance(part, Text) else 0
        kind, units = _plain(part, label)
        yield kind, units - injected
        yield Label("injected"), injected


def _injected(text: str) -> int:
    """UTF-16 units of the reminders in a text, in one pass."""
    units = end = 0
    while (start := text.find(_OPENING, end)) >= 0 and (close := text.find(_CLOSING, start)) >= 0:
        end = close + len(_CLOSING)
        units += utf16_length(text[start:end])
    return units


def _plain(part: Part, label: Label) -> _Piece:
    if isinstance(part, Image):
        return Label("images"), CHARS_PER_IMAGE
    return label, utf16_length(part.text) if isinstance(part, Text) else 0


def _answered(part: Part) -> _Piece:
    match part:
        case Thinking():
            return Label("thinking"), utf16_length(part.thinking)
        case ToolCall():
            return Label("arguments", part.name), utf16_length(part.name) + utf16_length(stringify(part.arguments))
        case Text():
            return Label("text"), utf16_length(part.text)
        case _:
            return Label("text"), 0
