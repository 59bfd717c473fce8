"""Hold the summariser's input to its window, whatever the session contains."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TypeAlias

from msgspec import Struct

from leafscar.compaction.serialize import clip
from leafscar.model.jsjson import utf16_length

__all__ = ["Fitted", "Measure", "careful_tokens", "clip_to", "fit_blocks"]

Measure: TypeAlias = Callable[[str], float]
"""Tokens of a text; it must not count too few."""

_UNITS_A_TOKEN = 3
_STEP = 0.9
_LEFT_OUT = "[{} earlier blocks of this conversation were left out to fit the window]"


class Fitted(Struct, frozen=True, kw_only=True):
    """Blocks that fit, and how many do not stand among them."""

    text: str
    left_out: int = 0


def careful_tokens(text: str) -> float:
    """Tokens of a text, counted high: three ASCII characters or one other UTF-16 unit each."""
    plain = sum(map(str.isascii, text)) if not text.isascii() else len(text)
    return math.ceil(plain / _UNITS_A_TOKEN) + utf16_length(text) - plain


def clip_to(text: str, limit: float, measure: Measure = careful_tokens) -> str:
    """Hold ``text`` to ``limit`` tokens by clipping its end; it says how much is gone."""
    tokens, units, clipped = measure(text), utf16_length(text), text
    while units and tokens > limit:
        units = int(units * max(0.0, limit) / tokens * _STEP)
        clipped = clip(text, units)
        tokens = measure(clipped)
    return clipped


def fit_blocks(blocks: Sequence[str], limit: float, measure: Measure = careful_tokens) -> Fitted:
    """Join blocks, without the oldest ones where all are more than ``limit`` tokens.

    One line in the place of the lost blocks says how many they are; a newest block that alone is too large is
    clipped.
    """
    whole = "\n\n".join(blocks)
    if measure(whole) <= limit:
        return Fitted(text=whole)
    room = limit - measure(_LEFT_OUT)
    kept = _how_many_fit(blocks, room, measure)
    newest = list(blocks[len(blocks) - kept :]) if kept else [clip_to(blocks[-1], room, measure)]
    left_out = len(blocks) - len(newest)
    line = [_LEFT_OUT.format(left_out)] if left_out else []
    return Fitted(text="\n\n".join([*line, *newest]), left_out=left_out)


def _how_many_fit(blocks: Sequence[str], room: float, measure: Measure) -> int:
    """Count from the newest; what stands between two blocks counts as one token."""
    return sum(used <= room for used in accumulate(measure(block) + 1 for block in reversed(blocks)))
