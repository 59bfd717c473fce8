"""Where the agents on this machine keep their recordings (docs/formats.md). Names, times and owners are looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from leafscar.errors import SessionRefused
from leafscar.session.opencode_database import address_of, list_sessions
from leafscar.session.opencode_files import is_child

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
    _Place(
        tool="opencode",
        variable="XDG_DATA_HOME",
        default=".local/share",
        below="opencode",
        patterns=("opencode*.db", "storage/session/*/ses_*.json"),
    ),
)
_DATABASE = "OPENCODE_DB"
"""Environment variable that names another database of opencode's, in its own folder where it is no whole path."""


class Found(Struct, frozen=True, kw_only=True):
    """One recording on this machine."""

    path: Path
    """For a session in a database as ``DATABASE#ID``."""
    tool: str
    modified: float
    """Seconds since 1970."""
    size: int | None
    """Bytes; None for a session in a database."""
    root: Path
    """The tool's folder of recordings, which holds ``path`` unless a link leads out of it."""


def find_recordings(environ: Mapping[str, str], home: Path, *, newest: int | None = None) -> list[Found]:
    """Recordings of the known tools, newest first; at most ``newest`` of them. Unreadable folders are passed over.

    Those of sub-agents are left out where the tool keeps them apart. A session that opencode moved from files into its
    database counts once.
    """
    found = [each for place in _PLACES for each in _recordings(place, environ, home)]
    found.sort(key=lambda each: (-each.modified, str(each.path)))
    return found if newest is None else found[:newest]


def _recordings(place: _Place, environ: Mapping[str, str], home: Path) -> Iterator[Found]:
    own = _moved(environ.get(place.variable, ""), home, home / place.default) / place.below
    paths = list(_files(own, place.patterns))
    if place.tool != "opencode":
        yield from _plain(place.tool, own, paths)
        return
    if named := environ.get(_DATABASE, ""):
        paths.insert(0, _moved(named, home, own / named) if named.startswith("~/") else own / named)
    yield from _of_opencode(own, paths)


def _moved(value: str, home: Path, default: Path) -> Path:
    """Folder that a variable names; a tilde is the home folder."""
    return default if not value else Path(home, value[2:]) if value.startswith("~/") else Path(value)


def _plain(tool: str, root: Path, paths: Iterable[Path]) -> Iterator[Found]:
    for path in dict.fromkeys(paths):
        try:
            facts = path.stat()
        except OSError:
            continue  # it went away, or is not ours to read
        if path.is_file() and facts.st_size:
            yield Found(path=path, tool=tool, modified=facts.st_mtime, size=facts.st_size, root=root)


def _of_opencode(root: Path, paths: Iterable[Path]) -> Iterator[Found]:
    """Sessions of databases, then those of files that are in no database."""
    seen: set[str] = set()
    for found in _plain("opencode", root, paths):
        for id_, each in _sessions(found) if found.path.suffix != ".json" else [(found.path.stem, found)]:
            if id_ not in seen:
                seen.add(id_)
                if not (each.size and is_child(each.path)):
                    yield each


def _sessions(found: Found) -> Iterator[tuple[str, Found]]:
    try:
        stored = list_sessions(found.path)
    except SessionRefused:
        yield str(found.path), found  # whoever reads it says why it cannot be read
        return
    for each in stored:
        if not each.child:
            path = address_of(found.path, each.id)
            yield each.id, Found(path=path, tool=found.tool, modified=each.updated, size=None, root=found.root)


def _files(folder: Path, patterns: Iterable[str]) -> Iterator[Path]:
    for pattern in patterns:
        try:
            yield from sorted(folder.glob(pattern))
        except OSError:
            continue
