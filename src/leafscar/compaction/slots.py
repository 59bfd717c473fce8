"""What one entry gives to the context, and where each message comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import replace

from leafscar.compaction.rules import Rules
from leafscar.estimate import estimate_tokens
from leafscar.model import (
    Assistant,
    BranchSummary,
    CompactionSummary,
    Custom,
    Entry,
    Message,
    System,
    ToolResult,
    User,
    as_dict,
    as_message,
)
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["Item", "Slot", "any_message", "entry_messages", "items_of", "make_slot", "message_tokens"]

_MENDED = (User, Assistant, ToolResult, System)
_EDITABLE = (User, Assistant, ToolResult, Custom)


class Item(Struct, frozen=True, kw_only=True):
    """One message of a context and the entry that it comes from."""

    entry: Entry
    message: Message
    edit: Any = UNSET
    """Content that a context edit put in the place of the entry's own."""
    raw: Mapping[str, Any] | None = None
    """The message as written, when it stands inside an entry of another type."""

    def as_dict(self) -> dict[str, Any]:
        """Give the message as a fresh dict in pi's shape, with every field that the file holds."""
        data = dict(self.raw or self.entry.message_data or _summary_dict(self.entry, self.message))
        if self.edit is not UNSET:
            data["content"] = self.edit
        elif data.get("content") is None and isinstance(self.message, _MENDED):
            data["content"] = "" if isinstance(self.message, System) else []
        return data


class Slot(Struct, frozen=True, kw_only=True):
    """One entry of a path with all it projects, which may be nothing."""

    entry: Entry
    messages: tuple[Message, ...]
    edit: Any = UNSET
    raw: tuple[Mapping[str, Any] | None, ...] = ()
    omitted: bool = False
    """Whether an edit, or a newer cut, took away what the entry would project."""


def entry_messages(entry: Entry, rules: Rules) -> tuple[Message, ...]:
    """All messages that ``entry`` projects on its own."""
    return make_slot(entry, rules).messages


def make_slot(entry: Entry, rules: Rules, replacement: Any = UNSET) -> Slot:
    """Project one entry; ``replacement`` is that of its newest context edit, None omits the entry."""
    message = entry.message
    if message is None:
        return Slot(entry=entry, messages=())
    if replacement is None:
        return Slot(entry=entry, messages=(), omitted=True)
    if entry.type == "compaction":
        return _compaction_slot(entry, message, rules)
    if isinstance(replacement, UnsetType) or not isinstance(message, _EDITABLE):
        return Slot(entry=entry, messages=(message,))
    return _edited_slot(entry, message, replacement)


def items_of(slots: Iterable[Slot]) -> list[Item]:
    """Flatten slots to one item a message."""
    items: list[Item] = []
    for slot in slots:
        raws: Sequence[Mapping[str, Any] | None] = slot.raw or (None,) * len(slot.messages)
        for message, raw in zip(slot.messages, raws, strict=True):
            items.append(Item(entry=slot.entry, message=message, edit=slot.edit, raw=raw))
    return items


def message_tokens(message: Message, rules: Rules) -> int:
    """Tokens of one message by the sources' size rule; a system message is unknown to 0.82.1 and counts nothing."""
    return 0 if isinstance(message, System) and not rules.system_messages else estimate_tokens(message)


def any_message(entry: Entry) -> Message | None:
    """Give the entry's message even when it is a branch summary without text."""
    if entry.type == "branch_summary" and entry.message is None:
        from_id = entry.get("fromId")
        return BranchSummary(summary="", from_id=as_text(from_id), timestamp=entry.timestamp_ms or 0)
    return entry.message


def _compaction_slot(entry: Entry, summary: Message, rules: Rules) -> Slot:
    system, tail = as_mapping(entry.get("systemMessage")), as_list(entry.get("retainedTail"))
    if rules.system_messages and system is not None:
        return Slot(entry=entry, messages=(as_message(system), summary), raw=(system, None))
    if rules.stored_tail and tail is not None:
        stored = [message for message in map(as_mapping, tail) if message is not None]
        return Slot(entry=entry, messages=(summary, *map(as_message, stored)), raw=(None, *stored))
    return Slot(entry=entry, messages=(summary,))


def _edited_slot(entry: Entry, message: User | Assistant | ToolResult | Custom, replacement: Any) -> Slot:
    content = (as_mapping(replacement) or {}).get("content")
    if isinstance(message, Assistant | ToolResult) and isinstance(content, str):
        content = [{"type": "text", "text": content}]
    typed = as_message({"role": "user", "content": content})
    edited = replace(message, content=typed.content) if isinstance(typed, User) else message
    return Slot(entry=entry, messages=(edited,), edit=content)


def _summary_dict(entry: Entry, message: Message) -> dict[str, Any]:
    """Dict of a message that exists only as a projection of its entry."""
    when = entry.timestamp_ms
    match message:
        case Custom():
            fields = {key: entry.get(key, UNSET) for key in ("customType", "content", "display", "details")}
            fields["content"] = [] if fields["content"] in (None, UNSET) else fields["content"]
            named = {"role": "custom", **fields, "timestamp": when}
        case BranchSummary():
            named = {
                "role": "branchSummary",
                "summary": message.summary,
                "fromId": entry.get("fromId", UNSET),
                "timestamp": when,
            }
        case CompactionSummary():
            named = {
                "role": "compactionSummary",
                "summary": message.summary,
                "tokensBefore": entry.get("tokensBefore", UNSET),
                "timestamp": when,
            }
        case _:
            return as_dict(message)
    return {key: value for key, value in named.items() if value is not UNSET}
