"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, thing: str) -> str:
    """Give ``1 cut`` or ``2 cuts``; of several words the last takes the plural."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
