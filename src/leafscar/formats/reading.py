"""What a reader of another tool's recording gives: entries in pi's shape, and what the recording cannot tell."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from leafscar.formats.pi import Header, Problem
from leafscar.model.entries import Entry

__all__ = ["MAX_DOCUMENT_BYTES", "Builder", "Reading"]

MAX_DOCUMENT_BYTES = 512 * 1024 * 1024
"""A longer document is refused: it would have to be held in memory several times over."""


class Reading(Struct, frozen=True, kw_only=True):
    """One recording of another tool, read."""

    format: str
    """Name of the format, as ``leafscar formats`` lists it."""
    header: Header
    entries: tuple[Entry, ...]
    """In file order. ``raw`` is the line (None where the file is one document), ``data`` the entry in pi's shape."""
    parents: tuple[int, ...]
    """Position of each entry's parent in ``entries``; -1 for a root; always smaller than its own position."""
    problems: tuple[Problem, ...]
    """What reading went around."""
    unknown: tuple[str, ...]
    """Sentences: what this recording cannot tell."""
    window: int | None = None
    """Context window in tokens, where the recording states it."""


class Builder:
    """Collects the entries of one recording in file order, each a child of the one before unless told otherwise."""

    def __init__(self) -> None:
        self.entries: list[Entry] = []
        self.parents: list[int] = []
        self.problems: list[Problem] = []
        self.positions: dict[str, int] = {}
        """Newest position of each id."""

    def add(
        self,
        kind: str,
        fields: Mapping[str, Any],
        *,
        id_: str,
        line: int = 0,
        raw: bytes | None = None,
        timestamp: str | None = None,
        parent: int | None = None,
    ) -> Entry:
        """Add one entry; an id that is taken gets a number behind it, so that every entry can be recalled."""
        own, number = id_, len(self.entries)
        while own in self.positions:
            own, number = f"{id_}-{number}", number + 1
        at = len(self.entries) - 1 if parent is None else parent
        parent_id = self.entries[at].id if at >= 0 else None
        head = {"type": kind, "id": own, "parentId": parent_id}
        data = {**head, **({} if timestamp is None else {"timestamp": timestamp}), **fields}
        entry = Entry(id=own, parent_id=parent_id, type=kind, line=line, raw=raw, data=data)
        self.positions[own] = len(self.entries)
        self.entries.append(entry)
        self.parents.append(at)
        return entry

    def problem(self, kind: str, line: int, message: str) -> None:
        """Note something that reading went around."""
        self.problems.append(Problem(kind=kind, line=line, message=message))

    def reading(
        self, format_: str, header: Header, *, unknown: Iterable[str] = (), window: int | None = None
    ) -> Reading:
        """Give what was collected."""
        return Reading(
            format=format_,
            header=header,
            entries=tuple(self.entries),
            parents=tuple(self.parents),
            problems=tuple(self.problems),
            unknown=tuple(unknown),
            window=window,
        )
