"""The events that Gemini CLI prints with ``--output-format stream-json``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar._words import counted
from leafscar.formats._gemini_chat import API, PROVIDER
from leafscar.formats._json import Record, as_json_text, fields_of
from leafscar.formats._pieces import (
    assistant_message,
    call_part,
    first_text,
    milliseconds,
    result_message,
    text_parts,
    without_nothing,
)
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["Stream"]


class Stream:
    """Groups events into responses: what the model says up to the next result is one of them.

    Each ``init`` starts a new run at a root of its own; its context holds nothing of the run before.
    """

    def __init__(self, builder: Builder, format_: str) -> None:
        self._builder = builder
        self._format = format_
        self._open: list[Record] = []  # events of the response that is being said
        self._model: str | None = None
        self._names: dict[str, str] = {}
        self._fresh = True  # the next entry is a root
        self._runs = 0
        self._totals = 0

    def read(self, records: Sequence[Record]) -> Reading:
        """Read all events."""
        first = next(record.fields for record in records if record.fields.get("type") == "init")
        for at, record in enumerate(records):
            self._event(record, at, records)
        self._close()
        header = Header(version=3, id=as_text(first.get("session_id")) or "", timestamp=as_text(first.get("timestamp")))
        return self._builder.reading(self._format, header, unknown=[*gaps(self._builder.entries), *self._notes()])

    def _notes(self) -> list[str]:
        notes: list[str] = []
        if self._totals:
            notes.append(f"Usage is stated as totals only, for {self._totals} of {counted(self._runs, 'run')}.")
        if self._runs > 1:
            notes.append(f"It holds {self._runs} runs; each is a branch of its own.")
        return notes

    def _event(self, record: Record, at: int, records: Sequence[Record]) -> None:
        fields = record.fields
        match fields.get("type"), fields.get("role"):
            case ("tool_use", _) | ("message", "assistant"):
                self._open.append(record)
            case ("message", "user"):
                self._user(record, at, records)
            case ("tool_result", _):
                self._result(record)
            case ("init", _):
                self._close()
                self._model, self._fresh, self._runs = as_text(fields.get("model")), True, self._runs + 1
            case _:
                self._notice(record, as_text(fields.get("type")) or "event")

    def _user(self, record: Record, at: int, records: Sequence[Record]) -> None:
        """A message that stands before its run's start, and again after it, was sent once: the second."""
        self._close()
        after = [other.fields for other in records[at + 1 : at + 3]]
        kinds = [(fields.get("type"), fields.get("role")) for fields in after]
        if kinds == [("init", None), ("message", "user")]:
            self._put(record, "custom", {"customType": f"{self._format}.prompt"}, f"p{record.line}")
            return
        said = as_json_text(record.fields.get("content", ""), self._format)
        message = {"role": "user", "content": said, **without_nothing(timestamp=_when(record.fields))}
        self._put(record, "message", {"message": message}, f"u{record.line}")

    def _notice(self, record: Record, kind: str) -> None:
        self._close()
        stats = record.fields.get("stats")
        self._totals += kind == "result" and as_mapping(stats) is not None
        data = without_nothing(stats=stats, status=record.fields.get("status"), message=record.fields.get("message"))
        self._put(record, "custom", {"customType": f"{self._format}.{kind}", "data": data}, f"n{record.line}")

    def _result(self, record: Record) -> None:
        self._close()
        fields = record.fields
        id_ = as_text(fields.get("tool_id")) or ""
        error = fields_of(fields.get("error"))
        text = first_text(fields.get("output"), error.get("message"))
        is_error = fields.get("status") == "error"
        message = result_message(
            id_, self._names.get(id_, ""), text_parts(text), is_error=is_error, timestamp=_when(fields)
        )
        self._put(record, "message", {"message": message}, f"r{record.line}")

    def _close(self) -> None:
        """Give the response that was being said."""
        events, self._open = self._open, []
        if not events:
            return
        said = "".join(as_text(e.fields.get("content")) or "" for e in events if e.fields["type"] == "message")
        calls = [self._call(event) for event in events if event.fields["type"] == "tool_use"]
        message = assistant_message(
            [*text_parts(said), *calls],
            api=API,
            provider=PROVIDER,
            model=self._model,
            stop="toolUse" if calls else "stop",
            timestamp=_when(events[0].fields),
        )
        self._put(events[0], "message", {"message": message}, f"a{events[0].line}")

    def _call(self, event: Record) -> dict[str, Any]:
        part = call_part(event.fields.get("tool_id"), event.fields.get("tool_name"), event.fields.get("parameters", {}))
        self._names[part["id"]] = part["name"]
        return part

    def _put(self, record: Record, kind: str, fields: Mapping[str, Any], id_: str) -> None:
        parent, self._fresh = (-1 if self._fresh else None), False
        when = first_text(record.fields.get("timestamp"), record.fields.get("ts"))
        self._builder.add(kind, fields, id_=id_, line=record.line, raw=record.raw, timestamp=when, parent=parent)


def _when(fields: Mapping[str, Any]) -> int | None:
    return milliseconds(first_text(fields.get("timestamp"), fields.get("ts")))
