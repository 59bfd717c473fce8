"""Cuts: the ``compaction`` entry, and messages that leave the context without being summarised."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar.formats._pieces import without_nothing
from leafscar.formats.reading import Builder
from leafscar.model import Entry
from leafscar.model.shapes import as_mapping, as_text

__all__ = ["Timeline", "add_cut"]


def add_cut(
    builder: Builder,
    fields: Mapping[str, Any],
    *,
    id_: str,
    first: str | None = None,
    line: int = 0,
    raw: bytes | None = None,
    timestamp: str | None = None,
    parent: int | None = None,
) -> Entry:
    """Add a cut that keeps the entries from ``first`` on, or nothing of what stands before it."""
    own = id_ if id_ not in builder.positions else f"{id_}-cut{len(builder.entries)}"
    told = {"summary": "", "firstKeptEntryId": first or own, **fields}
    return builder.add("compaction", told, id_=own, line=line, raw=raw, timestamp=timestamp, parent=parent)


class Timeline:
    """Adds entries and knows which events of the tool each of them stands for, so that events can be forgotten."""

    def __init__(self) -> None:
        self.builder = Builder()
        self._entries: dict[str, list[int]] = {}  # positions of the entries of an event
        self._left: dict[int, set[str]] = {}  # events of an entry that are still in the context
        self._system: Mapping[str, Any] | None = None
        self._first = 0  # no entry before it is kept by a cut

    def put(
        self,
        kind: str,
        fields: Mapping[str, Any],
        id_: str,
        when: str | None,
        events: Iterable[str] = (),
        line: int = 0,
        raw: bytes | None = None,
    ) -> None:
        """Add an entry that stands for ``events``."""
        position = len(self.builder.entries)
        message = as_mapping(fields.get("message"))
        if message is not None and message.get("role") == "system":
            self._system = message
        self.builder.add(kind, fields, id_=id_, timestamp=when, line=line, raw=raw)
        self._left[position] = set(events)
        for event in self._left[position]:
            self._entries.setdefault(event, []).append(position)

    def known_events(self) -> Iterable[str]:
        """Events that stand in the context."""
        return list(self._entries)

    def condense(
        self,
        forgotten: Iterable[str],
        fields: Mapping[str, Any],
        id_: str,
        when: str | None,
        *,
        line: int = 0,
        raw: bytes | None = None,
    ) -> None:
        """Take events out of the context: a cut that keeps what stands before them, and an edit for each of them."""
        gone = self._forget(forgotten)
        first = self._first_kept()
        for number, position in enumerate(gone, start=1):
            if first is not None and position > first:
                edit = {"targetId": self.builder.entries[position].id, "replacement": None}
                self.put("context_edit", edit, f"{id_}-f{number}", when, line=line, raw=raw)
        kept = None if first is None else self.builder.entries[first].id
        told = {**fields, **without_nothing(systemMessage=self._system)}
        add_cut(self.builder, told, id_=id_, first=kept, line=line, raw=raw, timestamp=when)
        self._left[len(self.builder.entries) - 1] = set()

    def _forget(self, forgotten: Iterable[str]) -> list[int]:
        """Positions of the entries all of whose events are now forgotten."""
        gone: list[int] = []
        for event in forgotten:
            for position in self._entries.pop(event, ()):
                self._left[position].discard(event)
                if not self._left[position]:
                    gone.append(position)
        return sorted(gone)

    def _first_kept(self) -> int | None:
        entries = self.builder.entries
        while self._first < len(entries):
            role = as_text((entries[self._first].message_data or {}).get("role"))
            if self._left[self._first] and role != "system":
                return self._first
            self._first += 1
        return None
