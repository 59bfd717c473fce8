"""The usage-backed estimate: what the provider last reported, plus what came after it (docs/estimates.md)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from leafscar.estimate.chars import estimate_tokens
from leafscar.model.messages import Assistant, Message, MessageLike, as_message
from leafscar.model.usage import Usage, as_usage

__all__ = ["ContextEstimate", "anchor_tokens", "context_tokens", "estimate_context"]


class ContextEstimate(Struct, frozen=True, kw_only=True):
    """Tokens of a context, and where the number comes from."""

    tokens: float
    """``usage_tokens + trailing_tokens``."""
    usage_tokens: float
    """What the anchor's provider reported; 0 without an anchor."""
    trailing_tokens: float
    """Estimate of the messages after the anchor; of all messages without one."""
    last_usage_index: int | None
    """Position of the anchor in the list; None without one."""


def context_tokens(usage: Usage | object) -> float:
    """Context tokens of a usage report; NaN when it is incomplete."""
    known = as_usage(usage)
    return float("nan") if known is None else known.total


def anchor_tokens(message: Message) -> float | None:
    """Context tokens that a finished response reported; None when no estimate may rest on the message."""
    if not isinstance(message, Assistant) or message.usage is None or message.failed:
        return None
    total = message.usage.total
    return total if total > 0 else None


def estimate_context(
    messages: Sequence[MessageLike], *, estimate: Callable[[Message], float] = estimate_tokens
) -> ContextEstimate:
    """Tokens of a list: the last anchor's report plus ``estimate`` of every message after it."""
    trailing: float = 0
    for index in range(len(messages) - 1, -1, -1):
        message = as_message(messages[index])
        usage = anchor_tokens(message)
        if usage is not None:
            return ContextEstimate(
                tokens=usage + trailing, usage_tokens=usage, trailing_tokens=trailing, last_usage_index=index
            )
        trailing += estimate(message)
    return ContextEstimate(tokens=trailing, usage_tokens=0, trailing_tokens=trailing, last_usage_index=None)
