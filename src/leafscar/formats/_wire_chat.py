"""OpenAI Chat Completions: messages of a request, a response, and chunks of a stream."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.formats._json import as_arguments, as_json_text, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    count,
    data_url,
    first_text,
    image_part,
    make_usage,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    uncached,
    without_nothing,
)
from leafscar.formats._wire_tree import Item
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["API", "Conversation", "assemble", "request_items", "response_items", "tool_message", "usage_of"]

API = "openai-completions"
_STOPS = {"stop": "stop", "length": "length", "tool_calls": "toolUse", "function_call": "toolUse"}
_REASONING = ("reasoning_content", "reasoning", "thinking")


def tool_message(text: Any, tools: Any, format_: str) -> Item | None:
    """System message of a request: its text, and its tools under the names that a model knows them by."""
    declared = [{**tool, **fields_of(tool.get("function"))} for tool in mappings(tools)]
    content = text if isinstance(text, str) else _texts(text, format_)
    if not content and not declared:
        return None
    return Item(message={"role": "system", "content": content, **without_nothing(toolsAdded=declared or None)})


def _texts(content: Any, format_: str) -> list[dict[str, Any]]:
    return [part for item in mappings(content) for part in _part(item, format_)]


def request_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """Messages of a request, or of a log in its shape."""
    tools = tool_message("", body.get("tools"), format_)
    conversation = Conversation(format_, as_text(body.get("model")))
    made = [tools, *map(conversation.item, mappings(body.get("messages")))]
    return [item for item in made if item is not None]


class Conversation:
    """Turns messages into pi's one after another, and pairs results with calls where ids are missing."""

    def __init__(self, format_: str, model: str | None = None) -> None:
        self._format = format_
        self._model = model
        self._names: dict[str, str] = {}
        self._open: OrderedDict[str, None] = OrderedDict()  # calls without a result, the oldest first
        self._number = 0

    def item(self, said: Mapping[str, Any]) -> Item | None:
        """Give the next message; None when it is of no known role."""
        self._number += 1
        when = _when(said)
        match said.get("role"):
            case "assistant" | "model":
                return Item(message=self._assistant(said, when))
            case "tool" | "function":
                return Item(message=self._result(said, when))
            case "system" | "developer":
                return Item(message={"role": "system", "content": self._told(said)})
            case "user" | "human":
                return Item(message={"role": "user", "content": self._told(said), **without_nothing(timestamp=when)})
            case _:
                return None

    def _told(self, said: Mapping[str, Any]) -> Any:
        content = said.get("content")
        return content if isinstance(content, str) else self._content(content)

    def _content(self, content: Any) -> list[dict[str, Any]]:
        return text_parts(content) if isinstance(content, str) else _texts(content, self._format)

    def _assistant(self, said: Mapping[str, Any], when: int | None) -> dict[str, Any]:
        calls = [*_calls(said), *_block_calls(said)]
        parts = [self._call(call, at) for at, call in enumerate(calls, start=1)]
        return assistant_message(
            [*_thinking(said), *self._content(said.get("content")), *text_parts(said.get("refusal")), *parts],
            api=API,
            model=first_text(said.get("model"), self._model),
            usage=usage_of(fields_of(said.get("usage"))),
            stop="toolUse" if parts else "stop",
            timestamp=when,
        )

    def _call(self, call: Mapping[str, Any], at: int) -> dict[str, Any]:
        function = fields_of(call.get("function")) or fields_of(call.get("custom")) or call
        id_ = first_text(call.get("id"), call.get("tool_call_id")) or f"call-{self._number}-{at}"
        name = as_text(function.get("name")) or ""
        self._names[id_] = name
        self._open[id_] = None
        given = function.get("arguments", function.get("input"))
        return call_part(id_, name, given if function is call.get("custom") else as_arguments(given))

    def _result(self, said: Mapping[str, Any], when: int | None) -> dict[str, Any]:
        """A result without a known id answers the oldest call that is still open."""
        id_ = as_text(said.get("tool_call_id")) or ""
        if id_ not in self._names and self._open:
            id_ = next(iter(self._open))
        self._open.pop(id_, None)
        name = first_text(self._names.get(id_), said.get("name")) or ""
        failed = said.get("is_error") is True
        return result_message(id_, name, self._content(said.get("content")), is_error=failed, timestamp=when)


def _when(said: Mapping[str, Any]) -> int | None:
    told = (said.get("timestamp"), fields_of(said.get("_metadata")).get("timestamp"), said.get("ts"))
    return next((when for value in told if (when := milliseconds(value)) is not None), None)


def _calls(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    old = as_mapping(said.get("function_call"))
    return [*mappings(said.get("tool_calls")), *([] if old is None else [{"function": old}])]


def _block_calls(said: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Calls that a converted log holds as blocks; most repeat what stands in ``tool_calls``."""
    known = {as_text(call.get("id")) for call in mappings(said.get("tool_calls"))}
    blocks = (block for block in mappings(said.get("content")) if block.get("type") == "tool_call")
    return [block for block in blocks if first_text(block.get("tool_call_id"), block.get("id")) not in known]


def _thinking(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    details = [item for item in mappings(said.get("reasoning_details")) if first_text(item.get("text"))]
    if details:
        return [thinking_part(item.get("text"), item.get("signature")) for item in details]
    text = first_text(*(said.get(name) for name in _REASONING))
    return [thinking_part(text)] if text else []


def _part(part: Mapping[str, Any], format_: str) -> Iterable[dict[str, Any]]:
    match part.get("type"):
        case "tool_call":
            return ()
        case "image_url":
            image = part.get("image_url")
            return [data_url(fields_of(image).get("url", image))]
        case "input_audio" | "file" as kind:
            held = fields_of(part.get(kind))
            return [image_part(first_text(held.get("data"), held.get("file_data"), held.get("file_id")), kind)]
        case "thinking":
            return [thinking_part(part.get("thinking"), part.get("signature"))]
        case _:
            said = first_text(part.get("text"), part.get("refusal"), part.get("output"), part.get("content"))
            return text_parts(said if said is not None or "text" in part else as_json_text(part, format_))


def usage_of(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage of a response: the prompt count includes the cache; what the total holds beyond both sides is output."""
    details = fields_of(usage.get("prompt_tokens_details"))
    prompt, output, total = (count(usage.get(f"{name}_tokens")) for name in ("prompt", "completion", "total"))
    read = count(details.get("cached_tokens", usage.get("prompt_cache_hit_tokens")))
    write = count(details.get("cache_write_tokens"))
    if None not in (prompt, output, total):
        output = max(output or 0, (total or 0) - (prompt or 0))
    return make_usage(input=uncached(prompt, read, write), output=output, cache_read=read, cache_write=write)


def response_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """The response's message; nothing when it holds none."""
    choice = as_mapping(next(iter(as_list(body.get("choices")) or ()), None))
    if choice is None:
        return []
    said = {**fields_of(choice.get("message")), "role": "assistant", "usage": body.get("usage")}
    item = Conversation(format_, as_text(body.get("model"))).item(said)
    made = fields_of(None if item is None else item.message)
    reason = as_text(choice.get("finish_reason"))
    stop = made["stopReason"] if made["stopReason"] == "toolUse" else _STOPS.get(reason or "stop", "error")
    return [Item(message={**made, "stopReason": stop, **without_nothing(timestamp=milliseconds(body.get("created")))})]


def assemble(chunks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the response that a stream's chunks add up to."""
    said: dict[str, list[str]] = {"content": []}
    calls: dict[str, dict[str, list[str]]] = {}
    body: dict[str, Any] = {}
    finish: str | None = None
    for chunk in chunks:
        body.update({key: chunk[key] for key in ("id", "model", "created", "usage") if chunk.get(key)})
        choice = fields_of(next(iter(mappings(chunk.get("choices"))), None))
        finish = as_text(choice.get("finish_reason")) or finish
        delta = fields_of(choice.get("delta"))
        for name in ("content", *_REASONING):
            said.setdefault(name, []).append(as_text(delta.get(name)) or "")
        for piece in mappings(delta.get("tool_calls")):
            _extend(calls.setdefault(str(piece.get("index", 0)), {"id": [], "name": [], "arguments": []}), piece)
    message = {**{name: "".join(texts) for name, texts in said.items()}, "tool_calls": [*map(_joined, calls.values())]}
    return {**body, "choices": [{"message": message, "finish_reason": finish}]}


def _extend(call: dict[str, list[str]], piece: Mapping[str, Any]) -> None:
    """Keep a piece as it is: a text that grew piece by piece would be copied as often."""
    function = fields_of(piece.get("function"))
    call["id"] = [first_text(piece.get("id")) or "".join(call["id"])]
    for name in ("name", "arguments"):
        call[name].append(as_text(function.get(name)) or "")


def _joined(call: Mapping[str, list[str]]) -> dict[str, Any]:
    id_, name, arguments = ("".join(call[part]) for part in ("id", "name", "arguments"))
    return {"function": {"name": name, "arguments": arguments}, **without_nothing(id=id_ or None)}
