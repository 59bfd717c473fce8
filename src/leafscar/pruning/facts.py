"""What a marker tells about an output: how its command ended, which lines of a file it was."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from leafscar.model import BashExecution, ToolCall, ToolResult
from leafscar.model.jsjson import js_number
from leafscar.pruning.templates import LineRange

if TYPE_CHECKING:
    from leafscar.pruning.tools import ExitRule, Tool

__all__ = ["execution_status", "exit_status", "line_range"]

_FIRST_ANYWHERE = re.compile(r"Command exited with code ([0-9]+)")


def execution_status(message: BashExecution) -> str:
    """How a command that the user ran ended."""
    if message.cancelled:
        return "cancelled"
    return "unknown" if message.exit_code is None else js_number(message.exit_code)


def exit_status(message: ToolResult, text: str, tool: Tool, *, anywhere: bool = False) -> str:
    """How a command that the model ran ended, by the line its tool writes for that.

    ``anywhere`` takes the first match in the whole text, as the sources do (docs/adr/0024-exit-code.md).
    """
    rule = tool.exit
    code = _first_match(text) if anywhere else _code(text, rule)
    if code is not None:
        return code
    if message.is_error:
        return "error"
    return rule.silent if rule is not None else "unknown"


def line_range(call: ToolCall | None, tool: Tool, text: str) -> LineRange:
    """Lines that a read covers: the ones asked for, or as many as ``text`` has."""
    first = 1 if (offset := _number(call, "offset")) is None else offset + tool.zero_based
    limit = _number(call, "limit")
    last = first + (text.count("\n") + 1 if limit is None else limit) - 1
    return LineRange(js_number(first), js_number(max(first, last)))


def _first_match(text: str) -> str | None:
    found = _FIRST_ANYWHERE.search(text)
    return None if found is None else found[1]


def _code(text: str, rule: ExitRule | None) -> str | None:
    if rule is None:
        return None
    lines = text.split("\n", rule.first_lines)[: rule.first_lines] or [text.rstrip().rpartition("\n")[2]]
    matches = (re.fullmatch(rule.pattern, line.rstrip("\r")) for line in lines)
    return next((found[1] for found in matches if found is not None), None)


def _number(call: ToolCall | None, name: str) -> float | None:
    arguments: object = call.arguments if call is not None else None
    value: object = arguments.get(name) if isinstance(arguments, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if math.isfinite(value) else None
