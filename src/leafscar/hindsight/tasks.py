"""Lists of tasks that agents keep with a tool."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.model import ToolCall
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["is_task_list", "open_tasks"]

_LISTS = frozenset({"todowrite", "updateplan", "writetodos", "todo", "tasktracker", "exitplanmode", "updatetodolist"})
_KEYS = ("todos", "plan", "tasks", "task_list", "items")
_WORDS = ("content", "step", "title", "text", "subject", "description")
_CLOSED = frozenset({"completed", "done", "cancelled", "canceled"})


def is_task_list(call: ToolCall) -> bool:
    """Whether a call states the list of tasks, or the plan, as it is from then on."""
    return call.name.replace("_", "").replace("-", "").lower() in _LISTS


def open_tasks(call: ToolCall) -> tuple[str, ...]:
    """Give the tasks of a list that are not closed, in its order; a plan in prose is one."""
    arguments: Mapping[str, Any] = as_mapping(call.arguments) or {}
    value = next((arguments[key] for key in _KEYS if key in arguments), None)
    prose = as_text(value)
    if prose is not None:
        return (prose,)
    return tuple(_open(filter(None, map(as_mapping, as_list(value) or ()))))


def _open(items: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    for item in items:
        words = next((text for key in _WORDS if (text := as_text(item.get(key)))), None)
        if words is not None and item.get("status") not in _CLOSED:
            yield words
