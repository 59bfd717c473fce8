"""Which outputs a policy took out of the context, and when (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from leafscar.engine import Controller
from leafscar.engine.ledger import Ledger
from leafscar.model import BashExecution, Entry, ToolResult
from leafscar.replay.recording import RecordedRequest
from leafscar.replay.simulate import Step

__all__ = ["Departure", "DepartureWatch"]


class Departure(Struct, frozen=True, kw_only=True):
    """One output that was taken out."""

    request: int
    """The first request without it (1-based)."""
    position: int
    """Where that request's response stands on the recorded path."""
    tokens: float
    """Its size before it went."""


class DepartureWatch:
    """Watches one run; the first time that an output goes counts."""

    def __init__(self) -> None:
        self.gone: dict[str, Departure] = {}
        """By the id of the output's entry."""
        self._ledger: Ledger | None = None
        self._cut: tuple[object, ...] | None = None

    def before(self, request: RecordedRequest, controller: Controller) -> None:
        """Nothing has gone yet."""

    def after(self, step: Step) -> None:
        """Note what this request no longer holds."""
        before, ledger = self._ledger, step.controller.ledger
        if before is not ledger:
            self._ledger = ledger
            cut = _newest_cut(ledger)
            if before is not None and cut is not None and cut != self._cut:
                self._cut_away(before, ledger, step.request)
            self._cut = cut
        if step.moment.shed:
            self._note(ledger, step.replaced, step.request)

    def _cut_away(self, before: Ledger, after: Ledger, request: RecordedRequest) -> None:
        kept = {item.entry.id for item in after.items}
        gone = (at for at, item in enumerate(before.items) if item.entry.id not in kept)
        self._note(before, gone, request)

    def _note(self, ledger: Ledger, positions: Iterable[int], request: RecordedRequest) -> None:
        for at in filter(lambda at: _is_output(ledger.items[at].entry), positions):
            tokens = ledger.sums[at + 1] - ledger.sums[at]
            departure = Departure(request=request.number, position=request.position, tokens=tokens)
            self.gone.setdefault(ledger.items[at].entry.id, departure)


def _is_output(entry: Entry) -> bool:
    return entry.type == "message" and isinstance(entry.message, ToolResult | BashExecution)


def _newest_cut(ledger: Ledger) -> tuple[object, ...] | None:
    """What tells one cut from another: its host may write the entry that was only announced before."""
    entries = (item.entry for item in ledger.items)
    cut = next((entry for entry in entries if entry.type == "compaction"), None)
    return None if cut is None else (cut.get("firstKeptEntryId"), cut.get("summary"))
