"""Own raw tokens of a message, before any reading corrects them (docs/estimates.md)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from leafscar.estimate import estimate_tokens
from leafscar.estimate.calibrated import message_tokens
from leafscar.model import Entry, Message

__all__ = ["Sizer", "calibrated_sizer", "chars_sizer"]

Sizer: TypeAlias = Callable[[Entry, Message], float]
"""Tokens of a message that an entry gives to the context."""


def chars_sizer(entry: Entry, message: Message) -> float:
    """The sources' rule, whatever the entry."""
    del entry
    return estimate_tokens(message)


def calibrated_sizer(entry: Entry, message: Message) -> float:
    """Byte classes instead of a quarter of the length, whatever the entry."""
    del entry
    return message_tokens(message)
