"""Messages and their parts in pi's shape, made from what other tools write."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from leafscar.model.entries import iso_to_ms
from leafscar.model.shapes import as_list, as_mapping, as_number, as_text

__all__ = [
    "assistant_message",
    "call_part",
    "count",
    "data_url",
    "first_text",
    "image_part",
    "iso_time",
    "make_usage",
    "mappings",
    "milliseconds",
    "number_in",
    "result_message",
    "text_parts",
    "thinking_part",
    "uncached",
    "without_nothing",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SECONDS_BELOW = 1e11
_DATA_URL = re.compile(r"data:([^;,]*)[^,]*,(.*)", re.DOTALL)
_COUNT = re.compile(r"([0-9][0-9,]*(?:\.[0-9]+)?)([kKmM]?)")
_FACTORS = {"": 1, "k": 1_000, "m": 1_000_000}


def without_nothing(**fields: Any) -> dict[str, Any]:
    """Give the fields that are not None."""
    return {name: value for name, value in fields.items() if value is not None}


def mappings(value: object) -> list[Mapping[str, Any]]:
    """Give the objects of a list, others left out; a lone object is a list of one."""
    alone = as_mapping(value)
    items: Sequence[Any] = (alone,) if alone is not None else as_list(value) or ()
    return [found for found in map(as_mapping, items) if found is not None]


def first_text(*values: object) -> str | None:
    """Give the first value that is a string with something in it."""
    return next((value for value in values if isinstance(value, str) and value), None)


def milliseconds(value: object) -> int | None:
    """Milliseconds since 1970 of an ISO time, or of a number of milliseconds or seconds; None when it is none."""
    number = iso_to_ms(value) if isinstance(value, str) else as_number(value)
    if number is None or not 0 < number <= sys.float_info.max:
        return None
    return int(number * 1000 if number < _SECONDS_BELOW and not isinstance(value, str) else number)


def iso_time(value: object) -> str | None:
    """ISO time of what :func:`milliseconds` reads; None when it is no moment of the calendar."""
    when = milliseconds(value)
    try:
        return None if when is None else (_EPOCH + timedelta(milliseconds=when)).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None


# --- counts ------------------------------------------------------------------------------------------


def count(value: object) -> int | None:
    """Give a count of tokens; None when it is none that can be built on."""
    number = as_number(value)
    return int(number) if number is not None and 0 <= number <= sys.float_info.max else None


def number_in(text: str) -> int | None:
    """Give the count that a text starts with, as people write it: ``14,443``, ``3.2k``."""
    found = _COUNT.match(text)
    if found is None:
        return None
    value = float(found[1].replace(",", "")) * _FACTORS[found[2].lower()]
    return round(value) if math.isfinite(value) else None


def uncached(prompt: int | None, *cached: int | None) -> int | None:
    """Give the part of a prompt count that was neither read from nor written to the cache; None when they disagree."""
    rest = None if prompt is None else prompt - sum(part or 0 for part in cached)
    return None if rest is None or rest < 0 else rest


def make_usage(
    *,
    input: int | None,  # noqa: A002 - pi's name
    output: int | None,
    cache_read: int | None = None,
    cache_write: int | None = None,
    cache_write_1h: int | None = None,
) -> dict[str, Any] | None:
    """Give a usage in pi's shape: what is unknown is absent; the total stands only where both sides are known."""
    parts = (input, output, cache_read, cache_write)
    if not any(parts):
        return None
    total = None if input is None or output is None else sum(part or 0 for part in parts)
    return without_nothing(
        input=input,
        output=output,
        cacheRead=cache_read,
        cacheWrite=cache_write,
        cacheWrite1h=cache_write_1h,
        totalTokens=total,
    )


# --- parts -------------------------------------------------------------------------------------------


def text_parts(*texts: object) -> list[dict[str, Any]]:
    """Give a text part for each value that is a string with something in it."""
    return [{"type": "text", "text": text} for text in texts if isinstance(text, str) and text]


def thinking_part(text: object, signature: object = None, *, redacted: bool = False) -> dict[str, Any]:
    """Give a thinking part; the signature stays as it is."""
    part = {
        "type": "thinking",
        "thinking": as_text(text) or "",
        **without_nothing(thinkingSignature=as_text(signature)),
    }
    return {**part, "redacted": True} if redacted else part


def image_part(data: object, mime: object) -> dict[str, Any]:
    """Give an image part; ``data`` is base64 or a reference to something that is not in the file."""
    return {"type": "image", "mimeType": as_text(mime) or "", "data": as_text(data) or ""}


def data_url(url: object, mime: object = None) -> dict[str, Any]:
    """Give the image part of a URL; one without data keeps the URL as its reference."""
    found = _DATA_URL.fullmatch(url) if isinstance(url, str) else None
    return image_part(url, mime) if found is None else image_part(found[2], found[1] or mime)


def call_part(id_: object, name: object, arguments: Any) -> dict[str, Any]:
    """Give a tool call part."""
    return {"type": "toolCall", "id": as_text(id_) or "", "name": as_text(name) or "", "arguments": arguments}


def assistant_message(
    content: Iterable[Mapping[str, Any]], *, api: str | None, stop: str | None, **fields: Any
) -> dict[str, Any]:
    """Give one response of a model; fields that are None stay absent."""
    return {"role": "assistant", "content": list(content), **without_nothing(api=api, stopReason=stop, **fields)}


def result_message(
    call_id: str,
    name: str,
    content: Iterable[Mapping[str, Any]],
    *,
    is_error: bool = False,
    timestamp: int | None = None,
) -> dict[str, Any]:
    """Give a tool result; one without content holds an empty text."""
    parts = list(content) or [{"type": "text", "text": ""}]
    head = {"role": "toolResult", "toolCallId": call_id, "toolName": name, "content": parts, "isError": is_error}
    return {**head, **without_nothing(timestamp=timestamp)}
