"""What goes out: positions that are replaced, and how a host builds its list from them (docs/architecture.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from leafscar.compaction import Item, Preparation, SummaryRequest, check_pairs, settle
from leafscar.model import as_dict
from leafscar.model.shapes import as_list, as_mapping
from leafscar.pruning import replaced

__all__ = ["Fallback", "Outcome", "Plan", "Send", "Summarise", "materialise", "sendable"]


class Plan(Struct, frozen=True, kw_only=True):
    """The next request in terms of the context's positions."""

    length: int
    """Messages in the context."""
    kept: int
    """Leading messages that have the same bytes as in the request before."""
    replacements: Mapping[int, str]
    """Marker text by position; every other message goes out as it is."""
    boundary: int | None = None
    """First position that the newest move changed: a good place for a cache breakpoint; None before any move."""
    strip_thinking: tuple[int, int] | None = None
    """Positions from .. to (exclusive) that go out without thinking, on models that bind it; None: nowhere."""
    drop_block: bool = False
    """Whether the request must allow the provider to drop bound thinking that no longer fits."""
    estimate: float
    """Tokens of the request."""


class Send(Struct, frozen=True, kw_only=True):
    """Send the request of ``plan``; first append a compaction entry with ``cut``, when there is one."""

    plan: Plan
    cut: Mapping[str, Any] | None = None
    """Fields of the compaction entry, in pi's shape."""


class Summarise(Struct, frozen=True, kw_only=True):
    """Ask the model for a summary first, then call ``summarised`` with what it answered."""

    request: SummaryRequest
    reason: str
    preparation: Preparation | None = None
    """What the cut covers and keeps; None when this asks for the second summary of the same cut."""


class Fallback(Struct, frozen=True, kw_only=True):
    """The summary failed; send ``plan``, which is small enough without it, and say ``words``."""

    plan: Plan
    words: str


Outcome: TypeAlias = Send | Summarise | Fallback
"""What a host does next."""


def materialise(items: Sequence[Item], plan: Plan) -> list[dict[str, Any]]:
    """Build the outgoing messages as fresh dicts in pi's shape; abandoned messages settled, every pair whole.

    Raises :class:`BrokenPair` rather than give a list with a broken pair.
    """
    outgoing = [item.as_dict() for item in items]
    for position, marker in plan.replacements.items():
        outgoing[position] = dict(as_mapping(replaced(outgoing[position], marker)) or {})
    for position in range(*(plan.strip_thinking or (0, 0))):
        outgoing[position] = _without_thinking(outgoing[position])
    sent = sendable(outgoing)
    check_pairs(sent)
    return sent


def sendable(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Settle what was abandoned and leave out responses that failed; each call is followed by its one result.

    A result that came late stands right after its call, a call without one gets an error result, and a result whose
    call is not sent stays out.
    """
    return [as_dict(message) for message in settle(messages)]


def _without_thinking(message: dict[str, Any]) -> dict[str, Any]:
    parts = as_list(message.get("content"))
    if message.get("role") != "assistant" or parts is None:
        return message
    return {**message, "content": [part for part in parts if (as_mapping(part) or {}).get("type") != "thinking"]}
