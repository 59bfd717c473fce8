"""The events of a managed agent's session, read in order into the threads that they belong to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leafscar.formats._anthropic import API, PROVIDER, read_blocks, read_usage, result_parts, stop_word
from leafscar.formats._branches import Branches, Draft
from leafscar.formats._json import Record
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    milliseconds,
    result_message,
    text_parts,
    thinking_part,
    without_nothing,
)
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["MAIN", "Reader"]

MAIN = "main"
"""The thread of events that name none."""

_CALLS = frozenset({"agent.custom_tool_use", "agent.mcp_tool_use", "agent.tool_use"})
_RESULTS = {
    "agent.mcp_tool_result": "mcp_tool_use_id",
    "agent.tool_result": "tool_use_id",
    "user.custom_tool_result": "custom_tool_use_id",
    "user.tool_result": "tool_use_id",
}
_NOISE = ("session.status_", "session.thread_status_", "span.outcome_evaluation_ongoing")
_NAME_UNITS = 60


class _Response:
    """One model request, from its first event to its bill."""

    def __init__(self, draft: Draft, timestamp: int | None) -> None:
        self.draft = draft
        self.parts: list[dict[str, Any]] = []
        self.usage: dict[str, Any] | None = None
        self.failed = False
        self.model: str | None = None
        self._timestamp = timestamp

    def message(self) -> dict[str, Any]:
        calls = any(part.get("type") == "toolCall" for part in self.parts)
        return assistant_message(
            self.parts,
            api=API,
            stop="error" if self.failed else stop_word(None, calls=calls),
            provider=PROVIDER,
            model=self.model,
            timestamp=self._timestamp,
            usage=self.usage,
        )


class Reader:
    """Reads one event after another; what the next one needs to know stands in the fields."""

    def __init__(self) -> None:
        self.branches = Branches()
        self.responses: list[_Response] = []
        self.thoughts = 0
        """Thinking events that do not hold what was thought."""
        self.cuts = 0
        self.graders = 0
        """Gradings with a bill of their own."""
        self._current: dict[str, _Response] = {}
        self._spans: set[str] = set()
        """Threads with a request under way: what comes now belongs to it, results in between do not end it."""
        self._calls: dict[str, tuple[_Response, str]] = {}

    def read(self, record: Record) -> None:
        """Read one event."""
        event = record.fields
        kind = as_text(event.get("type")) or ""
        chain = as_text(event.get("session_thread_id")) or MAIN
        if kind.startswith(_NOISE):
            return
        if kind.startswith("user.") and event.get("processed_at", "") is None:
            self._note(record, chain, f"{kind}.unprocessed")
        elif kind in _CALLS or kind in ("agent.message", "agent.thinking"):
            self._written(record, chain, kind)
        elif kind in _RESULTS:
            self._result(record, chain, _RESULTS[kind])
        elif kind.startswith("span.model_request_"):
            self._span(record, chain, kind)
        else:
            self._other(record, chain, kind)

    def finish(self) -> None:
        """Write the messages of the responses, now that nothing can come to them."""
        for response in self.responses:
            response.draft.fields["message"] = response.message()

    # --- what the model wrote ------------------------------------------------------------------------

    def _written(self, record: Record, chain: str, kind: str) -> None:
        event = record.fields
        response = self._respond(record, chain)
        if kind in _CALLS:
            id_ = as_text(event.get("id")) or f"line{record.line}"
            arguments = event.get("input")
            part = call_part(id_, event.get("name"), {} if arguments is None else arguments)
            response.parts.append(part)
            self._calls[id_] = (response, part["name"])
        elif kind == "agent.message":
            response.parts += read_blocks(event.get("content"))
        else:
            text = as_text(event.get("thinking")) or _text(event.get("content"))
            self.thoughts += not text
            response.parts.append(thinking_part(text))

    def _respond(self, record: Record, chain: str) -> _Response:
        """Response that is being written: until its bill comes, or where none is noted until something is sent."""
        response = self._current.get(chain)
        if response is None:
            draft = self._add(record, chain, "message", {})
            response = _Response(draft, milliseconds(record.fields.get("processed_at")))
            self._current[chain] = response
            self.responses.append(response)
            self.branches.respond(draft)
        return response

    def _span(self, record: Record, chain: str, kind: str) -> None:
        if kind == "span.model_request_start":
            self._current.pop(chain, None)
            self._spans.add(chain)
            return
        usage, failed = read_usage(record.fields.get("model_usage")), record.fields.get("is_error") is True
        if chain in self._current or usage is not None or failed:
            response = self._respond(record, chain)
            response.usage, response.failed = usage, failed
            response.model = as_text(record.fields.get("model"))
        self._current.pop(chain, None)
        self._spans.discard(chain)

    # --- what was sent to it -------------------------------------------------------------------------

    def _sent(self, chain: str) -> None:
        if chain not in self._spans:
            self._current.pop(chain, None)

    def _result(self, record: Record, chain: str, key: str) -> None:
        event = record.fields
        call_id = as_text(event.get(key)) or ""
        response, name = self._calls.get(call_id, (None, ""))
        chain = response.draft.chain if response else chain
        self._sent(chain)
        message = result_message(
            call_id,
            name,
            result_parts(event.get("content")),
            is_error=event.get("is_error") is True,
            timestamp=milliseconds(event.get("processed_at")),
        )
        draft = self._add(record, chain, "message", {"message": message})
        if response is not None:
            self.branches.answer(draft, response.draft)

    def _other(self, record: Record, chain: str, kind: str) -> None:
        event = record.fields
        match kind:
            case "user.message":
                self._said(record, chain, read_blocks(event.get("content")))
            case "user.define_outcome":
                rubric = as_mapping(event.get("rubric")) or {}
                self._said(record, chain, text_parts(event.get("description"), rubric.get("content")))
            case "system.message" | "agent.thread_message_received":
                self._inject(record, chain, kind, read_blocks(event.get("content")))
            case "span.outcome_evaluation_end":
                self.graders += read_usage(event.get("usage")) is not None
                self._inject(record, chain, kind, text_parts(event.get("explanation")))
            case "agent.thread_context_compacted":
                self.cuts += 1
                self.branches.settle(chain)
                self._add(record, chain, "compaction", {"summary": ""})
            case _:
                self._note(record, chain, kind)

    def _said(self, record: Record, chain: str, parts: list[dict[str, Any]]) -> None:
        self._sent(chain)
        self.branches.settle(chain)
        when = milliseconds(record.fields.get("processed_at"))
        message = {"role": "user", "content": parts, **without_nothing(timestamp=when)}
        self._add(record, chain, "message", {"message": message})

    def _inject(self, record: Record, chain: str, kind: str, parts: list[dict[str, Any]]) -> None:
        self._sent(chain)
        fields = {"customType": f"managed_agents.{kind[:_NAME_UNITS]}", "content": parts, "display": False}
        self._add(record, chain, "custom_message", fields)

    def _note(self, record: Record, chain: str, kind: str) -> None:
        self._add(record, chain, "custom", {"customType": f"managed_agents.{kind[:_NAME_UNITS]}"})

    def _add(self, record: Record, chain: str, kind: str, fields: Mapping[str, Any]) -> Draft:
        event = record.fields
        id_ = as_text(event.get("id")) or f"line{record.line}"
        stamp = as_text(event.get("processed_at"))
        return self.branches.add(chain, kind, fields, record, id_=id_, timestamp=stamp)


def _text(content: object) -> str:
    return "\n".join(as_text(part.get("text")) or "" for part in read_blocks(content))
