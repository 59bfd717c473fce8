"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["several"]


def several(number: int, thing: str) -> str:
    """Give ``1 thing`` or ``2 things``; of several words the last takes the plural."""
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s"
