"""What a provider reported for one request, in tokens."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from leafscar.model.shapes import as_mapping, as_number

__all__ = ["Usage", "as_usage"]


_NAMES = {
    "cache_read": "cacheRead",
    "cache_write": "cacheWrite",
    "cache_write_1h": "cacheWrite1h",
    "total_tokens": "totalTokens",
}


class Usage(Struct, frozen=True, gc=False, rename=_NAMES, kw_only=True, omit_defaults=True):
    """Tokens of one request; None is *not reported*, which is never the same as 0."""

    input: int | float | None = None
    """Uncached input tokens: neither read from nor written to the cache."""
    output: int | float | None = None
    """Output tokens, thinking included."""
    cache_read: int | float | None = None
    """Input tokens that the provider read from its prompt cache."""
    cache_write: int | float | None = None
    """Input tokens that the provider wrote to its prompt cache."""
    cache_write_1h: int | float | None = None
    """The part of ``cache_write`` with the one-hour lifetime."""
    total_tokens: int | float | None = None
    """The provider's own sum, when it gave one."""

    @property
    def total(self) -> float:
        """Context tokens: the stated total if it is not 0, else the sum of the four; NaN when a part is unknown."""
        if self.total_tokens:
            return self.total_tokens
        parts = (self.input, self.output, self.cache_read, self.cache_write)
        return math.nan if None in parts else sum(part or 0 for part in parts)

    @property
    def prompt(self) -> float:
        """Input side of the request (uncached + read + written); unreported parts count as nothing."""
        return (self.input or 0) + (self.cache_read or 0) + (self.cache_write or 0)

    @property
    def faults(self) -> tuple[str, ...]:
        """Names of the fields that hold NaN, an infinity or a negative number."""
        return tuple(name for name in self.__struct_fields__ if _is_bad(getattr(self, name)))


def _is_bad(value: float | None) -> bool:
    return value is not None and not 0 <= value <= sys.float_info.max


def as_usage(value: object) -> Usage | None:
    """Read a usage dict in pi's shape; None when there is none. A field that is no number reads as NaN."""
    if isinstance(value, Usage):
        return value
    fields = as_mapping(value)
    if fields is None:
        return None
    return Usage(
        input=_count(fields, "input"),
        output=_count(fields, "output"),
        cache_read=_count(fields, "cacheRead"),
        cache_write=_count(fields, "cacheWrite"),
        cache_write_1h=_stated(fields, "cacheWrite1h"),
        total_tokens=_stated(fields, "totalTokens"),
    )


def _count(fields: Mapping[str, Any], name: str) -> float | None:
    if name in fields and fields[name] is None:
        return 0  # JavaScript adds null as 0
    return _stated(fields, name)


def _stated(fields: Mapping[str, Any], name: str) -> float | None:
    value = fields.get(name)
    number = as_number(value)
    return math.nan if number is None and value is not None else number
