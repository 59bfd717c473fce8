"""Events of OpenHands from version 1 on: each names its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar.formats._cuts import Timeline
from leafscar.formats._json import Record, as_arguments, as_json_text, fields_of
from leafscar.formats._openhands_usage import FORMAT, Metrics, key_of, model_names
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    data_url,
    first_text,
    mappings,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    without_nothing,
)
from leafscar.model.shapes import as_list, as_text

__all__ = ["EventsV1", "is_v1"]

_SILENT = ("PauseEvent", "TokenEvent", "ConversationStateUpdateEvent", "CondensationRequest", "StreamingDeltaEvent")
_RESULTS = ("ObservationEvent", "UserRejectObservation", "AgentErrorEvent")


def is_v1(event: Mapping[str, Any]) -> bool:
    """Whether an event names a kind of version 1."""
    return isinstance(event.get("kind"), str)


class EventsV1:
    """Turns events into entries. Actions of one response are one message, their results follow it."""

    def __init__(
        self, timeline: Timeline, metrics: Metrics, records: Sequence[Record], model: str | None = None
    ) -> None:
        self.timeline = timeline
        self._metrics = metrics
        self._records = records
        self._model = model_names(model)
        self._batches: dict[str, list[Record]] = {}
        self._calls: dict[str, tuple[str, str]] = {}  # id and name of the call of an action

    def read(self) -> None:
        """Read all events in order."""
        for record in self._records:
            if record.fields.get("kind") == "ActionEvent":
                self._batches.setdefault(_batch(record.fields), []).append(record)
            self._learn(fields_of(record.fields.get("value")))
        for record in self._records:
            self._event(record)

    def _learn(self, value: Mapping[str, Any]) -> None:
        """A change of the state may carry the counts of all responses so far."""
        for holder in (value, fields_of(value.get("stats"))):
            for metrics in fields_of(holder.get("usage_to_metrics")).values():
                self._metrics.learn(fields_of(metrics))

    def _event(self, record: Record) -> None:
        kind = as_text(record.fields.get("kind")) or ""
        match kind:
            case "SystemPromptEvent":
                self._system(record)
            case "MessageEvent":
                self._message(record)
            case "ActionEvent":
                self._action(record)
            case "Condensation":
                self._condensation(record)
            case _ if kind in _RESULTS:
                self._result(record, kind)
            case _ if kind not in _SILENT:
                self._put(record, "custom", {"customType": f"{FORMAT}.{kind or 'event'}"})
            case _:
                pass

    def _put(self, record: Record, kind: str, fields: Mapping[str, Any], own: Iterable[str] = ()) -> None:
        key = key_of(record.fields.get("id"))
        id_ = key or f"e{len(self.timeline.builder.entries)}"
        when = as_text(record.fields.get("timestamp"))
        raw = record.raw or None
        self.timeline.put(kind, fields, id_, when, own or (key,), line=record.line, raw=raw)

    def _system(self, record: Record) -> None:
        fields = record.fields
        texts = [fields_of(fields.get(name)).get("text") for name in ("system_prompt", "dynamic_context")]
        tools = [{"name": tool.get("name", tool.get("kind", "")), **tool} for tool in mappings(fields.get("tools"))]
        message = {
            "role": "system",
            "content": text_parts(*texts),
            **without_nothing(toolsAdded=tools or None, timestamp=_when(fields)),
        }
        self._put(record, "message", {"message": message})

    def _message(self, record: Record) -> None:
        fields = record.fields
        said = fields_of(fields.get("llm_message"))
        content = [*_contents(said.get("content")), *_contents(fields.get("extended_content"))]
        if said.get("role") == "assistant" or fields.get("source") == "agent":
            content = [*_thinking(said), *content]
            message = self._spoken(content, fields, "stop")
        else:
            message = {"role": "user", "content": content, **without_nothing(timestamp=_when(fields))}
        self._put(record, "message", {"message": message})

    def _spoken(self, content: list[dict[str, Any]], fields: Mapping[str, Any], stop: str) -> dict[str, Any]:
        usage = self._metrics.usage_of(key_of(fields.get("llm_response_id")))
        return assistant_message(content, api=None, stop=stop, usage=usage, timestamp=_when(fields), **self._model)

    def _action(self, record: Record) -> None:
        batch = self._batches.pop(_batch(record.fields), None)
        if batch is None:
            return
        content: list[dict[str, Any]] = []
        for own in batch:
            content += [*_thinking(own.fields), *_contents(own.fields.get("thought"))]
        calls = [self._call(own.fields) for own in batch]
        message = self._spoken([*content, *calls], record.fields, "toolUse")
        self._put(record, "message", {"message": message}, [key_of(own.fields.get("id")) for own in batch])

    def _call(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        made = fields_of(fields.get("tool_call"))
        function = fields_of(made.get("function"))
        id_ = first_text(fields.get("tool_call_id"), made.get("id"), fields.get("id")) or ""
        name = first_text(fields.get("tool_name"), made.get("name"), function.get("name")) or ""
        self._calls[key_of(fields.get("id"))] = (id_, name)
        arguments = as_arguments(made.get("arguments", function.get("arguments")))
        return call_part(id_, name, arguments)

    def _result(self, record: Record, kind: str) -> None:
        fields = record.fields
        stated = (as_text(fields.get("tool_call_id")) or "", as_text(fields.get("tool_name")) or "")
        id_, name = self._calls.get(key_of(fields.get("action_id")), stated)
        seen = fields_of(fields.get("observation"))
        refused = first_text(fields.get("error"), fields.get("rejection_reason"))
        content = text_parts(refused) if refused else _observed(seen)
        content += _contents(fields.get("extended_content"))
        failed = kind != "ObservationEvent" or seen.get("is_error") is True or bool(first_text(seen.get("error")))
        message = result_message(id_, name, content, is_error=failed, timestamp=_when(fields))
        self._put(record, "message", {"message": message})

    def _condensation(self, record: Record) -> None:
        fields = record.fields
        gone = [key_of(value) for value in as_list(fields.get("forgotten_event_ids")) or ()]
        id_, raw = key_of(fields.get("id")) or f"e{record.line}", record.raw or None
        told = {"summary": as_text(fields.get("summary")) or ""}
        self.timeline.condense(gone, told, id_, as_text(fields.get("timestamp")), line=record.line, raw=raw)


def _when(fields: Mapping[str, Any]) -> int | None:
    return milliseconds(fields.get("timestamp"))


def _batch(fields: Mapping[str, Any]) -> str:
    response = key_of(fields.get("llm_response_id"))
    return f"r{response}" if response else f"e{key_of(fields.get('id'))}"


def _contents(value: Any) -> list[dict[str, Any]]:
    """Parts of a content; an image part may name several pictures."""
    if isinstance(value, str):
        return text_parts(value)
    made: list[dict[str, Any]] = []
    for part in mappings(value):
        made += text_parts(part.get("text"))
        made += [data_url(url) for url in as_list(part.get("image_urls")) or ()]
    return made


def _thinking(said: Mapping[str, Any]) -> list[dict[str, Any]]:
    blocks = mappings(said.get("thinking_blocks"))
    if not blocks:
        reasoning = first_text(said.get("reasoning_content"))
        return [thinking_part(reasoning)] if reasoning else []
    return [_block(block) for block in blocks]


def _block(block: Mapping[str, Any]) -> dict[str, Any]:
    if block.get("type") == "redacted_thinking":
        return thinking_part("", block.get("data"), redacted=True)
    return thinking_part(block.get("thinking"), block.get("signature"))


def _observed(seen: Mapping[str, Any]) -> list[dict[str, Any]]:
    if as_list(seen.get("content")) is not None or isinstance(seen.get("content"), str):
        return _contents(seen["content"])
    text = first_text(seen.get("output"), seen.get("text"), seen.get("error"))
    rest = {name: value for name, value in seen.items() if name != "kind"}
    return text_parts(text if text is not None or not rest else as_json_text(rest, FORMAT))
