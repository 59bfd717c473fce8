"""Gemini generateContent: contents of a request, a response, and chunks of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.formats._gemini_chat import API, content_parts
from leafscar.formats._json import as_json_text, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    first_text,
    make_usage,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    uncached,
    without_nothing,
)
from leafscar.formats._wire_chat import tool_message
from leafscar.formats._wire_tree import Item
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["API", "assemble", "request_items", "response_items"]

_STOPS = {"STOP": "stop", "MAX_TOKENS": "length"}
_KEPT = ("modelVersion", "responseId", "createTime", "usageMetadata", "promptFeedback")


def request_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """Messages of a request, or of a list of contents."""
    given = body.get("systemInstruction", body.get("system_instruction"))
    system = given if isinstance(given, str) else _text(fields_of(given).get("parts"))
    opening = tool_message(system, list(_declared(body.get("tools"))), format_)
    conversation = _Conversation(format_)
    said = [item for content in mappings(body.get("contents")) for item in conversation.items(content)]
    return said if opening is None else [opening, *said]


def _declared(tools: Any) -> Iterable[Mapping[str, Any]]:
    """Functions under their names; a tool of Gemini's own goes by its field's."""
    for tool in mappings(tools):
        for name, held in tool.items():
            if name in ("functionDeclarations", "function_declarations"):
                yield from mappings(held)
            else:
                yield {"name": name, **fields_of(held)}


def _text(parts: Any) -> str:
    return "\n\n".join(text for part in mappings(parts) if (text := first_text(part.get("text"))))


class _Conversation:
    """Turns contents into pi's messages, and pairs results with calls: by id, else by name in their order."""

    def __init__(self, format_: str) -> None:
        self._format = format_
        self._open: dict[str, str] = {}  # calls without a result, with their names, oldest first
        self._number = 0

    def items(self, content: Mapping[str, Any], **fields: Any) -> list[Item]:
        """Give the messages of one content."""
        self._number += 1
        parts = mappings(content.get("parts"))
        if content.get("role") == "model":
            return [Item(message=self._spoken(parts, fields))]
        answers = [answer for part in parts if (answer := as_mapping(part.get("functionResponse"))) is not None]
        results = [Item(message=self._result(answer)) for answer in answers]
        told = content_parts([part for part in parts if "functionResponse" not in part])
        return [*results, *([Item(message={"role": "user", "content": told})] if told or not results else [])]

    def _spoken(self, parts: Sequence[Mapping[str, Any]], fields: Mapping[str, Any]) -> dict[str, Any]:
        made: list[dict[str, Any]] = []
        for at, part in enumerate(parts, start=1):
            call = as_mapping(part.get("functionCall"))
            made += content_parts([part]) if call is None else [self._call(call, part, at)]
        called = any(part.get("type") == "toolCall" for part in made)
        return assistant_message(made, api=API, stop="toolUse" if called else "stop", **fields)

    def _call(self, call: Mapping[str, Any], part: Mapping[str, Any], at: int) -> dict[str, Any]:
        id_ = first_text(call.get("id")) or f"call-{self._number}-{at}"
        self._open[id_] = as_text(call.get("name")) or ""
        signature = first_text(part.get("thoughtSignature"))
        return {
            **call_part(id_, call.get("name"), call.get("args") or {}),
            **without_nothing(thoughtSignature=signature),
        }

    def _result(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        name = as_text(answer.get("name")) or ""
        same = (id_ for id_, called in self._open.items() if called == name)
        stated = first_text(answer.get("id"))
        id_ = stated if stated in self._open else next(same, next(iter(self._open), stated))
        self._open.pop(id_ or "", None)
        response = answer.get("response")
        fields = fields_of(response)
        failed = "error" in fields
        said = next((fields[key] for key in ("output", "error") if key in fields and len(fields) == 1), response)
        content = [*text_parts(as_json_text(said, self._format)), *content_parts(answer.get("parts"))]
        return result_message(id_ or "", name, content, is_error=failed)


def response_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """The response's message; nothing when it holds none."""
    candidate = as_mapping(next(iter(as_list(body.get("candidates")) or ()), None))
    if candidate is None:
        return []
    content = {"parts": fields_of(candidate.get("content")).get("parts"), "role": "model"}
    fields = without_nothing(
        model=first_text(body.get("modelVersion")),
        usage=_usage(fields_of(body.get("usageMetadata"))),
        timestamp=milliseconds(body.get("createTime")),
    )
    (item,) = _Conversation(format_).items(content, **fields)
    made = fields_of(item.message)
    reason = as_text(candidate.get("finishReason")) or "STOP"
    stop = made["stopReason"] if reason == "STOP" else _STOPS.get(reason, "error")
    return [Item(message={**made, "stopReason": stop})]


def _usage(told: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage of a response: the prompt count holds the cached part, but not what tools put in; thoughts are output."""
    prompt, cached = count(told.get("promptTokenCount")), count(told.get("cachedContentTokenCount"))
    output, thoughts = count(told.get("candidatesTokenCount")), count(told.get("thoughtsTokenCount"))
    fresh = uncached(prompt, cached)
    return make_usage(
        input=None if fresh is None else fresh + (count(told.get("toolUsePromptTokenCount")) or 0),
        output=None if prompt is None else (output or 0) + (thoughts or 0),
        cache_read=None if prompt is None else cached or 0,
    )


def assemble(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the response that a stream's chunks add up to; of counts the last chunk's are right."""
    body: dict[str, Any] = {}
    parts: list[dict[str, Any]] = []
    reason: str | None = None
    for chunk in chunks:
        body.update({key: chunk[key] for key in _KEPT if chunk.get(key)})
        candidate = fields_of(next(iter(mappings(chunk.get("candidates"))), None))
        reason = as_text(candidate.get("finishReason")) or reason
        for part in mappings(fields_of(candidate.get("content")).get("parts")):
            _extend(parts, part)
    return {**body, "candidates": [{"content": {"parts": parts}, "finishReason": reason}]}


def _extend(parts: list[dict[str, Any]], part: Mapping[str, Any]) -> None:
    """Add a piece: text goes on where the part before is text of the same kind."""
    last = parts[-1] if parts else {}
    text, before = as_text(part.get("text")), as_text(last.get("text"))
    if text is None or before is None or last.get("thought") != part.get("thought"):
        parts.append(dict(part))
    else:
        parts[-1] = {**last, **part, "text": before + text}
