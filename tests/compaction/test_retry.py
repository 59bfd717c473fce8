"""Whether and when a failed summary request is sent again."""

from __future__ import annotations

import pytest

from leafscar.compaction import (
    DEFAULT,
    PI_0821_CODING_AGENT,
    Retry,
    RetryPolicy,
    is_retryable,
    next_retry,
    retry_policy,
)


def test_b10_8_two_retries_unless_the_caller_says_otherwise() -> None:
    """Base pause 500 ms; none means that a failure stands."""
    assert retry_policy() == RetryPolicy(enabled=True, max_retries=2, base_delay_ms=500)
    assert retry_policy(0) == RetryPolicy(enabled=False, max_retries=0, base_delay_ms=500)
    assert retry_policy(5).max_retries == 5


def _calls(policy: RetryPolicy | None, stop: str, message: str | None) -> tuple[int, list[float]]:
    """How many requests a caller makes when every response is the same, and its pauses."""
    pauses: list[float] = []
    while (retry := next_retry(policy, len(pauses), stop, message)) is not None:
        pauses.append(retry.delay_ms)
    return 1 + len(pauses), pauses


@pytest.mark.parametrize(
    ("policy", "stop", "message", "calls"),
    [
        pytest.param(retry_policy(), "error", "503 service unavailable", 3, id="b10_51-persistent-503"),
        pytest.param(retry_policy(), "error", "invalid api key", 1, id="b10_52-not-transient"),
        pytest.param(None, "error", "503", 1, id="b10_53-no-policy"),
        pytest.param(retry_policy(0), "error", "503", 1, id="b10_53-disabled"),
        pytest.param(retry_policy(), "aborted", "503", 1, id="b10_50-aborted"),
        pytest.param(retry_policy(), "stop", None, 1, id="success"),
        pytest.param(retry_policy(), "error", None, 1, id="nothing-said"),
    ],
)
def test_only_passing_trouble_is_tried_again(
    policy: RetryPolicy | None, stop: str, message: str | None, calls: int
) -> None:
    """As often as the policy allows."""
    assert _calls(policy, stop, message)[0] == calls


def test_pauses_double_up_to_a_limit() -> None:
    """One minute at most, or what the policy says; 0.82.1 knows no limit."""
    policy = RetryPolicy(max_retries=9, base_delay_ms=500)
    assert _calls(policy, "error", "overloaded")[1] == [500, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000]
    short = RetryPolicy(max_retries=3, base_delay_ms=500, max_delay_ms=800)
    assert _calls(short, "error", "overloaded")[1] == [500, 800, 800]
    tenth = next_retry(policy, 8, "error", "overloaded", PI_0821_CODING_AGENT)
    assert tenth == Retry(attempt=9, max_retries=9, delay_ms=128_000, error_message="overloaded")
    odd = RetryPolicy(base_delay_ms=0.5)
    assert next_retry(odd, 0, "error", "503") == Retry(attempt=1, max_retries=2, delay_ms=60_000, error_message="503")


@pytest.mark.parametrize(
    ("text", "now", "before"),
    [
        ("Rate limit", True, True),
        ("rate-limit", True, True),
        ("rate\nlimit", False, False),
        ("rate😀limit", False, False),
        ("1500 tokens", True, True),
        ("\u017ferver error", False, False),
        ("429 insufficient_quota", False, False),
        ("520", True, False),
        ("the service is temporarily unavailable", True, False),
        ("subscription_sharing_usage_limit_exceeded 429", False, True),
        ("", False, False),
        (None, False, False),
    ],
)
def test_error_texts_are_told_apart_as_the_sources_do(text: str | None, now: bool, before: bool) -> None:
    """A used-up limit outranks every word of passing trouble; 1.3.0 knows more words."""
    assert is_retryable(text, DEFAULT) is now
    assert is_retryable(text, PI_0821_CODING_AGENT) is before
