"""The level-2 part of a controller: asking for a summary, and the entry that comes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from leafscar.compaction import OWN, CompactionSettings, Preparation, SummaryOptions, Texts, compact, prepare
from leafscar.compaction.summarise import Asking
from leafscar.compaction.thresholds import KEEP_RECENT, derive_reserve
from leafscar.engine.facts import Facts, Lines
from leafscar.model import Entry

__all__ = ["Asked", "CutSettings", "ask_summary", "cut_entry", "plan_cut"]


class CutSettings(Struct, frozen=True, kw_only=True):
    """How summaries are asked for."""

    texts: Texts = OWN
    pins: tuple[str, ...] = ()
    """Rules from the settings that every summary message holds word for word."""
    instructions: str | None = None
    """What the user wants the summary to look at."""
    reasoning: str | None = None
    """Thinking level to ask for; None asks for none."""
    keep_recent: int | None = None
    """Newest tokens that a cut keeps, as a settings file says, at most what the threshold
    allows; None: that (docs/compaction.md)."""


class Asked(Struct, kw_only=True):
    """A cut whose summary is being written."""

    preparation: Preparation
    steps: Asking
    reason: str
    before: float
    """Estimate that the cut answers to, in tokens."""
    requested: int = 0
    """Output tokens that the waiting request asks for."""

    @property
    def automatic(self) -> bool:
        """Whether the policy asked for it: such a cut counts in the loop breaker when it frees too little."""
        return self.reason not in ("manual", "overflow")


def plan_cut(path: Sequence[Entry], lines: Lines, facts: Facts, settings: CutSettings) -> Preparation | None:
    """Plan a cut of a path; None when there is nothing to cut."""
    return prepare(path, _sizes(lines, facts, settings), pins=settings.pins)


def ask_summary(
    preparation: Preparation, lines: Lines, facts: Facts, settings: CutSettings, instructions: str | None
) -> Asking:
    """Start asking for the summary of a planned cut."""
    options = SummaryOptions(
        max_output=facts.max_output,
        window=lines.real_window,
        reasoning=settings.reasoning,
        instructions=instructions or settings.instructions,
        texts=settings.texts,
    )
    return compact(preparation, options)


def _sizes(lines: Lines, facts: Facts, settings: CutSettings) -> CompactionSettings:
    """What to keep and how long to write; a cut on request needs both even where no window, or no reserve, is."""
    most = KEEP_RECENT if lines.off else lines.keep
    keep = most if settings.keep_recent is None else min(settings.keep_recent, most)
    reserve = lines.reserve or derive_reserve(lines.window, facts.max_output).reserve
    return CompactionSettings(reserve_tokens=reserve, keep_recent_tokens=keep)


def cut_entry(fields: dict[str, Any]) -> Entry:
    """An entry that stands for the cut until the host has written its own."""
    return Entry(id="", parent_id=None, type="compaction", data={"type": "compaction", **fields})
