"""What a controller tells whoever listens: one event a decision, numbers only (docs/policies.md)."""

from __future__ import annotations

from msgspec import Struct

__all__ = ["Event"]


class Event(Struct, frozen=True, kw_only=True):
    """One decision. Holds no text of the session: kinds, positions, ids and numbers."""

    kind: str
    """keep | shed | summarise | cut | nothing-to-cut | summary-failed | fallback | over-threshold | off |
    anchor-refused | loop-breaker | resync."""
    reason: str
    estimate: float
    """Tokens of the next request before the decision took effect."""
    after: float | None = None
    """Tokens after it, as far as it is known."""
    outputs: int = 0
    """Outputs that a move replaced."""
    saved: float = 0
    """Tokens that a move took out."""
