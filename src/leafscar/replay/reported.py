"""Which numbers of a recording can be true; every other one is unknown, so that all that follows stays finite."""

from __future__ import annotations

from msgspec.structs import replace

from leafscar.model import Usage
from leafscar.model.shapes import as_mapping, as_number

__all__ = ["MOST", "has_impossible_cost", "likely_moment", "likely_number", "likely_usage", "stated_cost"]

MOST = 1e12
"""No session has as many tokens, or costs as many dollars."""

_FIRST_MS = 1e11
"""Numbers up to here are no milliseconds since 1970 (old recordings number their messages); it is in 1973."""
_LAST_MS = 253_402_300_799_000
"""The last second of the year 9999, behind which there is no date."""

_INPUT = ("input", "cache_read", "cache_write")


def likely_number(value: object) -> int | float | None:
    """Give a number of tokens or dollars; None for what is no number, negative, not finite or over :data:`MOST`."""
    number = as_number(value)
    return number if number is not None and 0 <= number <= MOST else None


def likely_moment(milliseconds: float | None) -> float | None:
    """Seconds since 1970 of a moment between 1973 and the year 9999; None for every other one."""
    return milliseconds / 1000 if milliseconds is not None and _FIRST_MS < milliseconds <= _LAST_MS else None


def likely_usage(usage: Usage | None) -> Usage | None:
    """Give ``usage`` with its impossible counts unknown; the same object where there are none.

    One impossible count of the input side makes that whole side unknown: its sum would be no size of a request.
    """
    if usage is None:
        return None
    names = {name for name in usage.__struct_fields__ if _is_impossible(getattr(usage, name))}
    if names & set(_INPUT):
        names |= {*_INPUT, "total_tokens"}
    return replace(usage, **dict.fromkeys(names)) if names else usage


def stated_cost(usage: object) -> float | None:
    """Dollars that the host wrote into a usage object of a session; None when it wrote none that can be."""
    return likely_number(_cost(usage))


def has_impossible_cost(usage: object) -> bool:
    """Whether the host wrote dollars that cannot be."""
    return _is_impossible(as_number(_cost(usage)))


def _cost(usage: object) -> object:
    return (as_mapping((as_mapping(usage) or {}).get("cost")) or {}).get("total")


def _is_impossible(value: float | None) -> bool:
    return value is not None and likely_number(value) is None
