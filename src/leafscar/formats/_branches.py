"""Entries of one recording before they have their places: several conversations in one file, each with its branches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from leafscar.formats._json import Record
from leafscar.formats.reading import Builder

__all__ = ["Branches", "Draft"]


class Draft(Struct, eq=False, kw_only=True):
    """One entry to come; its fields may still grow."""

    chain: str
    """The conversation that it belongs to."""
    kind: str
    fields: dict[str, Any]
    id: str
    record: Record
    own_line: bool = True
    """Whether it is what its line holds; otherwise the line holds it among others."""
    timestamp: str | None = None
    parent: Draft | None = None
    kept: Draft | None = None
    """First entry that a cut keeps; None when it keeps nothing before itself."""
    answered: Draft | None = None
    """Newest result of this response's calls."""


class Branches:
    """Collects drafts; each goes below the newest of its conversation unless that was moved."""

    def __init__(self) -> None:
        self.drafts: list[Draft] = []
        self.tips: dict[str, Draft | None] = {}
        """Where the next draft of each conversation goes; None is a new root."""
        self._open: dict[str, Draft] = {}

    def add(
        self,
        chain: str,
        kind: str,
        fields: Mapping[str, Any],
        record: Record,
        *,
        id_: str,
        timestamp: str | None = None,
        own_line: bool = True,
    ) -> Draft:
        """Add a draft below the tip of its conversation."""
        draft = Draft(
            chain=chain,
            kind=kind,
            fields=dict(fields),
            id=id_,
            record=record,
            timestamp=timestamp,
            own_line=own_line,
            parent=self.tips.get(chain),
        )
        self.drafts.append(draft)
        self.tips[chain] = draft
        return draft

    def respond(self, draft: Draft) -> None:
        """Take a draft as the response whose results may still come."""
        self._open[draft.chain] = draft

    def settle(self, chain: str) -> None:
        """Say that the conversation went on: a result that comes now is late."""
        self._open.pop(chain, None)

    def answer(self, draft: Draft, response: Draft) -> None:
        """Place a result that was just added: a late one goes up to the response that called for it."""
        if self._open.get(draft.chain) is not response:
            self._lift(draft, response.answered or response)
        response.answered = draft

    def _lift(self, draft: Draft, above: Draft) -> None:
        self.drafts.pop()
        tip = draft.parent
        for other in self.drafts:
            if other.parent is above:
                other.parent = draft
        self.drafts.insert(self.drafts.index(above) + 1, draft)
        draft.parent = above
        self.tips[draft.chain] = draft if tip is above else tip

    def emit(self, builder: Builder, main: str) -> None:
        """Give all drafts to ``builder``, those of other conversations before the last one of ``main``."""
        order = self.drafts
        last = max((at for at, draft in enumerate(order) if draft.chain == main), default=-1)
        if last >= 0:
            order = [*order[:last], *order[last + 1 :], order[last]]
        ids: dict[int, str] = {}
        places: dict[int, int] = {}
        for place, draft in enumerate(order):
            own = draft.id if draft.id not in builder.positions else f"{draft.id}-{place}"
            while own in builder.positions:
                own += "+"
            ids[id(draft)], places[id(draft)] = own, place
            kept = own if draft.kept is None else ids.get(id(draft.kept), own)
            builder.add(
                draft.kind,
                {**draft.fields, "firstKeptEntryId": kept} if draft.kind == "compaction" else draft.fields,
                id_=own,
                line=draft.record.line,
                raw=draft.record.raw if draft.own_line else None,
                timestamp=draft.timestamp,
                parent=-1 if draft.parent is None else places[id(draft.parent)],
            )
