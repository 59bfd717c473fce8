"""Which outputs a request sheds, by position (docs/pruning.md)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from msgspec import Struct

from leafscar.estimate import estimate_tokens
from leafscar.model import Assistant, EntryLike, Message, MessageLike, ToolCall, ToolResult, User, as_entry, as_message
from leafscar.model.messages import tool_calls
from leafscar.pruning.align import Alignment
from leafscar.pruning.eligible import NOTHING, Candidate, Never, candidate_for
from leafscar.pruning.markers import Marker, Resolve, marker_for, replaced_tokens
from leafscar.pruning.rules import DEFAULT, PruningRules

__all__ = ["PruneRecord", "ReferenceFor", "Replacement", "calls_by_id", "plan", "watermark"]

ReferenceFor: TypeAlias = Callable[[EntryLike], str]
"""From an entry, the very object that was passed in, to the reference that its marker prints."""


class PruneRecord(Struct, frozen=True, gc=False, kw_only=True):
    """What pruning one output came to, in tokens."""

    reference: str
    tool_name: str
    original_tokens: int
    """What the marker stands for; images, which stay, are not in it."""
    marker_tokens: int
    savings_tokens: int


class Replacement(Struct, frozen=True, kw_only=True):
    """One output that goes, and the marker that comes."""

    position: int
    marker: Marker
    record: PruneRecord


def calls_by_id(messages: Sequence[Message]) -> dict[str, ToolCall]:
    """Give every tool call of the list by its id; of calls with the same id the last one."""
    return {call.id: call for message in messages for call in tool_calls(message)}


def watermark(
    messages: Sequence[MessageLike],
    *,
    current_turn: bool = True,
    unanswered: bool = False,
    recent_tokens: int = 0,
) -> int:
    """Give the position from which on every output stays raw.

    ``current_turn`` keeps what follows the last user message (everything, where there is none), ``unanswered`` what
    follows the last response that did not fail, ``recent_tokens`` each message that reaches into so many of the
    newest tokens.
    """
    typed = [as_message(message) for message in messages]
    bound = len(typed)
    if current_turn:
        bound = _after_last(typed, _is_user)
    if unanswered:
        bound = min(bound, _after_last(typed, _is_response))
    return min(bound, _before_newest(typed, recent_tokens))


def plan(
    messages: Sequence[MessageLike],
    alignment: Alignment,
    *,
    until: int,
    min_tokens: int,
    reference_for: ReferenceFor,
    rules: PruningRules = DEFAULT,
    resolve: Resolve | None = None,
    never: Never = NOTHING,
) -> tuple[Replacement, ...]:
    """Give the replacements among the first ``until`` messages, oldest first."""
    typed = [as_message(message) for message in messages]
    calls = calls_by_id(typed)
    step = _Step(min_tokens, reference_for, rules, resolve, never)
    found = (
        step.replacement(position, message, entry, calls)
        for position, (message, entry) in enumerate(zip(typed[:until], alignment.entries, strict=False))
        if entry is not None
    )
    return tuple(item for item in found if item is not None)


class _Step(NamedTuple):
    """What is the same for every message of one pass."""

    min_tokens: int
    reference_for: ReferenceFor
    rules: PruningRules
    resolve: Resolve | None
    never: Never

    def replacement(
        self, position: int, message: Message, entry: EntryLike, calls: Mapping[str, ToolCall]
    ) -> Replacement | None:
        call = calls.get(message.tool_call_id) if isinstance(message, ToolResult) else None
        candidate = candidate_for(
            message,
            call,
            position=position,
            entry_id=as_entry(entry).id,
            min_tokens=self.min_tokens,
            rules=self.rules,
            never=self.never,
        )
        if candidate is None:
            return None
        reference = self.reference_for(entry)
        marker = marker_for(candidate, message, call, reference, rules=self.rules, resolve=self.resolve)
        if marker is None:
            return None
        return Replacement(position=position, marker=marker, record=self._record(candidate, reference, marker))

    def _record(self, candidate: Candidate, reference: str, marker: Marker) -> PruneRecord:
        return PruneRecord(
            reference=reference,
            tool_name=candidate.tool_name,
            original_tokens=replaced_tokens(candidate, self.rules),
            marker_tokens=marker.tokens,
            savings_tokens=marker.savings,
        )


def _is_user(message: Message) -> bool:
    return isinstance(message, User)


def _is_response(message: Message) -> bool:
    return isinstance(message, Assistant) and not message.failed


def _after_last(messages: Sequence[Message], wanted: Callable[[Message], bool]) -> int:
    positions = range(len(messages) - 1, -1, -1)
    return next((position + 1 for position in positions if wanted(messages[position])), 0)


def _before_newest(messages: Sequence[Message], tokens: int) -> int:
    """Position of the first message that reaches into the newest ``tokens``."""
    bound, newer = len(messages), 0
    while bound and newer < tokens:
        bound -= 1
        newer += estimate_tokens(messages[bound])
    return bound
