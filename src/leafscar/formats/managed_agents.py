"""Session events of Anthropic's managed agents, bare or each in a wrapper (docs/formats.md).

One model request is one response with its bill. Threads of other agents are conversations of their own. Left out:
what states change, and that a grader is still at work.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar._words import counted
from leafscar.errors import SessionRefused
from leafscar.formats._json import Record
from leafscar.formats._lines import head_objects, records_in
from leafscar.formats._managed_reader import MAIN, Reader
from leafscar.formats._pieces import first_text
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["FORMAT", "read_managed_agents", "sniff"]

FORMAT = "managed_agents"

_FAMILIES = ("agent", "session", "span", "system", "user")


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` holds session events of managed agents."""
    first = next(iter(head_objects(head)), None)
    if first is None:
        return b'"id":"sevt_' in head[:4096].replace(b" ", b"")
    event = _event(first)
    return event is not None and "processed_at" in event and "id" in event


def _event(fields: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Event of a line, taken out of its wrapper; None when it is none."""
    inner = as_mapping(fields.get("raw"))
    event = fields if inner is None else inner
    family, dot, _ = (as_text(event.get("type")) or "").partition(".")
    return event if dot and family in _FAMILIES else None


def read_managed_agents(lines: Iterable[tuple[int, bytes]]) -> Reading:
    """Read session events; raises ``SessionRefused`` when no line of it is one."""
    builder = Builder()
    records = list(_events(records_in(lines, builder), builder))
    if not records:
        hint = "name the list of a session's events, one a line"
        raise SessionRefused(FORMAT, "no event of a session in it", hint=hint)
    reader = Reader()
    for record in records:
        reader.read(record)
    reader.finish()
    chains = [draft.chain for draft in reader.branches.drafts if draft.kind == "message"]
    main = MAIN if MAIN in chains or not chains else chains[0]
    reader.branches.emit(builder, main)
    return builder.reading(FORMAT, _header(records), unknown=_unknown(builder, reader, main))


def _events(records: Iterable[Record], builder: Builder) -> Iterable[Record]:
    """Events in order; one that was written again counts where it stands last, then it had been processed."""
    newest: dict[str, Record] = {}
    for record in records:
        event = _event(record.fields)
        if event is None:
            builder.problem("no-type", record.line, "no event of a session, skipped")
            continue
        id_ = as_text(event.get("id")) or f"line{record.line}"
        if id_ in newest:
            builder.problem("duplicate-id", record.line, "the event stands in the file before; this one is taken")
            del newest[id_]
        newest[id_] = Record(line=record.line, raw=record.raw, fields=event)
    return newest.values()


def _header(records: Iterable[Record]) -> Header:
    found = {
        name: first_text(*(record.fields.get(name) for record in records)) for name in ("session_id", "processed_at")
    }
    return Header(version=3, id=found["session_id"] or "", timestamp=found["processed_at"])


def _unknown(builder: Builder, reader: Reader, main: str) -> list[str]:
    others = len({draft.chain for draft in reader.branches.drafts if draft.chain != main})
    nameless = any(response.model is None for response in reader.responses)
    found = (
        (nameless, "It does not name the model."),
        (reader.thoughts, f"It notes {counted(reader.thoughts, 'thought')} of the model without the words."),
        (reader.cuts, f"It does not say what {counted(reader.cuts, 'cut')} kept, nor the summary."),
        (reader.graders, "What graders used stands beside the conversation and is in no response."),
        (others, f"Beside the main conversation it holds {counted(others, 'thread')} of other agents."),
    )
    return [*gaps(builder.entries), *(sentence for holds, sentence in found if holds)]
