"""The fields that place a line in the tree, of a line with too many levels for readers that recurse."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import Any

from leafscar.model.entries import loads
from leafscar.model.shapes import as_text

__all__ = ["plain_fields"]

_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},:]|[^\s\[\]{},:"]++', re.DOTALL)
_CLOSED_BY = {b"{": b"}", b"[": b"]"}


def plain_fields(raw: bytes) -> dict[str, Any] | None:
    """Give those fields of a JSON object that hold text, a number, a boolean or null.

    None when it is no object, or its brackets do not match; what stands deeper inside is not looked at.
    """
    if not raw.lstrip().startswith(b"{"):
        return None
    fields: dict[str, Any] = {}
    waiting: list[bytes] = []  # closing brackets
    before: tuple[bytes, bytes] = (b"", b"")
    for found in _TOKEN.finditer(raw):
        token = found[0]
        if token in _CLOSED_BY:
            waiting.append(_CLOSED_BY[token])
        elif token in (b"}", b"]"):
            if not waiting or waiting.pop() != token:
                return None
        elif len(waiting) == 1 and before[1] == b":":
            _take(fields, before[0], token)
        before = (before[1], token)
    return None if waiting else fields


def _take(fields: dict[str, Any], key: bytes, value: bytes) -> None:
    with suppress(ValueError):  # neither text nor a word of JSON
        name = as_text(loads(key))
        if name is not None:
            fields[name] = loads(value)
