"""Where a cut goes: the first entry that stays raw, and the turn that it may split (docs/compaction.md)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Slot, make_slot, message_tokens
from leafscar.model import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    Entry,
    EntryLike,
    ToolResult,
    User,
    as_entry,
)
from leafscar.model.messages import tool_calls
from leafscar.model.shapes import as_text

__all__ = ["Cut", "cut_slots", "find_cut"]

_TURN_STARTS = (User, BashExecution, Custom, BranchSummary, CompactionSummary)
_CUT_POINTS = (*_TURN_STARTS, Assistant)
_TYPED_STARTS = ("branch_summary", "custom_message")


class Cut(Struct, frozen=True, kw_only=True):
    """Positions in the list that was searched."""

    first_kept_index: int
    """The first entry that stays raw."""
    turn_start_index: int
    """Where the split turn starts; -1 when the cut splits none."""
    is_split_turn: bool
    """Whether the cut falls inside a turn."""


def find_cut(entries: Sequence[EntryLike], start: int, end: int, keep: float, rules: Rules = DEFAULT) -> Cut:
    """Find the cut in ``entries[start:end]`` that keeps about ``keep`` tokens of recent work."""
    slots = [make_slot(as_entry(entry), rules) for entry in entries]
    return cut_slots(slots, max(0, start), min(end, len(slots)), keep, rules)


def cut_slots(slots: Sequence[Slot], start: int, end: int, keep: float, rules: Rules) -> Cut:
    """Find the cut among projected entries."""
    points = _cut_points(slots, start, end, rules)
    if not points:
        return Cut(first_kept_index=start, turn_start_index=-1, is_split_turn=False)
    reached = _where_reached(slots, start, end, keep, rules)
    at = _point_from(points, reached, rules)
    if rules.recovery_suffix and reached is not None and _is_recovery(slots[at + 1 : end]):
        at += 1
    at = _slide_back(slots, at, start, rules)
    return _with_turn(slots, at, start, rules)


def _cut_points(slots: Sequence[Slot], start: int, end: int, rules: Rules) -> list[int]:
    points = [index for index in range(start, end) if _is_cut_point(slots[index], rules)]
    if not rules.whole_pairs:
        return points
    inside = _inside_pairs(slots, start, end)
    return [index for index in points if index not in inside]


def _is_cut_point(slot: Slot, rules: Rules) -> bool:
    if slot.entry.type == "compaction":
        return False
    if rules.by_entry_type and slot.entry.type in _TYPED_STARTS:
        return True
    return any(isinstance(message, _CUT_POINTS) for message in slot.messages)


def _inside_pairs(slots: Sequence[Slot], start: int, end: int) -> set[int]:
    """Positions at which a cut would part a call from its result."""
    last_result = _last_results(slots, start, end)
    inside: set[int] = set()
    reach = -1
    for index in range(start, end):
        if index <= reach:
            inside.add(index)
        reach = max(reach, last_result.get(index, -1))
    return inside


def _last_results(slots: Sequence[Slot], start: int, end: int) -> dict[int, int]:
    """Where the last result of each response with calls stands; an id belongs to the nearest call before it."""
    calls: dict[str, int] = {}
    last: dict[int, int] = {}
    for index in range(start, end):
        for message in slots[index].messages:
            if isinstance(message, ToolResult) and message.tool_call_id in calls:
                last[calls[message.tool_call_id]] = index
            calls.update((call.id, index) for call in tool_calls(message))
    return last


def _where_reached(slots: Sequence[Slot], start: int, end: int, keep: float, rules: Rules) -> int | None:
    """Walk back from the end to the entry at which ``keep`` tokens are reached."""
    total = 0
    for index in range(end - 1, start - 1, -1):
        slot = slots[index]
        if rules.by_entry_type and slot.entry.type != "message":
            continue
        tokens = sum(message_tokens(message, rules) for message in slot.messages)
        if tokens == 0 and not rules.by_entry_type:
            continue
        total += tokens
        if total >= keep:
            return index
    return None


def _point_from(points: Sequence[int], reached: int | None, rules: Rules) -> int:
    if reached is None:
        return points[0]
    fallback = points[-1] if rules.oversized_tail_cuts_last else points[0]
    return next((point for point in points if point >= reached), fallback)


def _is_recovery(suffix: Sequence[Slot]) -> bool:
    """Whether only omitted attempts follow, at least one of them a response, and no other entry was edited."""
    omitted = {slot.entry.id for slot in suffix if slot.omitted}
    return (
        not any(_edits_another(slot.entry, omitted) for slot in suffix)
        and any(slot.omitted and isinstance(slot.entry.message, Assistant) for slot in suffix)
        and all(slot.entry.type != "compaction" and not slot.messages for slot in suffix)
    )


def _edits_another(entry: Entry, omitted: set[str]) -> bool:
    if entry.type != "context_edit" or entry.get("replacement") is None:
        return False
    return as_text(entry.get("targetId")) not in omitted


def _slide_back(slots: Sequence[Slot], at: int, start: int, rules: Rules) -> int:
    """Take along the entries just before the cut that the model does not see."""
    while at > start and not _is_boundary(slots[at - 1], rules):
        at -= 1
    return at


def _is_boundary(slot: Slot, rules: Rules) -> bool:
    if rules.by_entry_type:
        return slot.entry.type in ("compaction", "message")
    return slot.entry.type == "compaction" or bool(slot.messages)


def _with_turn(slots: Sequence[Slot], at: int, start: int, rules: Rules) -> Cut:
    turn = -1 if _opens_turn(slots[at], rules) else _turn_start(slots, at, start, rules)
    return Cut(first_kept_index=at, turn_start_index=turn, is_split_turn=turn != -1)


def _opens_turn(slot: Slot, rules: Rules) -> bool:
    """Whether a cut at this entry splits nothing."""
    if rules.by_entry_type:
        return slot.entry.type == "message" and isinstance(slot.entry.message, User)
    return _starts_turn(slot, rules)


def _turn_start(slots: Sequence[Slot], at: int, start: int, rules: Rules) -> int:
    return next((index for index in range(at, start - 1, -1) if _starts_turn(slots[index], rules)), -1)


def _starts_turn(slot: Slot, rules: Rules) -> bool:
    if rules.by_entry_type:
        if slot.entry.type == "message":
            return isinstance(slot.entry.message, User | BashExecution)
        return slot.entry.type in _TYPED_STARTS
    return slot.entry.type != "compaction" and any(isinstance(m, _TURN_STARTS) for m in slot.messages)
