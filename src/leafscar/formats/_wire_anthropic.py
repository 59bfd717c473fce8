"""Anthropic Messages: messages of a request, a response, and events of a stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.formats._json import as_arguments, as_json_text, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    image_part,
    make_usage,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    without_nothing,
)
from leafscar.formats._wire_chat import tool_message
from leafscar.formats._wire_tree import Item
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["API", "assemble", "message_items", "request_items", "response_items", "usage_of"]

API = "anthropic-messages"
_STOPS = {
    "tool_use": "toolUse",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "error",
}


def request_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """Messages of a request, its system prompt and tools first."""
    head = tool_message(body.get("system") or "", body.get("tools"), format_)
    made = message_items(mappings(body.get("messages")), format_, as_text(body.get("model")), {})
    return [*([] if head is None else [head]), *made]


def message_items(
    messages: Iterable[Mapping[str, Any]], format_: str, model: str | None, names: dict[str, str]
) -> list[Item]:
    """Messages in Anthropic's shape as pi's, results before what else a message says; ``names`` learns the calls'."""
    made: list[Item] = []
    for said in messages:
        if said.get("role") == "assistant":
            made += _assistant(said, format_, names, model)
        else:
            made += _user(said, format_, names)
    return made


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else mappings(content)


def _user(said: Mapping[str, Any], format_: str, names: Mapping[str, str]) -> list[Item]:
    when = milliseconds(said.get("ts"))
    rest: list[dict[str, Any]] = []
    made: list[Item] = []
    for block in _blocks(said.get("content")):
        if block.get("type") == "tool_result":
            made.append(Item(message=_result(block, format_, names, when)))
        else:
            rest += _part(block, format_)
    if rest or not made:
        role = "system" if said.get("role") == "system" else "user"
        content = said["content"] if isinstance(said.get("content"), str) else rest
        made.append(Item(message={"role": role, "content": content, **without_nothing(timestamp=when)}))
    return made


def _result(block: Mapping[str, Any], format_: str, names: Mapping[str, str], when: int | None) -> dict[str, Any]:
    id_ = as_text(block.get("tool_use_id")) or ""
    content = [part for inner in _blocks(block.get("content")) for part in _part(inner, format_)]
    failed = block.get("is_error") is True
    return result_message(id_, names.get(id_, ""), content, is_error=failed, timestamp=when)


def _part(block: Mapping[str, Any], format_: str) -> Iterable[dict[str, Any]]:
    source = fields_of(block.get("source"))
    match block.get("type"):
        case "text":
            return text_parts(block.get("text"))
        case "image" | "document" if source.get("type") != "text":
            named = next((source[name] for name in ("data", "url", "file_id") if name in source), None)
            return [image_part(named, source.get("media_type"))]
        case "document":
            return text_parts(source.get("data"))
        case "search_result" | "tool_reference":
            return text_parts(as_json_text(block, format_))
        case _:
            return [dict(block)]


def _assistant(said: Mapping[str, Any], format_: str, names: dict[str, str], model: str | None) -> list[Item]:
    """A response; what stands before a compaction block in it, or before it at all, is no longer read."""
    made: list[Item] = []
    content: list[dict[str, Any]] = []
    for block in _blocks(said.get("content")):
        if block.get("type") == "compaction":
            made.append(Item(cut={"summary": as_text(block.get("content")) or "", "trigger": "auto"}))
        else:
            content += _spoken(block, format_, names)
    called = any(part.get("type") == "toolCall" for part in content)
    told = fields_of(said.get("modelInfo"))
    message = assistant_message(
        content,
        api=API,
        provider=as_text(told.get("providerId")),
        model=as_text(told.get("modelId")) or model,
        stop="toolUse" if called else "stop",
        timestamp=milliseconds(said.get("ts")),
    )
    return [*made, Item(message=message)]


def _spoken(block: Mapping[str, Any], format_: str, names: dict[str, str]) -> Iterable[dict[str, Any]]:
    match block.get("type"):
        case "thinking":
            return [thinking_part(block.get("thinking"), block.get("signature"))]
        case "redacted_thinking":
            return [thinking_part("", block.get("data"), redacted=True)]
        case "tool_use":
            part = call_part(block.get("id"), block.get("name"), as_arguments(block.get("input")))
            names[part["id"]] = part["name"]
            return [part]
        case _:
            return _part(block, format_)


def usage_of(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage of a response: input is uncached already."""
    split = fields_of(usage.get("cache_creation"))
    return make_usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_write=count(usage.get("cache_creation_input_tokens")),
        cache_write_1h=count(split.get("ephemeral_1h_input_tokens")),
    )


def response_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """The response's message, and the cut that the server made before it; nothing when it holds none."""
    if body.get("role") != "assistant":
        return []
    usage = fields_of(body.get("usage"))
    passes = mappings(usage.get("iterations"))
    cuts = [own for own in passes if own.get("type") == "compaction"]
    answers = [own for own in passes if own.get("type") == "message"]
    *before, last = _assistant(body, format_, {}, as_text(body.get("model")))
    message = last.message or {}
    own = usage_of(answers[-1] if cuts and answers else usage)
    stop = _STOPS.get(as_text(body.get("stop_reason")) or "", "stop")
    stop = "toolUse" if stop == "stop" and message["stopReason"] == "toolUse" else stop
    final = {**message, **without_nothing(usage=own, stopReason=stop)}
    return [*(_paid(item, cuts) for item in before), Item(message=final)]


def _paid(item: Item, cuts: Sequence[Mapping[str, Any]]) -> Item:
    """A cut with what its pass took: its input was the context before."""
    usage = usage_of(cuts[-1]) if cuts else None
    parts = [] if usage is None else [usage.get(name) for name in ("input", "cacheRead", "cacheWrite")]
    before = sum(part or 0 for part in parts) or None
    return Item(cut={**(item.cut or {}), **without_nothing(usage=usage, tokensBefore=before)})


def assemble(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the response that a stream's events add up to; later counts replace earlier ones where they are given."""
    body: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    blocks: dict[str, dict[str, Any]] = {}
    grown: dict[str, dict[str, list[str]]] = {}
    for event in events:
        match event.get("type"):
            case "message_start":
                body = {**fields_of(event.get("message")), **body}
                usage.update(_given(fields_of(event.get("message")).get("usage")))
            case "content_block_start":
                blocks[str(event.get("index"))] = dict(fields_of(event.get("content_block")))
                grown.pop(str(event.get("index")), None)
            case "content_block_delta":
                blocks.setdefault(str(event.get("index")), {})
                _extend(grown.setdefault(str(event.get("index")), {}), fields_of(event.get("delta")))
            case "message_delta":
                body.update(_given(event.get("delta")))
                body.update(_given({"context_management": event.get("context_management")}))
                usage.update(_given(event.get("usage")))
            case "error":
                body["error"] = event.get("error")
            case _:
                pass
    return {**body, "content": [_closed(block, grown.get(at, {})) for at, block in blocks.items()], "usage": usage}


def _given(fields: Any) -> dict[str, Any]:
    return {name: value for name, value in (as_mapping(fields) or {}).items() if value is not None}


_DELTAS = {
    "text_delta": "text",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
    "compaction_delta": "content",
}


def _extend(grown: dict[str, list[str]], delta: Mapping[str, Any]) -> None:
    """Keep a piece as it is: a text that grew piece by piece would be copied as often."""
    kind = as_text(delta.get("type")) or ""
    if kind == "input_json_delta":
        grown.setdefault("json", []).append(as_text(delta.get("partial_json")) or "")
    elif name := _DELTAS.get(kind):
        grown.setdefault(name, []).append(as_text(delta.get(name)) or "")


def _closed(block: Mapping[str, Any], grown: Mapping[str, list[str]]) -> dict[str, Any]:
    texts = {name: "".join([as_text(block.get(name)) or "", *pieces]) for name, pieces in grown.items()}
    whole, text = {**block, **texts}, texts.get("json", "")
    whole.pop("json", None)
    return {**whole, "input": as_arguments(text)} if text else whole
