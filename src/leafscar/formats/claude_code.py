"""Claude Code's transcripts, of sessions and of sub-agents (docs/formats.md).

The lines of one response become one message, its results follow it. Side chains in the same file are conversations
of their own. Left out, as they are of the screen only: progress, titles, modes, queue operations, file snapshots.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from leafscar._words import counted
from leafscar.errors import SessionRefused
from leafscar.formats._claude_reader import MAIN, Reader
from leafscar.formats._json import Record
from leafscar.formats._lines import head_objects, records_in
from leafscar.formats._pieces import first_text
from leafscar.formats._unknown import gaps
from leafscar.formats.pi import Header
from leafscar.formats.reading import Builder, Reading
from leafscar.model.shapes import as_text

__all__ = ["FORMAT", "read_claude_code", "sniff"]

FORMAT = "claude_code"

_TURNS = frozenset({"assistant", "attachment", "progress", "system", "user"})
_MARKS = {
    "ai-title": "aiTitle",
    "custom-title": "customTitle",
    "file-history-snapshot": "snapshot",
    "last-prompt": "lastPrompt",
    "mode": "mode",
    "permission-mode": "permissionMode",
    "queue-operation": "operation",
    "summary": "leafUuid",
}
_LONG_LINE = re.compile(
    rb'\{(?:"parentUuid":(?:null|"[^"]*"),(?:"logicalParentUuid":"[^"]*",)?"isSidechain":|"type":"queue-operation",)'
)


def sniff(head: bytes, name: str) -> bool:  # noqa: ARG001 - one signature for all readers
    """Whether a file that starts with ``head`` is a transcript of Claude Code."""
    marked = False
    for fields in head_objects(head):
        kind = as_text(fields.get("type")) or ""
        if kind in _TURNS and "parentUuid" in fields and "isSidechain" in fields:
            return True
        if _MARKS.get(kind) not in fields:
            return False
        marked = True
    return marked or _LONG_LINE.match(head) is not None


def read_claude_code(lines: Iterable[tuple[int, bytes]]) -> Reading:
    """Read a transcript; raises ``SessionRefused`` when no line of it is a record of Claude Code."""
    builder = Builder()
    records = records_in(lines, builder)
    reader = Reader(builder)
    reader.read([record for record in records if "type" in record.fields])
    if not reader.branches.drafts:
        hint = "name a .jsonl file below ~/.claude/projects"
        raise SessionRefused(FORMAT, "no record of a conversation in it", hint=hint)
    chains = [draft.chain for draft in reader.branches.drafts if draft.kind == "message"]
    main = MAIN if MAIN in chains or not chains else chains[-1]
    reader.branches.emit(builder, main)
    return builder.reading(FORMAT, _header(records, main), unknown=_unknown(builder, reader, main))


def _header(records: Sequence[Record], main: str) -> Header:
    found = {name: first_text(*(record.fields.get(name) for record in records)) for name in ("sessionId", "agentId")}
    own = found["sessionId"] if main == MAIN else found["agentId"] or found["sessionId"]
    return Header(
        version=3,
        id=own or "",
        timestamp=first_text(*(record.fields.get("timestamp") for record in records)),
        cwd=first_text(*(record.fields.get("cwd") for record in records)),
    )


def _unknown(builder: Builder, reader: Reader, main: str) -> list[str]:
    drafts = reader.branches.drafts
    asked = sum(1 for response in reader.every if not response.synthetic)
    cuts = [draft for draft in drafts if draft.kind == "compaction"]
    bare = sum(1 for cut in cuts if not cut.fields["summary"])
    agents, sides = len(reader.agents), len({draft.chain for draft in drafts if draft.chain != main})
    low = f"Responses that state only the output count of their first chunk: {reader.low} of {asked}."
    shed = f"Old outputs that Claude Code took out of its requests ({counted(reader.shed, 'time')}) stand here in full."
    found = (
        (reader.low, low),
        (reader.wordless, f"{counted(reader.wordless, 'attachment')} went out in words that it does not hold."),
        (cuts, f"What it cost to write the summary of {counted(len(cuts), 'cut')} is not in this file."),
        (bare, f"It does not hold the summary of {counted(bare, 'cut')}."),
        (reader.shed, shed),
        (agents, f"What {counted(agents, 'sub-agent')} did stands in other files."),
        (sides, f"Beside the main conversation it holds {counted(sides, 'conversation')} of sub-agents."),
        (reader.away, "It goes on from a record in another file; what was sent before that is not in it."),
    )
    return [*gaps(builder.entries), *(sentence for holds, sentence in found if holds)]
