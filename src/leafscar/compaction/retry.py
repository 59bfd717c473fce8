"""Whether and when a failed summary request is sent again. Pure: the caller waits and sends."""

from __future__ import annotations

import re

from msgspec import Struct

from leafscar.compaction.rules import DEFAULT, Rules

__all__ = ["Retry", "RetryPolicy", "is_retryable", "next_retry", "retry_policy"]

_MAX_SAFE = 2**53 - 1
_ANY = "[^\n\r\u2028\u2029\U00010000-\U0010ffff]?"
"""What ``.?`` matches in JavaScript: one UTF-16 unit of the same line, or nothing."""

_LIMITS = (
    "GoUsageLimitError|FreeUsageLimitError|Monthly usage limit reached|available balance|insufficient_quota"
    "|out of budget|quota exceeded|billing"
)
_LIMITS_130 = "subscription_sharing_usage_limit_exceeded"
_PASSING = (
    "overloaded|rate~limit|too many requests|429|500|502|503|504|524|service~unavailable|server~error"
    "|internal~error|provider~returned~error|network~error|connection~error|connection~refused|connection~lost"
    "|other side closed|fetch failed|getaddrinfo|ENOTFOUND|EAI_AGAIN|upstream~connect|reset before headers"
    "|socket hang up|socket connection was closed|timed? out|timeout|terminated|websocket~closed|websocket~error"
    "|ended without|stream ended before message_stop|stream ended before a terminal response event"
    "|http2 request did not get a response|retry delay|you can retry your request|try your request again"
    "|please retry your request|ResourceExhausted"
)
_PASSING_130 = (
    "server_busy|servers are currently busy|currently experiencing high demand|model is at capacity|520"
    "|service~(?:is~)?(?:temporarily~)?unavailable|provider~returned~(?:an~)?error"
    "|exceeded request buffer limit while retrying upstream|unable to forward upstream"
    "|pending stream has been canceled|subscription_sharing_usage_unavailable|subscription_sharing_user_unavailable"
)


def _words(*lists: str) -> re.Pattern[str]:
    return re.compile("|".join(lists).replace("~", _ANY), re.IGNORECASE | re.ASCII)


_PATTERNS = {
    False: (_words(_LIMITS), _words(_PASSING)),
    True: (_words(_LIMITS, _LIMITS_130), _words(_PASSING, _PASSING_130)),
}


class RetryPolicy(Struct, frozen=True, kw_only=True):
    """How often, and after which pause."""

    enabled: bool = True
    max_retries: int = 2
    """Requests after the first one."""
    base_delay_ms: float = 500
    """Pause before the first retry in milliseconds; it doubles with each."""
    max_delay_ms: float | None = None
    """Longest pause in milliseconds; None leaves it to the rules."""


class Retry(Struct, frozen=True, kw_only=True):
    """Send again: after a pause, for a reason."""

    attempt: int
    """1 for the first retry."""
    max_retries: int
    delay_ms: float
    """Pause in milliseconds."""
    error_message: str
    """What the failed response said."""


def retry_policy(retries: int | None = None) -> RetryPolicy:
    """Policy for a caller's own number of retries; 0 disables, None is the default of two."""
    if retries is None:
        return RetryPolicy()
    return RetryPolicy(enabled=retries > 0, max_retries=retries)


def is_retryable(error_message: str | None, rules: Rules = DEFAULT) -> bool:
    """Whether a provider's error text speaks of passing trouble and of no used-up limit."""
    limits, passing = _PATTERNS[rules.retry_words_130]
    return bool(error_message) and not limits.search(error_message) and passing.search(error_message) is not None


def next_retry(
    policy: RetryPolicy | None,
    retries_done: int,
    stop_reason: str | None,
    error_message: str | None,
    rules: Rules = DEFAULT,
) -> Retry | None:
    """Decide after a response: the retry to make, or None when this response stands."""
    allowed = policy.max_retries if policy is not None and policy.enabled else 0
    if policy is None or stop_reason != "error" or retries_done >= allowed:
        return None
    if not is_retryable(error_message, rules):
        return None
    return Retry(
        attempt=retries_done + 1,
        max_retries=allowed,
        delay_ms=_delay(policy, retries_done, rules),
        error_message=error_message or "",
    )


def _delay(policy: RetryPolicy, retries_done: int, rules: Rules) -> float:
    delay = policy.base_delay_ms * 2**retries_done
    if rules.retry_cap_ms is None:
        return delay
    whole = delay == int(delay) and abs(delay) <= _MAX_SAFE
    cap = rules.retry_cap_ms if policy.max_delay_ms is None else policy.max_delay_ms
    return min(delay if whole else _MAX_SAFE, cap)
