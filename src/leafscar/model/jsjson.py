"""JSON as JavaScript writes and measures it: the sizes that the sources count (spec: docs/estimates.md).

A length is a number of UTF-16 code units; compact JSON is what ``JSON.stringify`` gives.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from json.encoder import encode_basestring
from typing import cast

from leafscar.model.shapes import as_list, as_mapping

__all__ = ["js_number", "key_order", "stringify", "utf16_key", "utf16_length", "utf16_prefix"]

_MAX_SAFE = 2**53
_INDEX_LIMIT = 2**32 - 2
_ARRAY_INDEX = re.compile(r"0|[1-9][0-9]{0,9}")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_FIXED_FROM, _FIXED_TO = -7, 21


def utf16_length(text: str) -> int:
    """Length of ``text`` in UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def utf16_key(text: str) -> bytes:
    """Sort key that orders strings by UTF-16 code units."""
    return text.encode("utf-16-be", "surrogatepass")


def utf16_prefix(text: str, units: int) -> str:
    """Give the first ``units`` UTF-16 code units; a cut pair leaves a lone surrogate, as in the sources."""
    if text.isascii() or (len(text) <= units and utf16_length(text) <= units):
        return text[:units]
    head = text[:units].encode("utf-16-le", "surrogatepass")[: 2 * units]
    return head.decode("utf-16-le", "surrogatepass")


def js_number(value: float) -> str:
    """Write a number as ECMAScript does; non-finite numbers become ``null``."""
    if isinstance(value, int) and abs(value) <= _MAX_SAFE:
        return str(value)
    try:
        number = float(value)
    except OverflowError:
        return "null"
    if not math.isfinite(number):
        return "null"
    if number == 0:
        return "0"
    sign, digits, exponent = Decimal(repr(number)).as_tuple()
    text = "".join(map(str, digits)).rstrip("0") or "0"
    point = len(digits) + int(exponent)
    return ("-" if sign else "") + _place_point(text, point)


def _place_point(digits: str, point: int) -> str:
    if len(digits) <= point <= _FIXED_TO:
        return digits + "0" * (point - len(digits))
    if 0 < point <= _FIXED_TO:
        return f"{digits[:point]}.{digits[point:]}"
    if _FIXED_FROM + 1 < point <= 0:
        return f"0.{'0' * -point}{digits}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{mantissa}e{point - 1:+d}"


def stringify(value: object) -> str:
    """Compact JSON of ``value``, of any depth, as ``JSON.stringify`` writes it.

    Integer-like keys come first in ascending order, lone surrogates are escaped, other characters stay raw.
    """
    text = _flat(value) or _scalar(value)
    return _container(value) if text is None else text


def _flat(value: object) -> str | None:
    """JSON of an object of texts in the order written, which most arguments of calls are; None for anything else."""
    if not isinstance(value, dict):
        return None
    pieces: list[str] = []
    for key, text in cast("dict[object, object]", value).items():
        if type(key) is not str or type(text) is not str or key[:1].isdigit():
            return None
        pieces.append(f"{_string(key)}:{_string(text)}")
    return "{" + ",".join(pieces) + "}"


def _scalar(value: object) -> str | None:
    """JSON of what is no object and no array; None for those."""
    match value:
        case str():
            return _string(value)
        case bool():
            return "true" if value else "false"
        case None:
            return "null"
        case int() | float():
            return js_number(value)
        case _:
            return None


def _container(value: object) -> str:
    pieces: list[str] = []
    walks = [iter((("", value),))]  # a list of our own: Python's stack ends at some hundred levels
    closings = [""]
    while walks:
        for lead, inner in walks[-1]:
            text = _scalar(inner)
            if text is None:
                opening, members, closing = _opened(inner)
                pieces.append(lead + opening)
                walks.append(members)
                closings.append(closing)
                break
            pieces.append(lead + text)
        else:
            walks.pop()
            pieces.append(closings.pop())
    return "".join(pieces)


def _opened(value: object) -> tuple[str, Iterator[tuple[str, object]], str]:
    """Brackets of an object or an array, and its members, each with what is written before it."""
    fields = as_mapping(value)
    if fields is not None:
        return "{", _members(fields), "}"
    items = as_list(value)
    if items is None:
        raise TypeError(f"not a JSON value: {type(value).__name__}")
    return "[", _items(items), "]"


def _members(fields: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    comma = ""
    for key in key_order(fields):
        yield f"{comma}{_string(key)}:", fields[key]
        comma = ","


def _items(items: Sequence[object]) -> Iterator[tuple[str, object]]:
    comma = ""
    for item in items:
        yield comma, item
        comma = ","


def _string(text: str) -> str:
    quoted = encode_basestring(text)
    if text.isascii() or not _LONE_SURROGATE.search(quoted):
        return quoted
    joined = quoted.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return _LONE_SURROGATE.sub(lambda m: f"\\u{ord(m[0]):04x}", joined)


def key_order(fields: Mapping[str, object]) -> list[str]:
    """Keys as a JavaScript object keeps them: integer-like ones first, ascending, then in the order of the mapping."""
    keys = list(fields)
    indexes = sorted((key for key in keys if key[:1].isdigit() and _is_index(key)), key=int)
    if not indexes:
        return keys
    chosen = set(indexes)
    return indexes + [key for key in keys if key not in chosen]


def _is_index(key: str) -> bool:
    return _ARRAY_INDEX.fullmatch(key) is not None and int(key) <= _INDEX_LIMIT
