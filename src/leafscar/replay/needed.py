"""What of the outputs that went was used again later (docs/replay.md, docs/cuts.md)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from leafscar.hindsight import Use
from leafscar.replay.departures import Departure
from leafscar.replay.details import CostlyOutput, Needed
from leafscar.replay.recording import RecordedRequest

__all__ = ["joint_needed", "needed_of", "with_fate"]

Uses = Mapping[str, Sequence[Use]]
"""Later uses by the id of the output's entry."""


def needed_of(gone: Mapping[str, Departure], uses: Uses) -> Needed:
    """Count what went, and what of it was used by a response that no longer had it."""
    missed = [one for id_, one in gone.items() if any(use.position >= one.position for use in uses.get(id_, ()))]
    return Needed(
        outputs=len(gone),
        needed=len(missed),
        tokens=sum(one.tokens for one in gone.values()),
        needed_tokens=sum(one.tokens for one in missed),
    )


def joint_needed(parts: Sequence[Needed | None]) -> Needed | None:
    """Add several sessions up; None when one of them is unknown."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return Needed(
        outputs=sum(part.outputs for part in known),
        needed=sum(part.needed for part in known),
        tokens=sum(part.tokens for part in known),
        needed_tokens=sum(part.needed_tokens for part in known),
    )


def with_fate(
    outputs: Sequence[CostlyOutput],
    gone: Mapping[str, Departure],
    uses: Uses,
    requests: Sequence[RecordedRequest],
) -> list[CostlyOutput]:
    """Say of each output when it would have gone, and when it was used last."""
    positions = [request.position for request in requests]

    def fated(output: CostlyOutput) -> CostlyOutput:
        departure = gone.get(output.entry_id)
        last = max((use.position for use in uses.get(output.entry_id, ())), default=None)
        return replace(
            output,
            shed_at=None if departure is None else departure.request,
            last_used=None if last is None else min(bisect_left(positions, last) + 1, len(positions)),
        )

    return [fated(output) for output in outputs]
