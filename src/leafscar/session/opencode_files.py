"""opencode's older store: one JSON file for a session, one for each message and each part (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats.opencode import FORMAT, read_export
from leafscar.formats.pi import Problem
from leafscar.formats.reading import MAX_DOCUMENT_BYTES, Reading
from leafscar.model.shapes import as_mapping, as_text
from leafscar.session.objects import bytes_of, object_in

__all__ = ["is_child", "is_stored_head", "read_stored"]

_HEAD_BYTES = 1024 * 1024
_NAME = re.compile(r"[A-Za-z0-9_-]+")


def is_stored_head(format_: str, data: bytes) -> bool:
    """Whether a document is the head of a session whose messages lie in files of their own."""
    if format_ != FORMAT:
        return False
    fields = object_in(data)
    return fields is not None and "messages" not in fields and "info" not in fields


def is_child(path: Path) -> bool:
    """Whether the head of a session says that a sub-agent worked in it; False where it cannot be read."""
    head = object_in(bytes_of(path, _HEAD_BYTES))
    return bool(head and as_text(head.get("parentID")))


def read_stored(path: Path, data: bytes) -> Reading:
    """Read the session whose head, ``storage/session/PROJECT/ses_ID.json``, is at ``path`` and holds ``data``.

    Raises :class:`SessionRefused` when its messages are not beside it.
    """
    info = object_in(data) or {}
    store, id_ = path.absolute().parent.parent.parent, as_text(info.get("id")) or ""
    folder = store / "message" / id_
    if not _NAME.fullmatch(id_) or not folder.is_dir():
        reason = "only the head of a session: its messages are not in the store around it"
        raise SessionRefused(path, reason, hint="name the file below opencode/storage/session, not a copy")
    gathered = _Gathered(path, len(data))
    messages = [_message(store, gathered, name, fields) for name, fields in gathered.objects(folder)]
    messages.sort(key=_moment)
    return read_export({"info": info, "messages": messages}, gathered.problems)


def _message(store: Path, gathered: _Gathered, name: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    parts = [{**part, "id": own} for own, part in gathered.objects(store / "part" / name)]
    return {"info": {**fields, "id": name}, "parts": parts}


def _moment(message: Mapping[str, Any]) -> tuple[float, str]:
    created = (as_mapping(message["info"].get("time")) or {}).get("created")
    return created if isinstance(created, int | float) else 0.0, message["info"]["id"]


class _Gathered:
    """Reads the files of one session, and counts their bytes."""

    def __init__(self, path: Path, size: int) -> None:
        self.problems: list[Problem] = []
        self._path = path
        self._size = size

    def objects(self, folder: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Give the objects of a folder by the names of their files, which opencode numbers in rising order."""
        for path in sorted(folder.glob("*.json")) if folder.is_dir() else ():
            fields = self._object(path) if _NAME.fullmatch(path.stem) else None
            if fields is None:
                self._skip(path, "holds no object")
            else:
                yield path.stem, fields

    def _object(self, path: Path) -> Mapping[str, Any] | None:
        data = bytes_of(path)
        self._size += len(data)
        if self._size > MAX_DOCUMENT_BYTES:
            raise SessionRefused(self._path, f"its messages are over {MAX_DOCUMENT_BYTES >> 20} MiB")
        return object_in(data)

    def _skip(self, path: Path, reason: str) -> None:
        name = f"{path.parent.name[:80]}/{path.name[:80]}"
        self.problems.append(Problem(kind="broken-line", line=0, message=f"{name} {reason}, skipped"))
