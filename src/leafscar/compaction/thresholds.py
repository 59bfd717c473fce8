"""When a request is over, how much stays raw, how long a summary may be. All numbers are tokens."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

__all__ = [
    "KEEP_RECENT",
    "RESERVE",
    "CompactionSettings",
    "Reserve",
    "SettingsLike",
    "as_settings",
    "derive_reserve",
    "keep_recent",
    "should_compact",
    "summary_budget",
]

RESERVE = 16_384
"""Tokens held free for the response unless the model may write more."""
KEEP_RECENT = 20_000
"""Tokens of recent work that stay raw in a large window."""
_SMALLEST_RESERVE = 1024


class Reserve(Struct, frozen=True, kw_only=True):
    """What a window leaves for its contents."""

    enabled: bool
    """False when no window is known: control is off."""
    reserve: int
    """Tokens held free."""
    threshold: int | None
    """``window - reserve``; a context above it is over. None when control is off; 0 or less: all is over."""


class CompactionSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """The three settings that a session carries."""

    enabled: bool = True
    """Whether cuts happen on their own."""
    reserve_tokens: int | float = RESERVE
    """Tokens held free; 0 is legal."""
    keep_recent_tokens: int | float = KEEP_RECENT
    """Tokens of recent work that stay raw."""


SettingsLike: TypeAlias = CompactionSettings | Mapping[str, Any]
"""Settings, or a dict with pi's names (``reserveTokens``, ``keepRecentTokens``)."""


def as_settings(value: SettingsLike) -> CompactionSettings:
    """Give the settings of ``value``; what a dict leaves out has its default."""
    if isinstance(value, CompactionSettings):
        return value
    defaults = CompactionSettings()
    return CompactionSettings(
        enabled=bool(value.get("enabled", defaults.enabled)),
        reserve_tokens=value.get("reserveTokens", defaults.reserve_tokens),
        keep_recent_tokens=value.get("keepRecentTokens", defaults.keep_recent_tokens),
    )


def derive_reserve(window: float, max_output: float = 0) -> Reserve:
    """Reserve room for one full response, at most a third of a small window.

    A window that is 0, negative or not a number switches control off.
    """
    reserve = int(max(RESERVE, max_output)) if max_output == max_output else RESERVE  # noqa: PLR0124 - NaN
    if not (window > 0 and math.isfinite(window)):
        return Reserve(enabled=False, reserve=reserve, threshold=None)
    if reserve * 2 >= window:
        reserve = max(_SMALLEST_RESERVE, int(window // 3))
    return Reserve(enabled=True, reserve=reserve, threshold=int(window - reserve))


def should_compact(tokens: float, window: float, settings: SettingsLike) -> bool:
    """Whether ``tokens`` are more than the window leaves; exactly the threshold is not over."""
    known = as_settings(settings)
    return known.enabled and tokens > window - known.reserve_tokens


def keep_recent(threshold: int) -> int:
    """Tokens that stay raw: never more than half the threshold, so that a cut can shrink a small window."""
    return max(0, min(KEEP_RECENT, threshold // 2))


def summary_budget(reserve: float, max_output: float = 0) -> tuple[int, int]:
    """Output tokens of a history summary and of a turn prefix; ``max_output`` 0 is no limit of the model's."""
    limit = max_output if max_output > 0 else math.inf
    return int(min(math.floor(0.8 * reserve), limit)), int(min(math.floor(0.5 * reserve), limit))
