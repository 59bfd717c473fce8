"""Names of policies and the fraction that one of them takes: what settings files and the engine both accept."""

from __future__ import annotations

import re

__all__ = ["POLICIES", "is_policy", "parse_fraction"]

POLICIES = ("none", "compaction", "classic", "source", "balanced", "fewest-cuts", "thrifty")
"""Names that ``policy`` takes; ``compaction`` may carry a fraction of the window, as in ``compaction:0.8``."""

_FRACTION = re.compile(r"[0-9]+(?:\.[0-9]+)?|\.[0-9]+")


def parse_fraction(text: str) -> float | None:
    """Read a fraction above 0 and up to 1, written in digits with at most one dot; None for anything else."""
    value = float(text) if _FRACTION.fullmatch(text) else 0.0
    return value if 0 < value <= 1 else None


def is_policy(name: str) -> bool:
    """Whether ``name`` is one of POLICIES or ``compaction:FRACTION``."""
    base, _, fraction = name.partition(":")
    return name in POLICIES or (base == "compaction" and parse_fraction(fraction) is not None)
