"""One response of the model, put together from the lines that Claude Code wrote for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.formats._anthropic import API, PROVIDER, read_blocks, read_usage, stop_word
from leafscar.formats._branches import Draft
from leafscar.formats._pieces import assistant_message, milliseconds
from leafscar.model.shapes import as_list, as_mapping, as_text

__all__ = ["Response", "count_outputs"]

_SYNTHETIC = "<synthetic>"
_CHARS_PER_TOKEN = 5
"""A response of more characters for a token than that states the count of its first chunk, not of its end."""


class Response:
    """The lines of one ``message.id`` in one conversation: one block a line, the usage repeated or growing."""

    def __init__(self, draft: Draft, record: Mapping[str, Any], message: Mapping[str, Any]) -> None:
        self.draft = draft
        self.model = as_text(message.get("model"))
        self.synthetic = self.model == _SYNTHETIC
        self.failed = record.get("isApiErrorMessage") is True or bool(record.get("error"))
        self.interrupted = False
        self.parts: list[dict[str, Any]] = []
        self._timestamp = milliseconds(record.get("timestamp"))
        self._stop: str | None = None
        self._first: int | None = None
        self.usage: dict[str, Any] | None = None

    def take(self, message: Mapping[str, Any]) -> list[dict[str, Any]]:
        """Take one more line and give its parts; the last line that states something is right."""
        parts = read_blocks(message.get("content"))
        self.parts += parts
        self._stop = as_text(message.get("stop_reason")) or self._stop
        usage = read_usage(message.get("usage"))
        if usage is not None:
            self._first = usage.get("output") if self.usage is None else self._first
            self.usage = usage
        return parts

    @property
    def has_calls(self) -> bool:
        """Whether it calls a tool."""
        return any(part.get("type") == "toolCall" for part in self.parts)

    @property
    def ended(self) -> bool:
        """Whether its output count is that of its end: it states why it stopped, or the count grew."""
        if self.synthetic or self.usage is None:
            return False
        return self._stop is not None or (self.usage.get("output") or 0) > (self._first or 0)

    @property
    def is_low(self) -> bool:
        """Whether it wrote more than its output count can cover."""
        output = (self.usage or {}).get("output")
        return output is not None and not self.ended and self._written() > _CHARS_PER_TOKEN * output

    def message(self, *, counted: bool) -> dict[str, Any]:
        """Give the message; ``counted`` says whether its output count can be relied on."""
        failed = self.failed
        stop = "error" if failed else "aborted" if self.interrupted else stop_word(self._stop, calls=self.has_calls)
        usage = None if self.synthetic or self.usage is None else dict(self.usage)
        if usage is not None and not counted:
            usage = {key: value for key, value in usage.items() if key not in ("output", "totalTokens")}
        return assistant_message(
            self.parts,
            api=API,
            stop=stop,
            provider=PROVIDER,
            model=None if self.synthetic else self.model,
            errorMessage=self._words() if failed else None,
            timestamp=self._timestamp,
            usage=usage,
        )

    def _words(self) -> str:
        return "\n".join(part["text"] for part in self.parts if part.get("type") == "text")

    def _written(self) -> int:
        return sum(map(_units, self.parts))


def count_outputs(responses: Iterable[Response]) -> frozenset[int]:
    """Give the numbers of the responses whose output count is not that of their end.

    A recording in which no count ever grew and no response says why it stopped has only counts of first chunks.
    """
    every = enumerate(responses)
    known = [(number, response) for number, response in every if response.usage and not response.synthetic]
    low = {number for number, response in known if response.is_low}
    if low and not any(response.ended for _, response in known):
        return frozenset(number for number, _ in known)
    return frozenset(low)


def _units(part: Mapping[str, Any]) -> int:
    """Characters that the model wrote for a part."""
    match part.get("type"):
        case "text":
            return len(part["text"])
        case "thinking":
            return len(part["thinking"])
        case "toolCall":
            return _length(part["arguments"])
        case _:
            return 0


def _length(value: object) -> int:
    total, left = 0, [value]
    while left:
        item = left.pop()
        fields, items = as_mapping(item), as_list(item)
        if isinstance(item, str):
            total += len(item)
        elif fields is not None:
            left += [*fields.keys(), *fields.values()]
        elif items is not None:
            left += items
    return total
