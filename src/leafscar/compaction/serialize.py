"""The conversation as one text, so that a summariser reads it instead of going on with it (docs/compaction.md)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from leafscar.compaction.convert import to_model_messages
from leafscar.compaction.prompts import OWN, Texts
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.model import Assistant, Message, MessageLike, Text, Thinking, ToolCall, ToolResult, User, as_message
from leafscar.model.jsjson import key_order, stringify, utf16_length, utf16_prefix
from leafscar.model.messages import parts_of, text_of
from leafscar.model.shapes import as_list, as_mapping

__all__ = ["RESULT_UNITS", "blocks", "clip", "serialize"]

RESULT_UNITS = 2000
"""UTF-16 units of a tool result that a summariser reads."""


def serialize(messages: Sequence[MessageLike], *, texts: Texts = OWN, rules: Rules = DEFAULT) -> str:
    """Write messages as labelled blocks with a blank line between them; images and empty texts leave none."""
    return "\n\n".join(blocks(messages, texts=texts, rules=rules))


def blocks(messages: Sequence[MessageLike], *, texts: Texts = OWN, rules: Rules = DEFAULT) -> list[str]:
    """Give the blocks of :func:`serialize` one by one."""
    converted = to_model_messages(messages, texts=texts, rules=rules)
    return [block for message in converted for block in _blocks(as_message(message), rules)]


def clip(text: str, units: int) -> str:
    """Hold ``text`` to its first ``units`` UTF-16 units and say how many more there were."""
    more = utf16_length(text) - units
    return text if more <= 0 else f"{utf16_prefix(text, units)}\n\n[... {more} more characters truncated]"


def _blocks(message: Message, rules: Rules) -> Iterator[str]:
    match message:
        case User():
            text = text_of(message.content, joiner="")
            if text:
                yield f"[User]: {text}"
        case ToolResult():
            text = text_of(message.content, joiner="")
            if text:
                yield f"[Tool result]: {clip(text, RESULT_UNITS)}"
        case Assistant():
            yield from _assistant(message, rules)
        case _:
            return


def _assistant(message: Assistant, rules: Rules) -> Iterator[str]:
    parts = parts_of(message.content)
    thinking = [part.thinking for part in parts if isinstance(part, Thinking)]
    texts = [part.text for part in parts if isinstance(part, Text)]
    calls = [_call(part) for part in parts if isinstance(part, ToolCall)]
    if thinking and rules.serialize_thinking:
        yield "[Assistant thinking]: " + "\n".join(thinking)
    if texts:
        yield "[Assistant]: " + "\n".join(texts)
    if calls:
        yield "[Assistant tool calls]: " + "; ".join(calls)


def _call(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{name}={stringify(value)}' for name, value in _arguments(call.arguments))})"


def _arguments(arguments: Any) -> list[tuple[str, Any]]:
    """Pairs in JavaScript's order: integer-like names first."""
    fields = as_mapping(arguments)
    if fields is not None:
        return [(name, fields[name]) for name in key_order(fields)]
    return [(str(index), item) for index, item in enumerate(as_list(arguments) or ())]
