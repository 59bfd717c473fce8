"""Numbers in words, and which differences may be claimed: one place for verdict, report and commands."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeGuard

from leafscar._words import counted as count

__all__ = ["UNKNOWN", "count", "is_told", "is_within", "joint_error", "known", "margin_of", "percent"]

UNKNOWN = "unknown"
"""Stands wherever a number is not known; never 0, never blank."""

_LEAST_ERROR = 0.01  # no model is trusted to less than this share
_LOST = 0.25  # a model that misses the bill by more does not describe the session
_WHOLE_FROM = 10 - 0.05


def known(value: float | None) -> TypeGuard[float]:
    """Whether there is a number to print: neither None nor NaN nor infinite."""
    return value is not None and math.isfinite(value)


def percent(share: float | None) -> str:
    """Print a share of 1 as a percentage: one decimal below 10 %, none above; it never breaks before %."""
    value = None if share is None else share * 100
    if not known(value):
        return UNKNOWN
    text = f"{value:,.{int(abs(value) < _WHOLE_FROM)}f}"
    return f"{'0.0' if text == '-0.0' else text}\u00a0%"


def margin_of(error: float | None) -> float | None:
    """Share that a difference must exceed to be claimed; None when the error is unknown.

    Where the model misses the bill by more than a quarter no difference is claimed, however large.
    """
    if not known(error):
        return None
    return math.inf if error > _LOST else max(error, _LEAST_ERROR)


def joint_error(errors: Iterable[float | None], bills: Iterable[float | None]) -> float | None:
    """Errors of several sessions weighted by their bills: nothing promises that they cancel out.

    None when one of the numbers is unknown, or when all bills are 0.
    """
    missed = whole = 0.0
    for error, bill in zip(errors, bills, strict=True):
        if not known(error) or not known(bill):
            return None
        missed, whole = missed + error * bill, whole + bill
    return missed / whole if whole else None


def is_told(ratio: float | None, margin: float | None) -> bool:
    """Whether a ratio differs from 1 by more than the margin, which must be known."""
    return known(ratio) and known(margin) and abs(ratio - 1) > margin


def is_within(ratio: float | None, margin: float | None) -> bool:
    """Whether the margin explains how far a ratio is from 1; both must be known, an endless margin explains all."""
    return known(ratio) and margin is not None and abs(ratio - 1) <= margin
