"""Which context window a replay assumes, and from where it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from leafscar.errors import WindowUnknown

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from leafscar.replay.prices import Prices

__all__ = ["CLAUDE_CODE_RESERVE", "DEFAULT_RESERVE", "STANDARD_WINDOWS", "RecordedCut", "Window", "resolve_window"]

DEFAULT_RESERVE = 16_384
"""Tokens that pi keeps free by default: it cuts when a context grows above window - reserve."""

CLAUDE_CODE_RESERVE = 33_000
"""The same for Claude Code, as observed: on 200,000 tokens its automatic cuts come from 167,000 on."""

STANDARD_WINDOWS = (
    32_768, 65_536, 100_000, 128_000, 131_072, 200_000, 204_800, 256_000, 262_144, 272_000,
    400_000, 1_000_000, 1_048_576, 1_050_000, 2_000_000,
)  # fmt: skip
"""Context windows that models are sold with, in tokens; an inferred window is one of these."""


class RecordedCut(Struct, frozen=True, kw_only=True):
    """A compaction that a recording holds."""

    tokens_before: float
    """Context tokens just before it."""
    manual: bool = False
    """Whether the user asked for it; such a cut says nothing about the window."""
    reserve: int = DEFAULT_RESERVE
    """Tokens that the recording host kept free."""


class Window(Struct, frozen=True, kw_only=True):
    """The context window that a replay uses."""

    tokens: int
    """Its size in tokens."""
    source: Literal["flag", "recorded", "inferred", "prices"]
    """Where the size comes from."""
    detail: str
    """The same as a sentence to print, with what spoke against better sources."""


def resolve_window(
    *,
    flag: int | None = None,
    recorded: int | None = None,
    cuts: Iterable[RecordedCut] = (),
    prices: Prices | None = None,
    readings: Iterable[float] = (),
    model: str | None = None,
) -> Window:
    """Take the first source that states a window: the flag, the recording, a recorded automatic cut, the prices.

    ``readings`` are measured context sizes in tokens. A source below the largest of them is contradicted and passed
    over, but the flag may be smaller: that is a what-if.
    """
    largest = max((size for size in readings if size > 0), default=0)
    if flag is not None and flag > 0:
        return Window(tokens=flag, source="flag", detail=_flagged(flag, largest))
    notes: list[str] = []
    for window in _sources(recorded, list(cuts), prices, largest, notes):
        if window.tokens >= largest:
            return Window(tokens=window.tokens, source=window.source, detail="; ".join([window.detail, *notes]))
        notes.append(f"not {window.tokens:,} ({window.source}): a request of {largest:,.0f} tokens was recorded")
    reason = "; ".join(["nothing states the context window" + (f" of {model}" if model else ""), *notes])
    raise WindowUnknown(f"{reason}; pass --window TOKENS", model=model)


def _flagged(flag: int, largest: float) -> str:
    text = "from --window"
    return text + (f" (a what-if: a request of {largest:,.0f} tokens was recorded)" if largest > flag else "")


def _sources(
    recorded: int | None, cuts: list[RecordedCut], prices: Prices | None, largest: float, notes: list[str]
) -> Iterator[Window]:
    if recorded is not None and recorded > 0:
        yield Window(tokens=recorded, source="recorded", detail="as the session recorded it")
    automatic = [cut for cut in cuts if not cut.manual and cut.tokens_before > 0]
    if automatic:
        cut = max(automatic, key=lambda cut: cut.tokens_before)
        fitting = [size for size in STANDARD_WINDOWS if size - cut.reserve < cut.tokens_before <= size]
        if possible := [size for size in fitting if size >= largest]:
            yield Window(tokens=possible[0], source="inferred", detail=_inferred(cut, *possible[1:]))
        else:
            notes.append(_unfitting(cut, fitting, largest))
    if prices is not None and prices.window:
        text = f"from {prices.source}"
        yield Window(tokens=prices.window, source="prices", detail=text)


def _inferred(cut: RecordedCut, *others: int) -> str:
    text = f"inferred: the recorded cut at {cut.tokens_before:,.0f} tokens lies within {cut.reserve:,} below it"
    return text + (f" ({', '.join(f'{other:,}' for other in others)} would fit too)" if others else "")


def _unfitting(cut: RecordedCut, fitting: list[int], largest: float) -> str:
    where = f"the recorded cut at {cut.tokens_before:,.0f} tokens"
    if not fitting:
        return f"{where} fits no usual window with {cut.reserve:,} tokens in reserve"
    sizes = ", ".join(f"{size:,}" for size in fitting)
    return f"{where} would fit {sizes}, but a request of {largest:,.0f} tokens was recorded"
