"""Looking into JSON values of unknown shape: each function gives the value in its type, or its absence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

__all__ = ["as_list", "as_mapping", "as_number", "as_text"]


def as_mapping(value: object) -> Mapping[str, Any] | None:
    """Give ``value`` if it is a JSON object, else None."""
    # the class itself first: asking an abstract class is ten times slower, and nearly every object is a dict
    return cast("Mapping[str, Any]", value) if type(value) is dict or isinstance(value, Mapping) else None


def as_list(value: object) -> Sequence[Any] | None:
    """Give ``value`` if it is a JSON array, else None."""
    return cast("Sequence[Any]", value) if isinstance(value, list | tuple) else None


def as_text(value: object) -> str | None:
    """Give ``value`` if it is a string, else None."""
    return value if isinstance(value, str) else None


def as_number(value: object) -> int | float | None:
    """Give ``value`` if it is a number and no boolean, else None."""
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
