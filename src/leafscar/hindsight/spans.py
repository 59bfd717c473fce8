"""Where a path was cut, and which of its entries went out of the context with each cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from leafscar.model import Entry
from leafscar.model.shapes import as_text

__all__ = ["Span", "spans_of"]


class Span(Struct, frozen=True, kw_only=True):
    """One recorded cut."""

    position: int
    """Index of the cut on the path."""
    gone: tuple[int, ...]
    """Indexes of the entries that stood in the context before it and not after it."""
    kept: tuple[int, ...]
    """Indexes of those that stand in both."""


def spans_of(path: Sequence[Entry]) -> Iterator[Span]:
    """Give each cut of a path, oldest first.

    Edits that stand right before a cut belong to it: that is how a condensation takes out what it forgets. What an
    edit takes out, or replaces, at another place left the context without a cut.
    """
    where: dict[str, int] = {}
    live: dict[str, int] = {}
    edited: list[int] = []
    for position, entry in enumerate(path):
        where[entry.id] = position
        if entry.type == "context_edit":
            target = live.pop(as_text(entry.get("targetId")) or "", None)
            edited += [] if target is None else [target]
        elif entry.type == "compaction":
            kept = _kept(entry, where, live)
            gone = sorted([*edited, *(at for id_, at in live.items() if id_ not in kept)])
            yield Span(position=position, gone=tuple(gone), kept=tuple(kept.values()))
            live, edited = kept, []
        elif entry.message is not None:
            live[entry.id] = position
            edited = []


def _kept(cut: Entry, where: Mapping[str, int], live: Mapping[str, int]) -> dict[str, int]:
    """Entries that the cut keeps, of those that stand in the context, by id."""
    first = where.get(as_text(cut.get("firstKeptEntryId")) or "")
    return {} if first is None else {id_: at for id_, at in live.items() if at >= first}
