"""Difference of two documents, as paths with both values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from .texts import NOT_COMPARED

__all__ = ["Difference", "compare", "count_unknown"]

_ABSENT = "(absent)"
_SHOWN = 300


class Difference(NamedTuple):
    """One place at which the documents differ."""

    path: str
    expected: Any
    got: Any

    def __str__(self) -> str:
        return f"{self.path}: expected {_short(self.expected)}, got {_short(self.got)}"


def compare(expected: Any, got: Any, path: str = "$") -> Iterator[Difference]:
    """Differences, depth first; values that could not be computed are passed over."""
    if got is NOT_COMPARED:
        return
    if isinstance(expected, dict) and isinstance(got, dict):
        for key in [*expected, *(key for key in got if key not in expected)]:
            yield from compare(expected.get(key, _ABSENT), got.get(key, _ABSENT), f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list):
        if len(expected) != len(got):
            yield Difference(f"{path}.length", len(expected), len(got))
        for index, pair in enumerate(zip(expected, got, strict=False)):
            yield from compare(*pair, f"{path}[{index}]")
    elif not _equal(expected, got):
        yield Difference(path, expected, got)


def count_unknown(document: Any) -> int:
    """How many values of a document could not be computed."""
    if document is NOT_COMPARED:
        return 1
    if isinstance(document, dict):
        return sum(map(count_unknown, document.values()))
    return sum(map(count_unknown, document)) if isinstance(document, list) else 0


def _equal(expected: Any, got: Any) -> bool:
    if isinstance(expected, str) and isinstance(got, str):
        return _utf16(expected) == _utf16(got)
    return isinstance(expected, bool) == isinstance(got, bool) and expected == got


def _utf16(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
