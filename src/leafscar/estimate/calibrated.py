"""A closer estimate than characters divided by four: byte classes, corrected by what a provider reports.

A tokenizer spends very different numbers of tokens on a letter, a digit and a line break. :func:`estimate_text` counts
the classes and weighs them; :class:`Calibrated` learns how far a session's own provider is from that
(docs/estimates.md has the weights, their errors, and what a reading is).
"""

from __future__ import annotations

import string

from msgspec import Struct
from msgspec.structs import replace

from leafscar.estimate.chars import CHARS_PER_IMAGE
from leafscar.estimate.pieces import pieces_of
from leafscar.model.messages import BashExecution, MessageLike, as_message

__all__ = ["TOKENS_PER_IMAGE", "Calibrated", "estimate_text", "message_tokens"]

TOKENS_PER_IMAGE = CHARS_PER_IMAGE // 4
"""What one image counts for, in tokens."""

_LETTERS = string.ascii_letters.encode()
_DIGITS = string.digits.encode()
_BLANKS = b" \t\r"
_MARKS = bytes(set(range(0x80)) - set(_LETTERS + _DIGITS + _BLANKS + b"\n"))

_NEWLINE = 1.0
_WEIGHTS = (
    (_LETTERS, 0.23),
    (_BLANKS, 0.0),
    (_MARKS, 0.43),
    (_DIGITS, 0.8),
)
_WIDE_WEIGHTS = (
    (bytes(range(0x80, 0xC0)), 0.0),  # inside a character: its lead byte counts for all of it
    (bytes(range(0xC0, 0xE0)), 0.245),
    (bytes(range(0xE0, 0xF0)), 0.62),
    (bytes(range(0xF0, 0x100)), 2.4),
)

_SMALLEST_READING = 60
_READINGS = 25
_LIKELY = (0.5, 2.0)
_BELIEVED = (0.2, 5.0)
_NEAR = 1.6


def estimate_text(text: str) -> float:
    """Tokens of a text, before any calibration."""
    data = text.encode("utf-8", "surrogatepass")
    tokens = 0.0
    for kind, weight in _WEIGHTS if text.isascii() else (*_WEIGHTS, *_WIDE_WEIGHTS):
        rest = data.translate(None, kind)
        tokens += weight * (len(data) - len(rest))
        data = rest
    return tokens + _NEWLINE * len(data)


def message_tokens(message: MessageLike) -> float:
    """Tokens of one message, before any calibration; 0 for what is never sent."""
    it = as_message(message)
    if isinstance(it, BashExecution) and it.exclude_from_context:
        return 0
    texts, images = pieces_of(it)
    return estimate_text("".join(texts)) + TOKENS_PER_IMAGE * images  # classes add up, so one count does for all


class Calibrated(Struct, frozen=True, kw_only=True):
    """The estimator of one session: byte classes times what its provider's readings say about them."""

    readings: tuple[tuple[float, float], ...] = ()
    """What was estimated and what was measured, in tokens, one pair a reading, newest last; at most the last 25."""

    @property
    def factor(self) -> float:
        """What estimates are multiplied by; 1 before the first reading.

        All that was measured over all that was estimated, in those readings whose ratio is near the median: large
        readings say more, and one that counts something hidden says nothing. Bounded ratios leave one near at least.
        """
        if not self.readings:
            return 1.0
        ratios = sorted([measured / own for own, measured in self.readings])
        middle = (ratios[len(ratios) // 2] + ratios[(len(ratios) - 1) // 2]) / 2
        low, high = middle / _NEAR, middle * _NEAR
        near = [pair for pair in self.readings if low <= pair[1] / pair[0] <= high]
        return sum([measured for _, measured in near]) / sum([own for own, _ in near])

    def observe(self, own_estimate: float, measured: float) -> Calibrated:
        """Learn from one reading: ``own_estimate`` (uncalibrated) of messages that the provider ``measured``.

        A reading below 60 tokens, no number, or further off than five times says nothing about the text and is
        left out; a ratio counts as at least 0.5 and at most 2.
        """
        if not own_estimate >= _SMALLEST_READING or not measured > 0:
            return self
        ratio = measured / own_estimate
        if not _BELIEVED[0] <= ratio <= _BELIEVED[1]:
            return self
        kept = self.readings[-(_READINGS - 1) :]
        return replace(self, readings=(*kept, (own_estimate, own_estimate * min(max(ratio, _LIKELY[0]), _LIKELY[1]))))
