"""JSON of settings files: read without losing a number's spelling, written with two spaces (docs/settings.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Self, TypeAlias

from leafscar._plain import escape, escaped

__all__ = ["MAX_DEPTH", "Json", "Number", "dumps", "loads", "plain", "shown"]

Json: TypeAlias = "dict[str, Json] | list[Json] | str | int | float | bool | None"
"""A parsed JSON value; numbers that Python would respell are ``Number``."""

MAX_DEPTH = 64
"""Levels of objects and lists in each other that a settings file may have."""

_SHOWN_LIMIT = 200
_LONGEST_INT = 300
_SURROGATE = re.compile("[\ud800-\udfff]")


class Number(float):
    """A number that is written back as ``text``, exactly as it was read."""

    text: str

    def __new__(cls, text: str) -> Self:
        number = super().__new__(cls, text)
        number.text = text
        return number


def loads(text: str) -> Json:
    """Parse ``text``; a ValueError says in one line what is wrong. The last of two equal keys wins."""
    try:
        value: Json = json.loads(text, parse_int=_integer, parse_float=Number, parse_constant=_no_constant)
    except RecursionError:
        raise ValueError(_too_deep()) from None
    if _deeper_than(value, MAX_DEPTH):
        raise ValueError(_too_deep())
    return value


def dumps(value: Json) -> str:
    """Write ``value`` with two spaces a level, keys in their order, and a newline at the end."""
    return _render(value, "\n") + "\n"


def shown(value: object) -> str:
    """Give compact JSON of ``value`` for a message: one line, safe in a terminal, cut after 200 characters."""
    return plain(_render(value, ""))


def plain(text: str) -> str:
    """Give ``text`` on one line, safe in a terminal, cut after 200 characters."""
    if len(text) > _SHOWN_LIMIT:
        text = text[:_SHOWN_LIMIT] + "…"
    return escaped(text)


def _integer(text: str) -> int | Number:
    return Number(text) if text == "-0" or len(text) > _LONGEST_INT else int(text)


def _no_constant(text: str) -> Json:
    raise ValueError(f"{text} is not JSON")


def _too_deep() -> str:
    return f"nested deeper than {MAX_DEPTH} levels"


def _deeper_than(value: Json, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_deeper_than(item, levels - 1) for item in inner)


def _render(value: object, newline: str) -> str:
    match value:
        case Number():
            return value.text
        case str():
            return _SURROGATE.sub(lambda half: escape(half[0]), json.dumps(value, ensure_ascii=False))
        case dict():
            return _wrap("{}", _members(value, newline), newline)  # pyright: ignore[reportUnknownArgumentType]
        case list() | tuple():
            return _wrap("[]", _items(value, newline), newline)  # pyright: ignore[reportUnknownArgumentType]
        case _:
            return json.dumps(value, default=repr)


def _members(value: Mapping[object, object], newline: str) -> list[str]:
    inner, colon = (newline + "  ", ": ") if newline else ("", ":")
    return [f"{_render(str(name), '')}{colon}{_render(item, inner)}" for name, item in value.items()]


def _items(value: Sequence[object], newline: str) -> list[str]:
    inner = newline and newline + "  "
    return [_render(item, inner) for item in value]


def _wrap(ends: str, items: list[str], newline: str) -> str:
    if not items:
        return ends
    inner = newline and newline + "  "
    return ends[0] + inner + f",{inner}".join(items) + newline + ends[1]
