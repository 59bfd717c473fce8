"""Which entry a message comes from, told by what both have in common (pi's messages carry no entry id)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.model import Entry
from leafscar.model.jsjson import stringify

__all__ = ["ids_of"]


def ids_of(messages: Sequence[Mapping[str, Any]], path: Sequence[Entry]) -> list[str]:
    """Ids in the order of the messages; an entry is taken once, the first that fits wins."""
    free = {entry.id: entry for entry in path}
    shapes = {entry.id: _shape(entry.message_data) for entry in path if entry.message_data is not None}
    ids: list[str] = []
    for message in messages:
        shape = _shape(message)
        found = next((e.id for e in free.values() if _fits(e, message, shape, shapes)), None)
        if found is not None:
            del free[found]
        ids.append(found or f"?{message.get('role')}")
    return ids


def _shape(message: Mapping[str, Any]) -> str:
    return stringify({**message, "content": 0})


def _fits(entry: Entry, message: Mapping[str, Any], shape: str, shapes: Mapping[str, str]) -> bool:
    role = message.get("role")
    match entry.type:
        case "message":
            return shapes.get(entry.id) == shape
        case "custom_message":
            same = role == "custom" and message.get("customType") == entry.get("customType")
            return same and entry.timestamp_ms is not None and message.get("timestamp") == entry.timestamp_ms
        case "branch_summary":
            fields = (message.get("summary"), message.get("fromId"))
            return role == "branchSummary" and fields == (entry.get("summary"), entry.get("fromId"))
        case "compaction":
            return role == "compactionSummary" and message.get("summary") == entry.get("summary")
        case _:
            return False
