"""OpenHands' own store: a folder of a conversation, with one file for each of its events (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats.openhands import read_events
from leafscar.formats.pi import Problem
from leafscar.formats.reading import MAX_DOCUMENT_BYTES, Reading
from leafscar.session.objects import bytes_of, object_in

__all__ = ["conversation_of", "is_conversation", "read_conversation"]

_EVENT = re.compile(r"(?:event-)?(\d{1,15})(?:-[A-Za-z0-9_-]+)?\.json")
_STATE = "base_state.json"


def is_conversation(path: Path) -> bool:
    """Whether a folder holds the events of a conversation, or is the folder of its events."""
    return next(_numbered(_events_of(path)), None) is not None


def conversation_of(path: Path) -> Path | None:
    """Give the folder of the conversation that a file is an event or the state of; None for any other file."""
    if path.parent.name == "events" and _EVENT.fullmatch(path.name):
        return path.parent.parent
    return path.parent if path.name == _STATE and is_conversation(path.parent) else None


def read_conversation(path: Path) -> tuple[Reading, int]:
    """Read the conversation in a folder; gives how many bytes it has too. Raises :class:`SessionRefused`."""
    events: list[Mapping[str, Any]] = []
    problems: list[Problem] = []
    size = 0
    for _, file in sorted(_numbered(_events_of(path))):
        data = bytes_of(file)
        size += len(data)
        if size > MAX_DOCUMENT_BYTES:
            raise SessionRefused(path, f"its events are over {MAX_DOCUMENT_BYTES >> 20} MiB")
        fields = object_in(data)
        if fields is None:
            problems.append(Problem(kind="broken-line", line=0, message=f"{file.name[:80]} holds no object, skipped"))
        else:
            events.append(fields)
    if not events:
        raise SessionRefused(path, "a folder without a session", hint="name a file, or a folder of a conversation")
    state = object_in(bytes_of(_events_of(path).parent / _STATE)) or {}
    return read_events(events, state, problems), size


def _events_of(path: Path) -> Path:
    return path if path.name == "events" else path / "events"


def _numbered(folder: Path) -> Iterator[tuple[int, Path]]:
    """Files of events with their numbers, in no order."""
    try:
        found = list(folder.iterdir()) if folder.is_dir() else []
    except OSError:
        found = []  # not ours to read
    for path in found:
        if number := _EVENT.fullmatch(path.name):
            yield int(number[1]), path
