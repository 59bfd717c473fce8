"""Size texts, and the first and last lines of an output (docs/pruning.md)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, NamedTuple

from leafscar.model.jsjson import utf16_length, utf16_prefix

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EDGE_LINES", "LINE_CAP", "HeadTail", "format_size", "head_tail", "text_tokens", "whole_prefix"]

EDGE_LINES = 10
"""Lines that a summary keeps at each end."""

LINE_CAP = 200
"""UTF-16 units of a line that a summary keeps before it is shortened."""

_KILO = 1000


def text_tokens(text: str) -> int:
    """Tokens of a plain text by the sources' rule: UTF-16 units divided by four, rounded up."""
    return -(-utf16_length(text) // 4)


def format_size(tokens: float) -> str:
    """Write a size: ``~950`` below a thousand tokens, ``~1.3k`` from there on, rounded as JavaScript rounds."""
    if tokens < _KILO:
        return f"~{Decimal(max(tokens, 0)).quantize(Decimal(1), ROUND_HALF_UP)}"
    return f"~{Decimal(tokens / _KILO).quantize(Decimal('0.1'), ROUND_HALF_UP)}k"


class HeadTail(NamedTuple):
    """Both ends of an output."""

    head: str
    tail: str
    total_lines: int
    omitted_lines: int


def head_tail(output: str, line_cap: int = LINE_CAP, *, split_pairs: bool = False) -> HeadTail:
    """Give the first and last ten lines, each at most ``line_cap`` UTF-16 units; up to twenty lines are all head.

    ``split_pairs`` lets a shortened line end in half a character, as the sources do.
    """
    lines = output.split("\n") if output else []
    omitted = max(0, len(lines) - 2 * EDGE_LINES)
    ends = (lines[:EDGE_LINES], lines[-EDGE_LINES:]) if omitted else (lines, lines[:0])
    prefix = utf16_prefix if split_pairs else whole_prefix
    head, tail = ("\n".join(_short(line, line_cap, prefix) for line in end) for end in ends)
    return HeadTail(head, tail, len(lines), omitted)


def whole_prefix(text: str, units: int) -> str:
    """Give at most the first ``units`` UTF-16 units, never half a character."""
    prefix = utf16_prefix(text, units)
    cut_in_half = prefix != text and "\ud800" <= prefix[-1:] <= "\udbff"
    return prefix[:-1] if cut_in_half else prefix


def _short(line: str, cap: int, prefix: Callable[[str, int], str]) -> str:
    return line if utf16_length(line) <= cap else prefix(line, cap) + "..."
