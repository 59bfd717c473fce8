"""Whether a session's requests go out pruned: one sticky boolean (docs/pruning.md)."""

from __future__ import annotations

__all__ = ["next_engagement"]


def next_engagement(engaged: bool, estimate: float, threshold: float, reset: bool) -> bool:  # noqa: FBT001
    """Give the next state: above the threshold (tokens) it engages, otherwise a reset drops it, otherwise it stays."""
    if estimate > threshold:
        return True
    return engaged and not reset
