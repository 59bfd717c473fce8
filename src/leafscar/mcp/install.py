"""Adding the server to a client's own settings: nothing that stands there is changed or lost."""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from leafscar._regular import replace_file
from leafscar.errors import LeafscarError, SettingsError

__all__ = ["CLIENTS", "NAME", "Change", "install", "plan", "read_current"]

NAME = "leafscar"
"""What the server is called in every client."""

CLIENTS = ("claude", "codex", "pi")
_HALF = re.compile("[\ud800-\udfff]")
_MAX_BYTES = 4 * 1024 * 1024


class Change(Struct, frozen=True, kw_only=True):
    """What an installation writes."""

    path: Path
    before: bytes | None
    """What stands there now; None without a file."""
    after: bytes
    """What is to stand there; equal to ``before`` when the server is there already."""
    added: str
    """The part that is new, for printing."""


def plan(client: str, command: Sequence[str], *, project: Path, home: Path, environ: Mapping[str, str]) -> Change:
    """Work out the change of a client's settings. Raises :class:`LeafscarError` where nothing can be added."""
    match client:
        case "claude":
            return _change(project / ".mcp.json", command, _into_json, _as_json)
        case "codex":
            moved = environ.get("CODEX_HOME", "")
            return _change(Path(moved or home / ".codex") / "config.toml", command, _into_toml, _as_toml)
        case "pi":
            raise LeafscarError(
                "pi has no MCP of its own, so nothing was written: its bash tool can run "
                "leafscar recall --search TEXT, then the command that a hit ends in"
            )
        case _:
            raise LeafscarError(f"--install {client}: give one of {', '.join(CLIENTS)}")


def _change(
    path: Path,
    command: Sequence[str],
    into: Callable[[Path, str, Sequence[str]], str | None],
    shown: Callable[[Sequence[str]], str],
) -> Change:
    before = read_current(path)
    try:
        text = (before or b"").decode("utf-8")
    except UnicodeDecodeError as fault:
        raise SettingsError(f"{path}: not UTF-8; nothing was written: add the server by hand") from fault
    after = into(path, text, command)
    whole = before if after is None and before is not None else (after or "").encode()
    return Change(path=path, before=before, after=whole, added=shown(command))


def install(change: Change) -> None:
    """Write a change in one step. Raises :class:`SettingsError` when the file is no longer what was read."""
    if change.after == change.before:
        return
    if read_current(change.path) != change.before:
        raise SettingsError(f"{change.path}: it changed meanwhile; nothing was written: run it again")
    try:
        change.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(Path(os.path.realpath(change.path)), change.after, mode=0o600)
    except OSError as fault:
        raise SettingsError(f"{change.path}: {fault.strerror}; nothing was written: make it writable") from fault


def read_current(path: Path) -> bytes | None:
    """What stands in a settings file now; None without one. Raises :class:`SettingsError`."""
    try:
        if not path.exists() and not path.is_symlink():
            return None
        if not path.is_file():
            raise SettingsError(f"{path}: no regular file; nothing was written: add the server by hand")
        if path.stat().st_size > _MAX_BYTES:
            raise SettingsError(f"{path}: larger than 4 MiB; nothing was written: add the server by hand")
        return path.read_bytes()
    except OSError as fault:
        raise SettingsError(f"{path}: {fault.strerror}; nothing was written: make it readable") from fault


def _entry(command: Sequence[str]) -> dict[str, Any]:
    return {"command": command[0], "args": list(command[1:])}


# --- Claude Code: .mcp.json of the project ----------------------------------------------------------------


def _as_json(command: Sequence[str]) -> str:
    return json.dumps({"mcpServers": {NAME: {"type": "stdio", **_entry(command)}}}, indent=2)


def _into_json(path: Path, text: str, command: Sequence[str]) -> str | None:
    if not text.strip():
        return _as_json(command) + "\n"
    try:
        settings = _object(json.loads(text, object_pairs_hook=_once))
    except (ValueError, RecursionError) as fault:
        raise SettingsError(f"{path}: no JSON: {fault}; nothing was written: mend it first") from fault
    known = None if settings is None else _object(settings.setdefault("mcpServers", {}))
    if settings is None or known is None:
        raise SettingsError(f"{path}: mcpServers is no object; nothing was written: mend it first")
    if NAME in known:
        _check_same(path, known[NAME], command)
        return None
    known[NAME] = {"type": "stdio", **_entry(command)}
    try:
        return _dumped(settings)
    except (ValueError, RecursionError) as fault:
        raise SettingsError(f"{path}: cannot be written again as it is; add {NAME} by hand") from fault


def _object(value: object) -> dict[str, Any] | None:
    """The very object, typed; None for anything else."""
    return value if isinstance(value, dict) else None  # pyright: ignore[reportUnknownVariableType]


def _dumped(settings: object) -> str:
    text = json.dumps(settings, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    half = _HALF.search(text) is not None  # half a character has no UTF-8
    return json.dumps(settings, indent=2, allow_nan=False) + "\n" if half else text


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are all there afterwards."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice in one object")
    return found


# --- Codex: config.toml, which people comment ---------------------------------------------------------------


def _as_toml(command: Sequence[str]) -> str:
    args = ", ".join(_toml_text(word) for word in command[1:])
    return f"[mcp_servers.{NAME}]\ncommand = {_toml_text(command[0])}\nargs = [{args}]\n"


def _toml_text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")  # JSON's escapes are TOML's


def _into_toml(path: Path, text: str, command: Sequence[str]) -> str | None:
    settings = _toml(path, text)
    known = _object(settings.get("mcp_servers", {}))
    if known is None:
        raise SettingsError(f"{path}: mcp_servers is no table; nothing was written: mend it first")
    if NAME in known:
        _check_same(path, known[NAME], command)
        return None
    gap = "" if not text else "\n" if text.endswith("\n") else "\n\n"
    after = text + gap + _as_toml(command)
    expected = {**settings, "mcp_servers": {**known, NAME: _entry(command)}}
    try:
        read = tomllib.loads(after)
    except tomllib.TOMLDecodeError as fault:  # an inline table cannot be added to
        raise SettingsError(
            f"{path}: mcp_servers is written on one line; nothing was written: add {NAME} to it by hand"
        ) from fault
    if read != expected:
        raise SettingsError(f"{path}: it would read otherwise afterwards; nothing was written: add {NAME} by hand")
    return after


def _toml(path: Path, text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise SettingsError(f"{path}: no TOML: {fault}; nothing was written: mend it first") from fault


def _check_same(path: Path, entry: object, command: Sequence[str]) -> None:
    """An entry of that name that starts something else is somebody's own."""
    wanted = _entry(command)
    found = _object(entry) or {}
    if any(found.get(key) != value for key, value in wanted.items()):
        raise SettingsError(
            f"{path}: a server {NAME} stands there with another command; nothing was written: "
            "remove it first to replace it"
        )
