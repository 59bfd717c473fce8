"""The sources' size rule: UTF-16 units divided by four, rounded up once a message (docs/estimates.md)."""

from __future__ import annotations

from leafscar.estimate.pieces import pieces_of
from leafscar.model.jsjson import utf16_length
from leafscar.model.messages import MessageLike

__all__ = ["CHARS_PER_IMAGE", "estimate_tokens", "message_chars"]

CHARS_PER_IMAGE = 4800
"""UTF-16 units that one image counts for: 1,200 tokens."""


def estimate_tokens(message: MessageLike) -> int:
    """Tokens of one message: ``ceil(units / 4)``; 0 for roles that are never sent."""
    return -(-message_chars(message) // 4)


def message_chars(message: MessageLike) -> int:
    """UTF-16 units of a message as the sources count them."""
    texts, images = pieces_of(message)
    return sum(map(utf16_length, texts)) + CHARS_PER_IMAGE * images
