"""Tokens of a projected context: usage counts only when nothing changed the context after it was reported."""

from __future__ import annotations

from collections.abc import Sequence

from leafscar.compaction.rebuild import Projection
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item, message_tokens
from leafscar.compaction.system import replay_system
from leafscar.estimate import ContextEstimate, estimate_context, estimate_tokens
from leafscar.model import Entry, EntryLike, System, as_entry

__all__ = ["estimate_items", "estimate_projection"]


def estimate_projection(projection: Projection, path: Sequence[EntryLike], rules: Rules = DEFAULT) -> ContextEstimate:
    """Estimate a projection of ``path``; an anchor older than the newest cut or context edit does not count."""
    return estimate_items(projection.items, [as_entry(entry) for entry in path], rules)


def estimate_items(items: Sequence[Item], path: Sequence[Entry], rules: Rules) -> ContextEstimate:
    """Estimate the items that ``path`` projects."""
    messages = [item.message for item in items]
    estimate = estimate_context(messages, estimate=lambda message: message_tokens(message, rules))
    if not rules.fresh_anchor_only or _is_fresh(estimate, items, path):
        return estimate
    tokens = _plain_tokens(items)
    return ContextEstimate(tokens=tokens, usage_tokens=0, trailing_tokens=tokens, last_usage_index=None)


def _is_fresh(estimate: ContextEstimate, items: Sequence[Item], path: Sequence[Entry]) -> bool:
    if estimate.last_usage_index is None:
        return False
    anchor = items[estimate.last_usage_index].entry
    for entry in reversed(path):
        if entry.id == anchor.id:
            return True
        if entry.type in ("context_edit", "compaction"):
            return False
    return False


def _plain_tokens(items: Sequence[Item]) -> int:
    system = replay_system(items)
    rest = sum(estimate_tokens(item.message) for item in items if not isinstance(item.message, System))
    return rest + (0 if system is None else estimate_tokens(system))
