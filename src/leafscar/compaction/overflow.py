"""Whether a response means that the window overflowed (docs/compaction.md)."""

from __future__ import annotations

import math
import re

from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.model import Assistant, MessageLike, as_message

__all__ = ["is_overflow"]

_FLAGS = re.IGNORECASE | re.ASCII
_FULL = 0.99
"""Share of the window that counts as full when nothing could be written."""
_LINE = "[^\n\r\u2028\u2029]*"

_COMMON = (
    r"request_too_large|input is too long for requested model|exceeds the context window"
    r"|exceeds (?:the )?(?:model'?s )?maximum context length(?: of [\d,]+ tokens?|\s*\([\d,]+\))"
    rf"|input token count{_LINE}exceeds the maximum|maximum prompt length is \d+|reduce the length of the messages"
    r"|maximum context length is \d+ tokens|exceeds (?:the )?maximum allowed input length of [\d,]+ tokens?"
    r"|input \(\d+ tokens\) is longer than the model'?s context length \(\d+ tokens\)|exceeds the limit of \d+"
    r"|exceeds the available context size|greater than the context length|context window exceeds limit"
    r"|exceeded model token limit|too large for model with \d+ maximum context length"
    r"|prompt has [\d,]+ tokens?, but the configured context size is [\d,]+ tokens?"
    r"|model_context_window_exceeded|prompt too long; exceeded (?:max )?context length"
    r"|range of input length should be|context[_ ]length[_ ]exceeded|too many tokens|token limit exceeded"
)
_WORDS_0821 = re.compile(rf"prompt is too long|{_COMMON}", _FLAGS)
_WORDS_130 = re.compile(rf"prompt (?:is )?too long|prompt exceeds max length|{_COMMON}", _FLAGS)
_BODYLESS = re.compile(r"4(?:00|13)\s*(?:status code)?\s*\(no body\)", _FLAGS)
_OTHER_TROUBLE = re.compile(r"^(?:Throttling error|Service unavailable):|rate limit|too many requests", _FLAGS)


def is_overflow(response: MessageLike, window: float | None = None, rules: Rules = DEFAULT) -> bool:
    """Whether ``response`` failed, or was cut off, because its request was larger than the window.

    Some providers say so; some take the request and report more input than the ``window`` (tokens) holds; some fill
    the window and stop without a word.
    """
    message = as_message(response)
    if not isinstance(message, Assistant):
        return False
    if message.stop_reason == "error" and message.error_message:
        return _says_so(message.error_message, message.provider, rules)
    return _is_silent(message, window)


def _says_so(text: str, provider: str | None, rules: Rules) -> bool:
    if _OTHER_TROUBLE.search(text):
        return False
    words = _WORDS_130 if rules.overflow_words_130 else _WORDS_0821
    bodyless = _BODYLESS.match(text) is not None and (not rules.overflow_words_130 or provider == "cerebras")
    return bodyless or words.search(text) is not None


def _is_silent(message: Assistant, window: float | None) -> bool:
    usage = message.usage
    if not window or usage is None:
        return False
    used = math.nan if usage.input is None or usage.cache_read is None else usage.input + usage.cache_read
    if message.stop_reason == "stop":
        return used > window
    return message.stop_reason == "length" and usage.output == 0 and used >= window * _FULL
