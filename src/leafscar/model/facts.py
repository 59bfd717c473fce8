"""What is known of models beside their prices (docs/policies.md)."""

from __future__ import annotations

import re

__all__ = ["binds_thinking"]

_BOUND = re.compile(r"(?:fable|mythos)-5-[12]\b|(?:opus|sonnet|haiku)-5-5\b")


def binds_thinking(model: str) -> bool:
    """Whether a model ties each thinking block to everything before it, so that a changed prefix makes it invalid."""
    return _BOUND.search(model) is not None
