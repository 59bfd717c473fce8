"""Numbers as both views print them: one place, so that a token reads the same everywhere (docs/report.md)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeGuard

__all__ = ["UNKNOWN", "count", "dollars", "inferred", "known", "percent", "places", "signed", "tick", "tokens"]

UNKNOWN = "unknown"
"""Stands wherever a number is not known; never 0, never blank."""

_KILO, _MEGA, _CENT = 1_000, 1_000_000, 0.01


def known(value: float | None) -> TypeGuard[float]:
    """Whether there is a number to print: neither None nor NaN nor infinite."""
    return value is not None and math.isfinite(value)


def tokens(value: float | None) -> str:
    """Tokens with three digits: ``812``, ``12.3k``, ``184k``, ``1.23M``."""
    if not known(value):
        return UNKNOWN
    size = abs(value)
    if size < _KILO - 0.5:
        return f"{round(value)}"
    if size < _MEGA - _KILO / 2:
        return f"{value / _KILO:.{int(size < 100 * _KILO - 50)}f}k"
    return f"{value / _MEGA:,.2f}M"


def tick(value: float) -> str:
    """Tokens at an axis, without trailing zeros: ``50k``, ``1.5M``."""
    if value >= _MEGA:
        return f"{value / _MEGA:g}M"
    return f"{value / _KILO:g}k" if value >= _KILO else f"{value:g}"


def places(amounts: Iterable[float | None]) -> int:
    """Decimals at which the smallest of some dollar amounts says something: 2, 3 below a dollar, 4 below a cent."""
    smallest = min((abs(amount) for amount in amounts if known(amount) and amount), default=1)
    return 4 if smallest < _CENT else 3 if smallest < 1 else 2


def dollars(value: float | None, decimals: int = 2) -> str:
    """Dollars with at least ``decimals`` decimals; below a cent with four."""
    if not known(value):
        return UNKNOWN
    if 0 < abs(value) < _CENT / 200:
        return "<$0.0001"
    decimals = max(decimals, 4 if 0 < abs(value) < _CENT else 2)
    return f"{'-' if value < 0 else ''}${abs(value):,.{decimals}f}"


def signed(text: str, value: float) -> str:
    """Put a plus before the text of a positive number."""
    return f"+{text}" if value > 0 else text


def percent(share: float | None) -> str:
    """Print a share of 1 as a percentage: one decimal below 10 %, none above; it never breaks before %."""
    value = None if share is None else share * 100
    if not known(value):
        return UNKNOWN
    text = f"{value:,.{int(abs(value) < 10 - 0.05)}f}"
    return f"{'0.0' if text == '-0.0' else text}\u00a0%"


def count(number: int, noun: str) -> str:
    """Write ``1 cut``, ``2 cuts``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def inferred(text: str, *, when: bool) -> str:
    """Mark a number that was inferred, not reported: ``~12.3k``. What is unknown needs no mark."""
    return f"~{text}" if when and text != UNKNOWN else text
