"""OpenAI Responses: items of a request, a response, and events of a stream."""

from __future__ import annotations

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
from leafscar.formats._wire_chat import tool_message
from leafscar.formats._wire_tree import Item
from leafscar.model.shapes import as_list, as_text

__all__ = ["API", "assemble", "request_items", "response_items", "usage_of"]

API = "openai-responses"
_FINAL = ("response.completed", "response.incomplete", "response.failed")
_CALLS = ("function_call", "custom_tool_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")


def request_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """Items of a request, its instructions and tools first."""
    head = tool_message(as_text(body.get("instructions")) or "", body.get("tools"), format_)
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else mappings(given)
    made = _Items(format_, as_text(body.get("model"))).read(items)
    return [*([] if head is None else [head]), *made]


class _Items:
    """Turns items into messages: what the model gave without a result between is one response."""

    def __init__(self, format_: str, model: str | None) -> None:
        self._format = format_
        self._model = model
        self._names: dict[str, str] = {}
        self._said: list[dict[str, Any]] = []
        self._open = False
        self._made: list[Item] = []

    def read(self, items: Iterable[Mapping[str, Any]]) -> list[Item]:
        for item in items:
            self._item(item)
        self._close()
        return self._made

    def _item(self, item: Mapping[str, Any]) -> None:
        kind = as_text(item.get("type")) or "message"
        if kind in _RESULTS:
            self._close()
            self._made.append(Item(message=self._result(item)))
        elif kind in ("compaction", "compaction_summary"):
            self._close()
            cut = {"summary": "", **without_nothing(encrypted=item.get("encrypted_content"))}
            alone = all(made.role == "user" for made in self._made)
            self._made.append(Item(cut=cut, keeps_before=alone))
        elif kind == "additional_tools":
            self._close()
            added = tool_message("", item.get("tools"), self._format)
            self._made += [] if added is None else [added]
        elif kind == "message" and item.get("role") != "assistant":
            self._close()
            self._made.append(Item(message=self._told(item)))
        else:
            self._open = True
            self._said += self._spoken(item, kind)

    def _close(self) -> None:
        if not self._open:
            return
        called = any(part.get("type") == "toolCall" for part in self._said)
        stop = "toolUse" if called else "stop"
        self._made.append(Item(message=assistant_message(self._said, api=API, model=self._model, stop=stop)))
        self._said, self._open = [], False

    def _told(self, item: Mapping[str, Any]) -> dict[str, Any]:
        role = "system" if item.get("role") in ("system", "developer") else "user"
        content = item.get("content")
        return {"role": role, "content": content if isinstance(content, str) else self._content(content)}

    def _content(self, content: Any) -> list[dict[str, Any]]:
        if isinstance(content, str):
            return text_parts(content)
        return [part for item in mappings(content) for part in self._part(item)]

    def _part(self, part: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
        match part.get("type"):
            case "input_image":
                return [data_url(first_text(part.get("image_url"), part.get("file_id")))]
            case "input_file":
                named = first_text(part.get("file_data"), part.get("file_url"), part.get("file_id"))
                return [image_part(named, "application/octet-stream")]
            case _:
                said = first_text(part.get("text"), part.get("refusal"))
                return text_parts(said if said is not None or "text" in part else as_json_text(part, self._format))

    def _spoken(self, item: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
        if kind == "message":
            return self._content(item.get("content"))
        if kind == "reasoning":
            texts = [part.get("text") for name in ("summary", "content") for part in mappings(item.get(name))]
            text = "\n\n".join(text for text in texts if isinstance(text, str))
            return [thinking_part(text, item.get("encrypted_content"))]
        if kind in _CALLS:
            return [self._call(item, kind)]
        return [dict(item)]

    def _call(self, item: Mapping[str, Any], kind: str) -> dict[str, Any]:
        """A call; ids that a client joined from two are split."""
        free = kind == "custom_tool_call"
        arguments = as_text(item.get("input")) or "" if free else as_arguments(item.get("arguments"))
        id_ = _call_id(first_text(item.get("call_id"), item.get("id")))
        self._names[id_] = as_text(item.get("name")) or ""
        return call_part(id_, item.get("name"), arguments)

    def _result(self, item: Mapping[str, Any]) -> dict[str, Any]:
        id_ = _call_id(as_text(item.get("call_id")))
        output = item.get("output")
        content = self._content(output if as_list(output) is not None else as_json_text(output or "", self._format))
        return result_message(id_, self._names.get(id_, ""), content)


def _call_id(value: str | None) -> str:
    return (value or "").partition("|")[0]


def usage_of(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage of a response: the input count includes the cache, the output count the reasoning."""
    details = fields_of(usage.get("input_tokens_details"))
    read, write = count(details.get("cached_tokens")), count(details.get("cache_write_tokens"))
    return make_usage(
        input=uncached(count(usage.get("input_tokens")), read, write),
        output=count(usage.get("output_tokens")),
        cache_read=read,
        cache_write=write,
    )


def response_items(body: Mapping[str, Any], format_: str) -> list[Item]:
    """The response's message and the cut behind it; of a compaction request only the cut, with its usage."""
    output, usage = mappings(body.get("output")), usage_of(fields_of(body.get("usage")))
    if body.get("object") == "response.compaction":
        before = count(fields_of(body.get("usage")).get("input_tokens"))
        return [Item(cut={"summary": "", **without_nothing(usage=usage, tokensBefore=before)})]
    if as_list(body.get("output")) is None:
        return []
    made = _Items(format_, as_text(body.get("model"))).read(output)
    at = next((at for at, item in enumerate(made) if item.role == "assistant"), None)
    answer = {} if at is None else made[at].message or {}
    final = Item(message=_finished(answer or assistant_message([], api=API, stop="stop"), body, usage))
    return [final, *made] if at is None else [*made[:at], final, *made[at + 1 :]]


def _finished(message: Mapping[str, Any], body: Mapping[str, Any], usage: Mapping[str, Any] | None) -> dict[str, Any]:
    stops = {"incomplete": "length", "failed": "error", "cancelled": "aborted"}
    stop = stops.get(as_text(body.get("status")) or "", message["stopReason"])
    error = first_text(fields_of(body.get("error")).get("message"))
    when, model = milliseconds(body.get("created_at")), as_text(body.get("model"))
    known = without_nothing(usage=usage, errorMessage=error, timestamp=when, model=model)
    return {**message, "stopReason": stop, **known}


def assemble(events: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Give the response that a stream ends with; one that was cut off is made of its finished items."""
    final = next((event for event in reversed(events) if event.get("type") in _FINAL), None)
    done = [event.get("item") for event in events if event.get("type") == "response.output_item.done"]
    if final is not None:
        body = fields_of(final.get("response"))
        return {**body, "output": body.get("output") or done}
    created = fields_of(next((event for event in events if event.get("type") == "response.created"), None))
    failed = next((event for event in events if event.get("type") == "error"), None)
    ended = {} if failed is None else {"status": "failed", "error": failed.get("error", failed)}
    return {**fields_of(created.get("response")), "output": done, "status": "incomplete", **ended}
