"""The agent core's walk along a branch, which may end before the root (docs/adr/0012-first-kept-alone.md)."""

from __future__ import annotations

from collections.abc import Sequence

from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.errors import SessionError
from leafscar.model import Entry, EntryLike, as_entry
from leafscar.model.shapes import as_list

__all__ = ["branch_walk"]


def branch_walk(entries: Sequence[EntryLike], leaf_id: str | None, rules: Rules = DEFAULT) -> list[Entry]:
    """Path to ``leaf_id``, oldest first, from the root or from where the last cut lets it start.

    A cut that stores its tail ends the walk under the agent core's rules; any other cut ends it at its first kept
    entry, and an older one met on the way moves that end further up. Raises ``SessionError`` for a missing
    entry, and for parents that form a circle.
    """
    by_id = {entry.id: entry for entry in map(as_entry, entries)}
    path: list[Entry] = []
    seen: set[str] = set()
    wanted, stop = leaf_id, None
    while wanted:
        entry = by_id.get(wanted)
        if entry is None:
            raise SessionError("session", f"Entry {wanted} not found")
        if wanted in seen:
            raise SessionError("session", f"Entry {wanted} is its own ancestor", hint="write the parents anew")
        seen.add(wanted)
        path.append(entry)
        if stop is not None and entry.id == stop:
            break
        if entry.type == "compaction":
            if rules.stored_tail and as_list(entry.get("retainedTail")) is not None:
                break
            stop = entry.get("firstKeptEntryId")
        wanted = entry.parent_id
    return path[::-1]
