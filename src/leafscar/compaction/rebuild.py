"""What the model still sees of a path: the newest summary, the kept entries, the later ones.

A path is the list of entries from the root to the leaf. Nothing here changes an entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct

from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item, Slot, items_of, make_slot
from leafscar.model import Assistant, Entry, EntryLike, Message, System, as_entry
from leafscar.model.shapes import as_list, as_text

__all__ = ["ModelRef", "Projection", "newest_cut", "project_context", "project_slots"]


class ModelRef(Struct, frozen=True, kw_only=True):
    """A model as a session names it."""

    provider: str | None
    model_id: str | None


class Projection(Struct, frozen=True, kw_only=True):
    """The context of a path."""

    items: tuple[Item, ...]
    """Its messages in order, each with its entry."""
    thinking_level: str
    """The last level that the path set; ``off`` without one."""
    model: ModelRef | None
    """The model that the path last chose or heard from."""

    @property
    def messages(self) -> list[Message]:
        """A fresh list of the messages alone."""
        return [item.message for item in self.items]


def project_context(path: Sequence[EntryLike], rules: Rules = DEFAULT) -> Projection:
    """Project a path from root to leaf into the context that the model sees."""
    entries = [as_entry(entry) for entry in path]
    return Projection(
        items=tuple(items_of(project_slots(entries, rules))),
        thinking_level=_thinking_level(entries),
        model=_model(entries),
    )


def newest_cut(path: Sequence[Entry]) -> int | None:
    """Position of the newest compaction entry; None when the path has none."""
    for index in range(len(path) - 1, -1, -1):
        if path[index].type == "compaction":
            return index
    return None


def project_slots(path: Sequence[Entry], rules: Rules) -> list[Slot]:
    """Project every entry that is still in the context, those that give nothing included; the cut comes first."""
    kept = _context_entries(path, rules)
    edits = _edits(kept) if rules.context_edits else {}
    slots = [make_slot(entry, rules, edits.get(entry.id, UNSET)) for entry in kept]
    if not rules.older_summaries_reappear:
        slots[1:] = [_without_older_cut(slot) for slot in slots[1:]]
    return slots


def _context_entries(path: Sequence[Entry], rules: Rules) -> Sequence[Entry]:
    at = newest_cut(path)
    if at is None:
        return path
    cut = path[at]
    if rules.stored_tail and as_list(cut.get("retainedTail")) is not None:
        return [cut, *path[at + 1 :]]
    return [cut, *_kept(path, at, rules), *path[at + 1 :]]


def _kept(path: Sequence[Entry], at: int, rules: Rules) -> list[Entry]:
    """Entries from the first kept one up to the cut; nothing when it is the cut itself or not before it."""
    first = path[at].get("firstKeptEntryId")
    if first == path[at].id:
        return []
    for index in range(at - 1, -1, -1):
        if path[index].id == first:
            kept = path[index:at]
            return [entry for entry in kept if not (rules.system_messages and _is_system(entry))]
    return []


def _is_system(entry: Entry) -> bool:
    return entry.type == "message" and isinstance(entry.message, System)


def _edits(entries: Sequence[Entry]) -> dict[str, Any]:
    edits: dict[str, Any] = {}
    for entry in entries:
        target = as_text(entry.get("targetId")) if entry.type == "context_edit" else None
        if target is not None:
            edits[target] = entry.get("replacement")
    return edits


def _without_older_cut(slot: Slot) -> Slot:
    if slot.entry.type != "compaction":
        return slot
    return Slot(entry=slot.entry, messages=(), omitted=True)


def _thinking_level(path: Sequence[Entry]) -> str:
    for entry in reversed(path):
        if entry.type == "thinking_level_change":
            return as_text(entry.get("thinkingLevel")) or "off"
    return "off"


def _model(path: Sequence[Entry]) -> ModelRef | None:
    for entry in reversed(path):
        if entry.type == "model_change":
            return ModelRef(provider=as_text(entry.get("provider")), model_id=as_text(entry.get("modelId")))
        if entry.type == "message" and isinstance(entry.message, Assistant):
            return ModelRef(provider=entry.message.provider, model_id=entry.message.model)
    return None
