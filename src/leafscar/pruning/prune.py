"""The pass: a list of messages in, the same list with old outputs replaced by markers out (docs/pruning.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from leafscar.estimate import estimate_context
from leafscar.model import Assistant, BashExecution, EntryLike, MessageLike, Text, ToolResult
from leafscar.model.messages import parts_of
from leafscar.pruning.align import align
from leafscar.pruning.arguments import with_marked_arguments, with_marked_dict
from leafscar.pruning.eligible import NOTHING, Never
from leafscar.pruning.markers import Resolve
from leafscar.pruning.plan import PruneRecord, ReferenceFor, plan, watermark
from leafscar.pruning.rules import DEFAULT, PruningRules
from leafscar.pruning.settings import SettingsLike, as_settings

__all__ = ["Pruned", "prune", "replaced"]


class Pruned(Struct, frozen=True, kw_only=True):
    """Outcome of a pass."""

    engaged: bool
    """Whether the pass ran; it may have found nothing."""
    messages: Sequence[MessageLike]
    """The very list that came in where nothing was pruned; else a new one of the same objects, pruned ones replaced."""
    records: tuple[PruneRecord, ...] = ()
    pruned_count: int = 0
    savings_tokens: int = 0
    """Sum over ``records``."""
    unaligned: int = 0
    """Tool outputs that no entry stands behind; they stay raw."""


def prune(  # noqa: PLR0913
    messages: Sequence[MessageLike],
    entries: Sequence[EntryLike],
    *,
    context_window: float,
    reserve_tokens: float,
    reference_for: ReferenceFor,
    settings: SettingsLike = None,
    engage: bool = False,
    rules: PruningRules = DEFAULT,
    resolve: Resolve | None = None,
    never: Never = NOTHING,
) -> Pruned:
    """Replace large old tool outputs by markers once the context holds more than ``window - reserve`` tokens.

    ``entries`` are the session's entries of this context, ``engage`` skips the threshold because the caller has
    decided already. The result depends on the arguments alone, and pruning it again changes nothing.
    """
    chosen = as_settings(settings)
    if not chosen.enabled or not (engage or _is_over(messages, context_window, reserve_tokens, rules)):
        return Pruned(engaged=False, messages=messages)
    alignment = align(messages, entries, rules)
    if alignment.failed:
        return Pruned(engaged=False, messages=messages, unaligned=alignment.unaligned)
    replacements = plan(
        messages,
        alignment,
        until=watermark(messages, current_turn=chosen.protect_current_turn),
        min_tokens=chosen.min_result_tokens,
        reference_for=reference_for,
        rules=rules,
        resolve=resolve,
        never=never,
    )
    if not replacements:
        return Pruned(engaged=True, messages=messages, unaligned=alignment.unaligned)
    pruned = list(messages)
    for item in replacements:
        pruned[item.position] = replaced(pruned[item.position], item.marker.text)
    return Pruned(
        engaged=True,
        messages=pruned,
        records=tuple(item.record for item in replacements),
        pruned_count=len(replacements),
        savings_tokens=sum(item.marker.savings for item in replacements),
        unaligned=alignment.unaligned,
    )


def replaced(message: MessageLike, marker: str) -> MessageLike:
    """Give a copy of a tool result or an execution with its text replaced; images and unknown parts stay, in order.

    Of a response the long texts in its write and edit calls are replaced.
    """
    if isinstance(message, Mapping):
        return _replaced_dict(message, marker)
    if isinstance(message, Assistant):
        return with_marked_arguments(message, marker)
    if isinstance(message, BashExecution):
        return msgspec.structs.replace(message, output=marker)
    assert isinstance(message, ToolResult)
    if isinstance(message.content, str):
        return msgspec.structs.replace(message, content=marker)
    kept = (part for part in parts_of(message.content) if not isinstance(part, Text))
    return msgspec.structs.replace(message, content=(Text(text=marker), *kept))


def _replaced_dict(message: Mapping[str, Any], marker: str) -> dict[str, Any]:
    if message.get("role") == "assistant":
        return with_marked_dict(message, marker)
    if message.get("role") == "bashExecution":
        return {**message, "output": marker}
    content = message.get("content")
    if isinstance(content, str):
        return {**message, "content": marker}
    kept = [part for part in content or () if not (isinstance(part, Mapping) and part.get("type") == "text")]  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return {**message, "content": [{"type": "text", "text": marker}, *kept]}


def _is_over(messages: Sequence[MessageLike], window: float, reserve: float, rules: PruningRules) -> bool:
    if window <= 0 and not rules.engage_without_window:
        return False
    return estimate_context(messages).tokens > window - reserve
