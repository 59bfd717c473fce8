"""OpenHands: a trajectory of version 0 (a list of events) and the events of version 1 (a list, or one a line).

Observations are paired with the action that caused them, for call ids repeat. What a condensation forgot leaves the
context by ``context_edit`` entries; the cut carries the summary. Changes of the agent's state are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from leafscar._words import counted
from leafscar.errors import SessionRefused
from leafscar.formats._cuts import Timeline
from leafscar.formats._json import Record, decode, fields_of, outline, read_records, refuse_giant
from leafscar.formats._openhands_usage import FORMAT, Metrics
from leafscar.formats._openhands_v0 import EventsV0, is_v0
from leafscar.formats._openhands_v1 import EventsV1, is_v1
from leafscar.formats._pieces import first_text, mappings
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header, Problem
from leafscar.formats.reading import Builder, Reading
from leafscar.model import Assistant
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["FORMAT", "read_events", "read_openhands", "sniff"]

_V1_KINDS = ("SystemPromptEvent", "MessageEvent", "ActionEvent", "ObservationEvent", "Condensation")
_SNIFFED_EVENTS = 5
_HOLDERS = ("trajectory", "events", "history")


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` holds events of OpenHands."""
    found = outline(head)
    held = as_mapping(found)
    events = mappings(found if held is None else next((held[key] for key in _HOLDERS if key in held), held))
    return any(event.get("kind") in _V1_KINDS or _is_v0_event(event) for event in events[:_SNIFFED_EVENTS])


def _is_v0_event(event: Mapping[str, Any]) -> bool:
    return is_v0(event) and event.get("source") in ("agent", "user", "environment") and "id" in event


def read_openhands(data: bytes) -> Reading:
    """Read a trajectory or a list of events; raises ``SessionRefused`` when it is neither."""
    refuse_giant(data, FORMAT)
    timeline = Timeline()
    return _read(timeline, _records(data, timeline.builder), Metrics())


def read_events(
    events: Iterable[Mapping[str, Any]], state: Mapping[str, Any], problems: Iterable[Problem] = ()
) -> Reading:
    """Read events as they are stored one a file, with the state that version 1 keeps beside them.

    ``problems`` are those of whoever put them together. Raises ``SessionRefused`` when they are no events.
    """
    timeline, metrics = Timeline(), Metrics()
    timeline.builder.problems.extend(problems)
    for each in fields_of(fields_of(state.get("stats")).get("usage_to_metrics")).values():
        metrics.learn(fields_of(each))
    model = first_text(fields_of(fields_of(state.get("agent")).get("llm")).get("model"))
    return _read(timeline, [_record(event) for event in events], metrics, model, as_text(state.get("id")) or "")


def _read(
    timeline: Timeline, records: Sequence[Record], metrics: Metrics, model: str | None = None, id_: str = ""
) -> Reading:
    notes: list[str] = []
    if any(is_v0(record.fields) for record in records):
        events = EventsV0(timeline, metrics, [record.fields for record in records])
        events.read()
        notes += _recalls(events.recalls)
    elif any(is_v1(record.fields) for record in records):
        EventsV1(timeline, metrics, records, model).read()
    else:
        raise SessionRefused(FORMAT, "no events of OpenHands", hint="see `leafscar formats`")
    first = next((stamp for record in records if (stamp := first_text(record.fields.get("timestamp")))), None)
    builder, header = timeline.builder, Header(version=3, id=id_, timestamp=first)
    found = [*gaps(builder.entries, metrics.window), *notes, *_more(builder, metrics.prompts)]
    return builder.reading(FORMAT, header, unknown=found, window=metrics.window)


def _recalls(number: int) -> list[str]:
    if not number:
        return []
    return [f"What {counted(number, 'recall')} put into the context is known by its parts, not word by word."]


def _more(builder: Builder, prompts: int) -> list[str]:
    messages = (entry.message for entry in builder.entries)
    usages = [message.usage for message in messages if isinstance(message, Assistant) and message.usage]
    rest = prompts - sum(int(usage.prompt) for usage in usages)
    if not usages or rest <= 0:
        return []
    return [f"Its totals hold {rest:,} prompt tokens more than its responses: requests that are not among its events."]


def _records(data: bytes, builder: Builder) -> Sequence[Record]:
    whole = decode(data)
    held = as_mapping(whole)
    found = whole if held is None else next((held[name] for name in _HOLDERS if as_list(held.get(name))), None)
    if as_list(found) is None:
        return read_records(data, FORMAT, builder)
    return [_record(event) for event in mappings(found)]


def _record(event: Mapping[str, Any]) -> Record:
    return Record(line=0, raw=b"", fields=event)
