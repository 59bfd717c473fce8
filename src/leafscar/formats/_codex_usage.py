"""Token counts of Codex: which of its readings is the bill of a response."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from leafscar.formats._pieces import count, make_usage, uncached
from leafscar.model.shapes import as_mapping

__all__ = ["Counts", "bills_writes"]

_GPT = re.compile(r"(?:^|/)gpt-(\d+)(?:\.(\d+))?")
_BILLED_SINCE = (5, 6)
"""OpenAI bills cache writes from GPT-5.6 on; before, a write costs what any input costs."""
_PARTS = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens")


def bills_writes(model: str | None) -> bool:
    """Whether writes to the cache have a price of their own with a model."""
    found = _GPT.search(model or "")
    return found is not None and (int(found[1]), int(found[2] or 0)) >= _BILLED_SINCE


class Counts:
    """Follows the readings; one counts only when the cumulative total moved, so that repeated ones do not."""

    def __init__(self) -> None:
        self.windows: list[int] = []
        """Context windows that were stated, each once, newest last."""
        self._total: Mapping[str, Any] | None = None

    def window(self, value: object) -> None:
        """Take a stated context window."""
        window = count(value)
        if window and self.windows[-1:] != [window]:
            self.windows.append(window)

    def usage(self, info: Mapping[str, Any], model: str | None) -> dict[str, Any] | None:
        """Give the usage of the response that a reading bills; None when it bills none."""
        total, last = as_mapping(info.get("total_token_usage")), as_mapping(info.get("last_token_usage"))
        if total is None or last is None or total == self._total:
            return None
        self._total = total
        return _usage(last, model)

    def estimate(self, info: Mapping[str, Any]) -> int | None:
        """Context tokens of a reading that Codex made up itself after it changed the context; None for a real one."""
        last = as_mapping(info.get("last_token_usage")) or {}
        return None if any(count(last.get(name)) for name in _PARTS) else count(last.get("total_tokens")) or None


def _usage(last: Mapping[str, Any], model: str | None) -> dict[str, Any] | None:
    prompt, read = count(last.get("input_tokens")), count(last.get("cached_input_tokens"))
    stated = next((last[name] for name in ("cache_write_input_tokens", "cache_write_tokens") if name in last), None)
    written = count(stated)
    if written is None and not bills_writes(model):
        written = 0
    fresh = uncached(prompt, read, written)
    return make_usage(input=fresh, output=count(last.get("output_tokens")), cache_read=read, cache_write=written)
