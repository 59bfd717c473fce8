"""The three settings of pruning (docs/pruning.md)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from leafscar.errors import SettingsError

__all__ = ["PruningSettings", "SettingsLike", "as_settings"]


class PruningSettings(Struct, frozen=True, kw_only=True, rename="camel"):
    """What a user can set about pruning."""

    enabled: bool = True
    """Whether anything is pruned at all."""
    min_result_tokens: int = 1000
    """Outputs of this many tokens or fewer stay raw."""
    protect_current_turn: bool = True
    """Whether everything after the last user message stays raw."""


SettingsLike: TypeAlias = PruningSettings | Mapping[str, Any] | None
"""Settings, or a plain dict with the keys of a settings file; None means the defaults."""

_KEYS = ("enabled", "minResultTokens", "protectCurrentTurn")


def as_settings(value: SettingsLike) -> PruningSettings:
    """Give the typed settings of ``value``; an absent or null key has its default.

    Raises :class:`~leafscar.errors.SettingsError` with one line for each key that is unknown or ill-typed.
    """
    if isinstance(value, PruningSettings):
        return value
    given = {key: item for key, item in (value or {}).items() if item is not None}
    if problems := [fault for key, item in given.items() if (fault := _fault(key, item))]:
        raise SettingsError(*problems)
    default = PruningSettings()
    return PruningSettings(
        enabled=given.get("enabled", default.enabled),
        min_result_tokens=given.get("minResultTokens", default.min_result_tokens),
        protect_current_turn=given.get("protectCurrentTurn", default.protect_current_turn),
    )


def _fault(key: str, item: object) -> str | None:
    if key not in _KEYS:
        return f"pruning.{key} is not a setting; use one of {', '.join(_KEYS)}"
    if key != "minResultTokens":
        return None if isinstance(item, bool) else f"pruning.{key} must be true or false, got {item!r}"
    if isinstance(item, int) and not isinstance(item, bool) and item > 0:
        return None
    return f"pruning.{key} must be a whole number above 0, got {item!r}"
