"""Tokens of a projected context: usage counts only when nothing changed the context after it was reported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from leafscar.compaction.rebuild import Projection
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item, message_tokens
from leafscar.estimate import ContextEstimate, estimate_context, estimate_tokens
from leafscar.model import Entry, EntryLike, System, as_entry
from leafscar.model.messages import text_of
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["estimate_projection"]


def estimate_projection(projection: Projection, path: Sequence[EntryLike], rules: Rules = DEFAULT) -> ContextEstimate:
    """Estimate a projection of ``path``; an anchor older than the newest cut or context edit does not count."""
    estimate = estimate_context(projection.messages, estimate=lambda message: message_tokens(message, rules))
    if not rules.fresh_anchor_only or _is_fresh(estimate, projection, [as_entry(entry) for entry in path]):
        return estimate
    tokens = _plain_tokens(projection.items)
    return ContextEstimate(tokens=tokens, usage_tokens=0, trailing_tokens=tokens, last_usage_index=None)


def _is_fresh(estimate: ContextEstimate, projection: Projection, path: Sequence[Entry]) -> bool:
    if estimate.last_usage_index is None:
        return False
    anchor = projection.items[estimate.last_usage_index].entry
    for entry in reversed(path):
        if entry.id == anchor.id:
            return True
        if entry.type in ("context_edit", "compaction"):
            return False
    return False


def _plain_tokens(items: Sequence[Item]) -> int:
    systems: list[tuple[System, Mapping[str, Any]]] = []
    tokens = 0
    for item in items:
        if isinstance(item.message, System):
            systems.append((item.message, item.as_dict()))
        else:
            tokens += estimate_tokens(item.message)
    return tokens + (estimate_tokens(_replayed(systems)) if systems else 0)


def _replayed(systems: Sequence[tuple[System, Mapping[str, Any]]]) -> System:
    """Fold system messages into the one that is in force."""
    sections: dict[str, str | None] = {}
    tools: dict[str, Any] = {}
    for message, data in systems:
        sections.update(as_mapping(message.sections) or {})
        _apply_tools(tools, data)
    texts = (text_of(message.content) for message, _ in systems)
    return System(
        content="\n\n".join(text for text in texts if text),
        sections=sections,
        tools_added=list(tools.values()) or None,
    )


def _apply_tools(tools: dict[str, Any], message: Mapping[str, Any]) -> None:
    for removed in as_list(message.get("toolsRemoved")) or ():
        tools.pop(_name(removed), None)
    for added in as_list(message.get("toolsAdded")) or ():
        tools[_name(added)] = added


def _name(tool: Any) -> str:
    return as_text((as_mapping(tool) or {}).get("name")) or ""
