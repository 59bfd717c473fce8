"""Where the agents on this machine keep their recordings (docs/formats.md). Only names and times are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

__all__ = ["Found", "find_recordings"]


class _Place(Struct, frozen=True, kw_only=True):
    """One tool's folder of recordings."""

    tool: str
    variable: str
    """Environment variable that moves the tool's own folder."""
    default: str
    """The tool's own folder below the home folder."""
    below: str
    """Folder of the recordings below the tool's own."""
    patterns: tuple[str, ...]


_PLACES = (
    _Place(
        tool="claude-code",
        variable="CLAUDE_CONFIG_DIR",
        default=".claude",
        below="projects",
        patterns=("*/*.jsonl",),
    ),
    _Place(
        tool="codex",
        variable="CODEX_HOME",
        default=".codex",
        below="sessions",
        patterns=("*/*/*/rollout-*.jsonl",),
    ),
    _Place(
        tool="pi",
        variable="PI_CODING_AGENT_DIR",
        default=".pi/agent",
        below="sessions",
        patterns=("*/*.jsonl", "*.jsonl"),
    ),
    _Place(
        tool="gemini-cli",
        variable="GEMINI_CLI_HOME",
        default=".gemini",
        below="tmp",
        patterns=("*/chats/*.json", "*/chats/*.jsonl"),
    ),
)


class Found(Struct, frozen=True, kw_only=True):
    """One recording on this machine."""

    path: Path
    tool: str
    modified: float
    """Seconds since 1970."""
    size: int
    """Bytes."""


def find_recordings(environ: Mapping[str, str], home: Path, *, newest: int | None = None) -> list[Found]:
    """Recordings of the known tools, newest first; at most ``newest`` of them. Unreadable folders are passed over."""
    found = [each for place in _PLACES for each in _recordings(place, environ, home)]
    found.sort(key=lambda each: (-each.modified, str(each.path)))
    return found if newest is None else found[:newest]


def _recordings(place: _Place, environ: Mapping[str, str], home: Path) -> Iterator[Found]:
    moved = environ.get(place.variable, "")
    own = home / place.default if not moved else Path(home, moved[2:]) if moved.startswith("~/") else Path(moved)
    for path in dict.fromkeys(_files(own / place.below, place.patterns)):
        try:
            facts = path.stat()
        except OSError:
            continue  # it went away, or is not ours to read
        if path.is_file() and facts.st_size:
            yield Found(path=path, tool=place.tool, modified=facts.st_mtime, size=facts.st_size)


def _files(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            yield from sorted(folder.glob(pattern))
        except OSError:
            continue
