"""Getting a lost projection back: what a controller that had been there would have done (ADR 0006)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from leafscar.compaction import SummaryResponse, newest_cut
from leafscar.engine.controller import Controller
from leafscar.engine.plan import Summarise
from leafscar.errors import ContextOverflow, SummaryFailed
from leafscar.model import Assistant, Entry

__all__ = ["fold", "was_controlled"]

_OURS = "leafscar."
_FAILED = SummaryResponse(stop_reason="error")


def was_controlled(path: Sequence[Entry]) -> bool:
    """Whether a session was run under leafscar: then its readings were measured on shed requests."""
    return any(entry.type == "custom" and str(entry.get("customType", "")).startswith(_OURS) for entry in path)


def fold(controller: Controller, path: Sequence[Entry]) -> None:
    """Let a controller make, request by request, the moves that the policy asks for since the newest cut.

    A summary that it would have asked for was not written then, or there would be a newer cut: it failed.
    """
    cut = newest_cut(path)
    seen: list[Entry] = list(path[: 0 if cut is None else cut + 1])
    for entry in path[len(seen) :]:
        if entry.type == "message" and isinstance(entry.message, Assistant):
            _request(controller, seen, entry.timestamp_ms)
        seen.append(entry)
    controller.take_events()


def _request(controller: Controller, seen: Sequence[Entry], at_ms: float | None) -> None:
    now = None if at_ms is None else at_ms / 1000
    if _is_after_cut(seen):
        controller.observe(seen, now=now)
        return
    with suppress(ContextOverflow, SummaryFailed):
        if isinstance(controller.before_request(seen, now=now), Summarise):
            controller.summarised(_FAILED)


def _is_after_cut(seen: Sequence[Entry]) -> bool:
    """Whether the request is the one that the cut was made for: it went out without another decision."""
    projecting = (entry for entry in reversed(seen) if entry.message is not None)
    newest = next(projecting, None)
    return newest is not None and newest.type == "compaction"
