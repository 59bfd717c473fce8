"""Where pi's JavaScript throws on malformed messages, and in which words.

leafscar reads such messages leniently; a comparison with pi has to know what V8 says about them instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.estimate import estimate_context, estimate_tokens
from leafscar.estimate.chars import message_chars

__all__ = ["Crash", "JsError", "check_estimate", "check_serialize", "is_anchor", "js_tokens"]

_ABSENT = object()


class JsError(Exception):
    """A TypeError of V8; the message is its words."""

    def __str__(self) -> str:
        return f"TypeError: {self.args[0]}"


class Crash(Exception):
    """pi throws where nothing catches it: there is no document to compare."""


def js_tokens(message: Mapping[str, Any], engine: str, version: str) -> int:
    """Tokens of a raw message as pi counts them; raises :class:`JsError` where pi throws."""
    match message.get("role"):
        case "user" | "custom" | "toolResult":
            _check_content(message.get("content"))
        case "system" if version == "1.3.0":
            _check_content(message.get("content"))
        case "system":
            return 0
        case "assistant":
            return _assistant_tokens(message, engine)
        case "bashExecution":
            _length(message.get("command", _ABSENT))
            _length(message.get("output", _ABSENT))
        case "branchSummary" | "compactionSummary":
            _length(message.get("summary", _ABSENT))
        case _:
            pass
    return estimate_tokens(message)


def check_estimate(messages: Iterable[Mapping[str, Any]], engine: str, version: str) -> None:
    """Raise what pi's context estimate would: it counts what follows the last anchor, oldest first."""
    trailing: list[Mapping[str, Any]] = []
    for message in messages:
        trailing = [] if is_anchor(message) else [*trailing, message]
    for message in trailing:
        js_tokens(message, engine, version)


def is_anchor(message: Mapping[str, Any]) -> bool:
    """Whether pi's estimate rests on this message."""
    return estimate_context([message]).last_usage_index is not None


def check_serialize(messages: Iterable[Mapping[str, Any]]) -> None:
    """Raise what pi's serializer would on model messages."""
    for message in messages:
        content = message.get("content", _ABSENT)
        match message.get("role"):
            case "user" | "toolResult":
                _check_filter(content)
            case "assistant":
                _check_assistant(content)
            case _:
                pass


def _check_content(content: Any) -> None:
    if isinstance(content, str):
        return
    if not isinstance(content, list):
        raise JsError("content is not iterable")
    _check_parts(content)


def _check_parts(parts: list[Any]) -> None:
    if None in parts:
        raise JsError("Cannot read properties of null (reading 'type')")


def _length(value: Any) -> int:
    if value is _ABSENT or value is None:
        raise JsError(f"Cannot read properties of {'null' if value is None else 'undefined'} (reading 'length')")
    return 0


def _assistant_tokens(message: Mapping[str, Any], engine: str) -> int:
    content = message.get("content")
    if isinstance(content, str):
        return 0
    if not isinstance(content, list):
        raise JsError("assistant.content is not iterable")
    extra = 0
    for part in content:
        extra += _check_part(part, engine)
    return -(-(message_chars(message) + extra) // 4)


def _check_part(part: Any, engine: str) -> int:
    """Raise for a malformed part; else what pi counts more for it than leafscar."""
    if part is None:
        _check_parts([part])
    match part.get("type") if isinstance(part, Mapping) else None:
        case "text" | "thinking" as kind:
            _length(part.get(kind, _ABSENT))
        case "toolCall":
            _length(part.get("name", _ABSENT))
            if "arguments" not in part and engine == "agent-core":
                return len("undefined") - len("{}")
            if "arguments" not in part:
                _length(_ABSENT)
        case _:
            pass
    return 0


def _check_filter(content: Any) -> None:
    if isinstance(content, str):
        return
    if content is None or content is _ABSENT:
        raise JsError(f"Cannot read properties of {'null' if content is None else 'undefined'} (reading 'filter')")
    if not isinstance(content, list):
        raise JsError("content.filter is not a function")
    _check_parts(content)


def _check_assistant(content: Any) -> None:
    if isinstance(content, str):
        raise JsError("msg.content.some is not a function")
    if not isinstance(content, list):
        raise JsError("msg.content is not iterable")
    for part in content:
        _check_parts([part])
        if isinstance(part, Mapping) and part.get("type") == "toolCall" and part.get("arguments") is None:
            raise JsError("Cannot convert undefined or null to object")
