"""Opening a session from its end: the cost follows the live context, not the file.

Lines are read backwards until the newest cut's first kept entry stands on the path. Whatever this short cut cannot
prove (an unknown parent, a missing id, a moved leaf) makes it give up, and the whole file is read instead.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import UNSET, Struct

from leafscar.formats.pi import MAX_LINE_BYTES, read_head
from leafscar.model.entries import Entry

__all__ = ["TailEntry", "lines_backwards", "read_tail"]

_CHUNK = 256 * 1024
_HEAD = re.compile(rb'\{"type":"[a-z_]+","id":"([ !#-\[\]-~]+)","parentId":')
_HEAD_BYTES = 120
_GIVE_UP = ("leaf", "session")


class TailEntry(Struct, frozen=True, gc=False):
    """An entry that was found from the end, and the byte offset of its line."""

    entry: Entry
    offset: int


def lines_backwards(fd: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Byte offset and content of each line before ``size``, without newlines, the last one first, up to a giant one."""
    held, start, chunk = b"", size, _CHUNK
    while start > 0:
        length = min(chunk, start)
        start -= length
        held = os.pread(fd, length, start) + held
        first = held.find(b"\n")
        if first < 0:
            if len(held) > MAX_LINE_BYTES:
                return
            chunk = min(chunk * 2, MAX_LINE_BYTES)
            continue
        end = len(held)
        cut = held.rfind(b"\n", 0, end)
        while cut >= 0:
            yield start + cut + 1, held[cut + 1 : end]
            end = cut
            cut = held.rfind(b"\n", 0, end)
        held = held[:end]
    yield 0, held


def read_tail(fd: int, size: int, header_end: int) -> list[TailEntry] | None:
    """Path from the newest cut's first kept entry (or the root) to the leaf; None when only a full read can tell."""
    path: list[TailEntry] = []
    wanted: str | None = None
    kept: str | None = None
    for offset, raw in lines_backwards(fd, size):
        if offset < header_end or len(raw) > MAX_LINE_BYTES:
            return None
        if wanted is not None and _is_another(raw, wanted.encode("utf-8", "surrogatepass")):
            continue
        entry = Entry.quick(raw) or _slow_entry(raw)
        if entry is None or (entry.id and wanted is not None and entry.id != wanted):
            continue
        if entry.type in _GIVE_UP or not entry.id:
            return None
        path.append(TailEntry(entry, offset))
        if kept is None and entry.type == "compaction":
            kept = entry.data.get("firstKeptEntryId") or entry.id
        if entry.parent_id is None or entry.id == kept:
            return path[::-1]
        wanted = entry.parent_id
    return None


def _is_another(raw: bytes, wanted: bytes) -> bool:
    """Whether a line is in pi's usual form and begins another entry than the wanted one."""
    if raw.find(wanted, 0, _HEAD_BYTES) >= 0:
        return False
    head = _HEAD.match(raw)
    return head is not None and head[1] != wanted


def _slow_entry(raw: bytes) -> Entry | None:
    """Entry of any readable line; one that has no place in the tree has no id, which makes the short cut give up."""
    head = read_head(raw) if raw else None
    if head is None or not head.type:
        return None
    if head.id is None or head.parentId is UNSET:
        return Entry(id="", parent_id=None, type=head.type, raw=raw)
    return Entry(id=head.id, parent_id=head.parentId, type=head.type, raw=raw)
