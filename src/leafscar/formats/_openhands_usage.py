"""Counts, names and ids as OpenHands writes them down."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from leafscar.formats._json import fields_of
from leafscar.formats._pieces import count, first_text, make_usage, mappings, uncached

__all__ = ["FORMAT", "Metrics", "key_of", "litellm_usage", "model_names"]

FORMAT = "openhands"


def key_of(value: object) -> str:
    """Give an event's id as text; empty when it has none."""
    return str(value) if isinstance(value, str | int | float) and not isinstance(value, bool) else ""


class Metrics:
    """What events carry along about all requests so far."""

    def __init__(self) -> None:
        self.window: int | None = None
        """Context window in tokens, where an event states it."""
        self.prompts = 0
        """Prompt tokens of all requests, as the newest event sums them up."""
        self._usages: dict[str, Mapping[str, Any]] = {}  # by response

    def learn(self, metrics: Mapping[str, Any]) -> None:
        """Read the counts of one event."""
        total = fields_of(metrics.get("accumulated_token_usage"))
        self.window = count(total.get("context_window")) or self.window
        self.prompts = max(self.prompts, count(total.get("prompt_tokens")) or 0)
        for usage in mappings(metrics.get("token_usages")):
            self._usages[key_of(usage.get("response_id"))] = usage

    def usage_of(self, response: str) -> dict[str, Any] | None:
        """Usage that was stated for a response."""
        told = self._usages.get(response) if response else None
        if told is None:
            return None
        names = ("prompt_tokens", "completion_tokens", "cache_read_tokens", "cache_write_tokens")
        prompt, output, read, write = (count(told.get(name)) for name in names)
        return make_usage(input=uncached(prompt, read, write), output=output, cache_read=read, cache_write=write)


def litellm_usage(usage: Mapping[str, Any]) -> dict[str, Any] | None:
    """Usage as LiteLLM gives it: the prompt count includes what was read from and written to the cache."""
    details = fields_of(usage.get("prompt_tokens_details"))
    read = count(usage.get("cache_read_input_tokens", details.get("cached_tokens")))
    write = count(usage.get("cache_creation_input_tokens", details.get("cache_write_tokens")))
    return make_usage(
        input=uncached(count(usage.get("prompt_tokens")), read, write),
        output=count(usage.get("completion_tokens")),
        cache_read=read,
        cache_write=write,
    )


def model_names(model: object) -> dict[str, Any]:
    """Provider and model of a LiteLLM name, which may start with the provider."""
    name = first_text(model) or ""
    provider, slash, rest = name.partition("/")
    named = {"provider": provider, "model": rest} if slash and rest else {"model": name}
    return {key: value for key, value in named.items() if value}
