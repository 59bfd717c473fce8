"""Which entry stands behind which message (docs/pruning.md, docs/adr/0023-align-by-ids.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from msgspec import Struct

from leafscar.model import (
    Assistant,
    BashExecution,
    Entry,
    EntryLike,
    Message,
    MessageLike,
    ToolResult,
    as_entry,
    as_message,
)
from leafscar.pruning.rules import DEFAULT, PruningRules

__all__ = ["Alignment", "align"]


class Alignment(Struct, frozen=True, kw_only=True):
    """The entry of each message, by position."""

    entries: tuple[EntryLike | None, ...]
    """The very objects that were passed in; None where no entry is known.

    By ids only tool results and executions have one; by equality every message has.
    """
    unaligned: int
    """How many tool results and executions have no entry, so that nothing can be recalled for them."""
    failed: bool = False
    """Whether nothing could be aligned although there was something to align."""


def align(messages: Sequence[MessageLike], entries: Sequence[EntryLike], rules: PruningRules = DEFAULT) -> Alignment:
    """Find the entry of each message; ``entries`` are those of the context, in its order.

    By ids: the tool call for results, command and timestamp for executions. Where an id repeats, an equal timestamp
    decides, then the newest entry. By equality (the sources): one walk in step, where one message that differs,
    lacks or was added makes the whole alignment fail; only a failed response may be absent.
    """
    typed = [as_message(message) for message in messages]
    outputs = sum(isinstance(message, ToolResult | BashExecution) for message in typed)
    found = _by_equality(messages, typed, entries) if rules.align_by_equality else _by_ids(typed, entries)
    if found is None:
        return Alignment(entries=(None,) * len(typed), unaligned=outputs, failed=True)
    unaligned = sum(
        isinstance(message, ToolResult | BashExecution) and found[position] is None
        for position, message in enumerate(typed)
    )
    failed = not rules.align_by_equality and 0 < outputs == unaligned
    return Alignment(entries=tuple(found), unaligned=unaligned, failed=failed)


# --- by ids -------------------------------------------------------------------------------------------

_Key: TypeAlias = tuple[str, object]
_Known: TypeAlias = dict[_Key, list[tuple[float, EntryLike]]]


def _key(message: Message | None) -> _Key | None:
    match message:
        case ToolResult(tool_call_id=call_id) if call_id:
            return ("result", call_id)
        case BashExecution(command=command, timestamp=timestamp):
            return ("execution", (command, timestamp))
        case _:
            return None


def _by_ids(messages: Sequence[Message], entries: Sequence[EntryLike]) -> list[EntryLike | None]:
    known: _Known = {}
    for entry in entries:
        message = as_entry(entry).message
        if message is not None and (key := _key(message)) is not None:
            known.setdefault(key, []).append((message.timestamp, entry))
    found = [_take(known, message) for message in reversed(messages)]
    return found[::-1]


def _take(known: _Known, message: Message) -> EntryLike | None:
    key = _key(message)
    waiting = known.get(key) if key is not None else None
    if not waiting:
        return None
    same_time = (i for i in range(len(waiting) - 1, -1, -1) if waiting[i][0] == message.timestamp)
    return waiting.pop(next(same_time, -1))[1]


# --- by equality --------------------------------------------------------------------------------------


def _by_equality(
    messages: Sequence[MessageLike], typed: Sequence[Message], entries: Sequence[EntryLike]
) -> list[EntryLike | None] | None:
    found: list[EntryLike | None] = []
    for given in entries:
        entry = as_entry(given)
        message = entry.message
        if message is None:
            continue
        place = len(found)
        if place < len(typed) and _is_same(messages[place], typed[place], entry):
            found.append(given)
        elif not (isinstance(message, Assistant) and message.stop_reason in ("error", "length")):
            return None
    return found if len(found) == len(typed) else None


def _is_same(message: MessageLike, typed: Message, entry: Entry) -> bool:
    data = entry.message_data
    if isinstance(message, Mapping) and data is not None:
        return message == data
    return typed == entry.message
