"""Which transcripts a server may read: the client's own, and never what a model names beyond them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from leafscar.errors import SessionError
from leafscar.replay import find_sessions
from leafscar.session.discover import Found, find_recordings

__all__ = ["MAX_TRANSCRIPTS", "Scope", "Transcript", "recorded_folder"]

MAX_TRANSCRIPTS = 200
"""Newest transcripts that a server looks at."""

_LOOKED_AT = 2000
_HEAD_BYTES = 256 * 1024
_TOOLS = ("claude-code", "codex", "pi")
_OWN_SESSION = "CLAUDE_CODE_SESSION_ID"


class Transcript(Struct, frozen=True, kw_only=True):
    """One transcript in scope."""

    name: str
    """What a model calls it: the file's name without its ending, or the path where two have the same name."""
    path: Path
    """The file itself, links resolved."""
    modified: float
    """Seconds since 1970."""


class Scope:
    """The transcripts of a project folder, or exactly the files and folders that the user named."""

    def __init__(
        self,
        *,
        project: Path,
        environ: Mapping[str, str],
        home: Path,
        sessions: Sequence[Path] = (),
        folders: Sequence[Path] = (),
    ) -> None:
        self._project = _resolved(project)
        self._environ = environ
        self._home = home
        self._sessions = tuple(path.absolute() for path in sessions)
        self._folders = tuple(path.absolute() for path in folders)
        self._folder_of: dict[Path, Path | None] = {}

    def transcripts(self) -> list[Transcript]:
        """Give them as they are now: the client's own session first where it names it, then the newest first."""
        named = self._sessions or self._folders
        found = list(_named(self._sessions, self._folders) if named else self._of_the_project())
        own = self._environ.get(_OWN_SESSION, "")
        found.sort(key=lambda each: (each.path.stem != own, -each.modified, str(each.path)))
        return list(_with_names(found[:MAX_TRANSCRIPTS]))

    def find(self, name: str | None) -> Transcript:
        """Give the transcript of that name or path, the first one for None. Raises :class:`SessionError`."""
        transcripts = self.transcripts()
        if name is None and transcripts:
            return transcripts[0]
        for each in transcripts:
            if name in (each.name, each.path.name, str(each.path)):
                return each
        shown = "this project" if name is None else repr(name[:80])
        reason = "no transcript in scope" if name is None else "not one of the transcripts in scope"
        hint = "none is recorded yet" if name is None else "use a session name that search or context gave"
        raise SessionError(shown, reason, hint=hint)

    def _of_the_project(self) -> Iterator[Transcript]:
        recordings = [each for each in find_recordings(self._environ, self._home) if each.tool in _TOOLS]
        for each in recordings[:_LOOKED_AT]:
            path = _resolved(each.path)
            if path is not None and _inside(path, each.root) and self._is_of_the_project(each, path):
                yield Transcript(name="", path=path, modified=each.modified)

    def _is_of_the_project(self, found: Found, path: Path) -> bool:
        if path not in self._folder_of:
            folder = recorded_folder(path)
            self._folder_of[path] = None if folder is None else _resolved(folder)
        folder = self._folder_of[path]
        if folder is None and found.tool == "claude-code" and self._project is not None:
            return found.path.parent.name == _claude_name(self._project)
        return folder is not None and folder == self._project


def recorded_folder(path: Path) -> Path | None:
    """Folder that a recording says it was made in, from its first 256 KiB; None when they do not say."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_HEAD_BYTES)
    except OSError:
        return None
    for line in head.split(b"\n"):
        try:
            record = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        folder = record.cwd or (record.payload.cwd if record.payload else None)
        if folder:
            return Path(folder)
    return None


class _Payload(Struct):
    cwd: str | None = None


class _Record(Struct):
    cwd: str | None = None
    payload: _Payload | None = None


_decode = msgspec.json.Decoder(_Record).decode


def _claude_name(folder: Path) -> str:
    """How Claude Code names the folder of a project's transcripts."""
    return "".join(each if each.isascii() and each.isalnum() else "-" for each in str(folder))


def _named(sessions: Sequence[Path], folders: Sequence[Path]) -> Iterator[Transcript]:
    for path in sessions:
        yield from _transcript(_resolved(path))
    for folder in folders:
        for path in find_sessions([folder]):
            real = _resolved(path)
            if real is not None and _inside(real, folder):
                yield from _transcript(real)


def _transcript(path: Path | None) -> Iterable[Transcript]:
    try:
        facts = None if path is None or not path.is_file() else path.stat()
    except OSError:
        return ()
    if path is None or facts is None:
        return ()
    return (Transcript(name="", path=path, modified=facts.st_mtime),)


def _with_names(found: Iterable[Transcript]) -> Iterator[Transcript]:
    names: set[str] = set()
    paths: set[Path] = set()
    for each in found:
        if each.path in paths:
            continue
        paths.add(each.path)
        name = each.path.stem if each.path.stem not in names else str(each.path)
        names.add(name)
        yield msgspec.structs.replace(each, name=name)


def _inside(path: Path, folder: Path) -> bool:
    root = _resolved(folder)
    return root is not None and path.is_relative_to(root)


def _resolved(path: Path) -> Path | None:
    try:
        return path.resolve(strict=True)
    except (OSError, RuntimeError, ValueError):  # a circle of links, or a name that no system has
        return None
