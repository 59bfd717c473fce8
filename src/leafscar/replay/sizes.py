"""Sizes in a what-if: what each message weighed, as far as the readings tell (docs/replay.md).

The overhead of system prompt and tools is the first reading less its messages. A message weighs its characters / 4
times k, and k comes from the difference between the two readings around it, so that sums give the readings back.
What a reading counts beyond any plausible k (content that the recording does not hold) stays with the newest message
before it, as tokens that no move takes out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from msgspec import Struct

from leafscar.compaction import Item, project_context
from leafscar.compaction.rules import DEFAULT
from leafscar.compaction.slots import items_of, make_slot
from leafscar.estimate import estimate_tokens
from leafscar.model import Entry, Message, System
from leafscar.replay.recording import RecordedRequest, Recording

__all__ = ["Sizes", "measure_sizes"]

_LEAST_TOKENS = 50
_LOW, _HIGH = 0.25, 4.0


class Sizes(Struct, frozen=True, kw_only=True):
    """Tokens of messages and of the overhead."""

    overhead: float | None
    """Tokens of system prompt and tools; None without any reading."""
    k: float
    """Measured tokens per character/4, over the whole session; 1.0 without readings."""
    system: float = 1.0
    """k of system messages that stand between no readings."""
    factors: Mapping[str, float]
    """k of each entry that stands between two readings, by entry id."""
    hidden: Mapping[str, float] = {}
    """Tokens beyond its text that the reading after an entry shows, by entry id."""
    readings: int
    """How many readings the numbers rest on."""
    unexplained: int
    """Readings that moved for a reason that the recording does not show."""

    def __call__(self, entry: Entry, message: Message) -> float:
        """Tokens of a message that ``entry`` gives to the context."""
        usual = self.system if isinstance(message, System) else self.k
        return estimate_tokens(message) * self.factors.get(entry.id, usual) + self.hidden.get(entry.id, 0)


def measure_sizes(recording: Recording) -> Sizes:
    """Measure a recording."""
    readings = [request for request in recording.requests if request.reading is not None]
    if not readings:
        return Sizes(overhead=None, k=1.0, factors={}, readings=0, unexplained=0)
    spans = _spans(recording, readings)
    plain = [span for span in spans if span.is_plausible]
    own = sum(span.own for span in plain)
    k = _bounded(sum(span.grown for span in plain) / own) if own else 1.0
    first, tokens = readings[0], readings[0].reading or 0
    before = project_context(recording.path[: first.position]).items
    weight = sum(estimate_tokens(item.message) for item in before)
    opening = min(k, tokens / weight) if weight else k  # less than k where the system prompt is one of the messages
    return Sizes(
        overhead=max(0.0, tokens - k * weight),
        k=k,
        system=opening,
        factors={
            **{item.entry.id: opening for item in before},
            **{at: span.factor(k) for span in spans for at in span.ids},
        },
        hidden=_hidden(spans, k),
        readings=len(readings),
        unexplained=len(spans) - len(plain),
    )


class _Span(Struct, frozen=True, kw_only=True):
    """The messages between two readings, and how much the second one had grown."""

    ids: list[str]
    own: float
    grown: float

    @property
    def is_plausible(self) -> bool:
        """Whether the messages explain the growth; a few tokens more or less always are."""
        near = abs(self.grown - self.own) < _LEAST_TOKENS
        return near or _LOW * self.own <= self.grown <= _HIGH * self.own

    def factor(self, k: float) -> float:
        return _bounded(self.grown / self.own) if self.own >= _LEAST_TOKENS and self.grown > 0 else k


def _spans(recording: Recording, readings: Sequence[RecordedRequest]) -> list[_Span]:
    spans = (_span(recording, *pair) for pair in pairwise(readings))
    return [span for span in spans if span is not None]


def _hidden(spans: Sequence[_Span], k: float) -> dict[str, float]:
    """What spans grew beyond their messages, unless the next reading takes it back: then it was a slip."""
    hidden: dict[str, float] = {}
    for span, after in pairwise([*spans, None]):
        assert span is not None
        beyond = span.grown - span.own * span.factor(k)
        if span.ids and beyond >= 1 and (after is None or after.grown > -beyond / 2):
            hidden[span.ids[-1]] = beyond
    return hidden


def _span(recording: Recording, first: RecordedRequest, second: RecordedRequest) -> _Span | None:
    """What stands between two readings; None across a cut, an edit or a change of model."""
    between = recording.path[first.position : second.position]
    if first.message.model != second.message.model:
        return None
    if any(entry.type in ("compaction", "context_edit") for entry in between):
        return None
    items: Sequence[Item] = items_of(make_slot(entry, DEFAULT) for entry in between)
    own = sum(estimate_tokens(item.message) for item in items)
    return _Span(
        ids=[item.entry.id for item in items],
        own=own,
        grown=(second.reading or 0) - (first.reading or 0),
    )


def _bounded(k: float) -> float:
    return min(max(k, _LOW), _HIGH)
