"""Whether a response means that the window overflowed."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, user

from leafscar.compaction import DEFAULT, PI_0821_CODING_AGENT, is_overflow


def _error(text: str, **fields: object) -> dict:
    return assistant(stop="error", errorMessage=text, **fields)


@pytest.mark.parametrize(
    ("text", "now", "before"),
    [
        ("prompt is too long: 213462 tokens > 200000 maximum", True, True),
        ("Prompt too long", True, False),
        ("Your input exceeds the context window of this model", True, True),
        ("exceeds the model's maximum context length of 131,072 tokens", True, True),
        ("input token count (5) exceeds the maximum", True, True),
        ("input token count (5)\nexceeds the maximum", False, False),
        ("ThrottlingException: Too many tokens", True, True),
        ("Throttling error: Too many tokens", False, False),
        ("rate limit: too many tokens", False, False),
        ("400 status code (no body)", False, True),
        ("x 400 (no body)", False, False),
        ("something else", False, False),
        ("", False, False),
    ],
)
def test_providers_say_it_in_many_ways(text: str, now: bool, before: bool) -> None:
    """Rate limits that speak of tokens are something else."""
    assert is_overflow(_error(text), rules=DEFAULT) is now
    assert is_overflow(_error(text), rules=PI_0821_CODING_AGENT) is before


def test_a_bodyless_error_means_it_from_one_provider() -> None:
    """Since 1.3.0 only there."""
    assert is_overflow(_error("413 (no body)", provider="cerebras"))


@pytest.mark.parametrize(
    ("stop", "usage", "window", "expected"),
    [
        ("stop", {"input": 90, "cacheRead": 11}, 100, True),
        ("stop", {"input": 90, "cacheRead": 10}, 100, False),
        ("stop", {"input": 900}, 100, False),
        ("length", {"input": 99, "cacheRead": 0, "output": 0}, 100, True),
        ("length", {"input": 99, "cacheRead": 0, "output": 1}, 100, False),
        ("length", {"input": 98, "cacheRead": 0, "output": 0}, 100, False),
        ("toolUse", {"input": 900, "cacheRead": 0}, 100, False),
        ("stop", {"input": 900, "cacheRead": 0}, None, False),
        ("stop", None, 100, False),
    ],
)
def test_some_providers_overflow_in_silence(stop: str, usage: dict | None, window: int | None, expected: bool) -> None:
    """More input than the window holds, or a full window without a word of output."""
    assert is_overflow(assistant(stop=stop, usage=usage), window) is expected


def test_only_a_response_can_overflow() -> None:
    """Other messages never do."""
    assert not is_overflow(user("prompt is too long"), 1)
