"""What a host hands a controller besides the facts of a request."""

from __future__ import annotations

from msgspec import Struct

from leafscar.pruning import Never, Resolve
from leafscar.pruning.eligible import NOTHING

__all__ = ["CacheFacts", "ShedSettings"]


class CacheFacts(Struct, frozen=True, kw_only=True):
    """What the provider's prompt cache costs, relative to plain input, and how long it lives."""

    read: float = 0.1
    write: float = 1.25
    ttl: float = 300
    """Seconds."""


class ShedSettings(Struct, frozen=True, kw_only=True):
    """What the settings files say about level 1; None is *not set*, which leaves it to the policy."""

    min_result_tokens: int | None = None
    protect_current_turn: bool | None = None
    never: Never = NOTHING
    arguments: bool = False
    """Whether long arguments of old write and edit calls may go too."""
    resolve: Resolve | None = None
    """Renews the reference that an old recall call asked for (docs/pruning.md)."""
