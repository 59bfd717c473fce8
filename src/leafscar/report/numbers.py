"""Numbers as both views print them: one place, so that a token reads the same everywhere (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable

from leafscar.replay.numbers import UNKNOWN, count, known, percent

__all__ = ["UNKNOWN", "count", "dollars", "inferred", "known", "percent", "places", "signed", "tick", "tokens"]

_KILO, _MEGA, _CENT = 1_000, 1_000_000, 0.01


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


def inferred(text: str, *, when: bool) -> str:
    """Mark a number that was inferred, not reported: ``~12.3k``. What is unknown needs no mark."""
    return f"~{text}" if when and text != UNKNOWN else text
