"""Where the settings files are, reading both, writing one (docs/settings.md, docs/adr/0030-settings-files.md)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from leafscar._regular import read_file, replace_file
from leafscar.config._json import Json, dumps, loads, plain, shown
from leafscar.config._keys import checked_pairs
from leafscar.config._lock import locked
from leafscar.config._merge import Layer, Settings, Source, merge_settings, patched
from leafscar.errors import SettingsError

__all__ = ["MAX_BYTES", "SettingsPaths", "Written"]
__all__ += ["current_folder", "read_settings", "settings_paths", "write_settings"]

MAX_BYTES = 1024 * 1024
"""Size limit of a settings file in bytes."""


class SettingsPaths(Struct, frozen=True, kw_only=True):
    """The two files, whether they exist or not."""

    project: Path
    global_: Path


class Written(Struct, frozen=True, kw_only=True):
    """A finished write: the file, and what both files say now."""

    path: Path
    settings: Settings


def current_folder() -> Path:
    """Give the folder that a command runs in; raises SettingsError when it is gone or closed to us."""
    try:
        return Path.cwd()
    except OSError as error:
        raise SettingsError(f"cannot read the current folder: {_why(error)}; go to one that exists") from error


def settings_paths(
    cwd: Path | str, *, environ: Mapping[str, str] | None = None, home: Path | str | None = None
) -> SettingsPaths:
    """Give the project file of ``cwd`` and the global file; a leading ``~`` of the variable is ``home``."""
    environ = os.environ if environ is None else environ
    home = Path(home or environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - Path.home() may raise
    folder = environ.get("PI_CODING_AGENT_DIR") or "~/.pi/agent"
    if folder == "~" or folder.startswith("~/"):
        folder = home / folder[2:]
    return SettingsPaths(
        project=Path(cwd) / ".pi" / "settings.json",
        global_=Path(folder) / "settings.json",
    )


def read_settings(
    cwd: Path | str, *, environ: Mapping[str, str] | None = None, home: Path | str | None = None
) -> Settings:
    """Read both files; never raises for what they hold: ``problems`` says what could not be used."""
    paths = settings_paths(cwd, environ=environ, home=home)
    return merge_settings(_read_layer("project", paths.project), _read_layer("global", paths.global_))


def write_settings(
    cwd: Path | str,
    pairs: Mapping[str, object],
    *,
    environ: Mapping[str, str] | None = None,
    home: Path | str | None = None,
) -> Written:
    """Set ``pairs`` (dotted or bare key to value; None leaves a key as it is) in the project file, else the global one.

    Raises SettingsError, with the file's bytes unchanged, for a bad pair or a file that cannot be used.
    """
    patch = checked_pairs(pairs)
    paths = settings_paths(cwd, environ=environ, home=home)
    in_project = _exists(paths.project)
    path = paths.project if in_project else paths.global_
    if patch:
        try:
            _patch_file("project" if in_project else "global", path, patch)
        except (OSError, ValueError) as error:
            raise SettingsError(f"cannot write {plain(str(path))}: {_why(error)}; nothing was written") from error
    return Written(path=path, settings=read_settings(cwd, environ=environ, home=home))


def _patch_file(source: Source, path: Path, patch: Mapping[tuple[str, ...], Json]) -> None:
    real = Path(os.path.realpath(path))
    real.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with locked(path):
        layer = _read_layer(source, path)
        if layer.problems:
            raise SettingsError(*(f"{problem}; nothing was written" for problem in layer.problems))
        payload = dumps(patched(layer.data, patch)).encode()
        if len(payload) > MAX_BYTES:
            raise SettingsError(f"{plain(str(path))} would pass {MAX_BYTES:,} bytes; nothing was written")
        replace_file(real, payload, mode=0o600)


def _exists(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):  # it is there in some form; opening it says what is wrong
        return True
    return True


def _read_layer(source: Source, path: Path) -> Layer:
    name = plain(str(path))
    try:
        payload = read_file(path, MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return Layer(source=source, path=path)
    except (OSError, ValueError) as error:
        return Layer(source=source, path=path, problems=(f"cannot read {name}: {_why(error)}",))
    try:
        data = loads(payload.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Layer(source=source, path=path, problems=(f"invalid JSON in {name}: not UTF-8 at byte {error.start}",))
    except ValueError as error:
        return Layer(source=source, path=path, problems=(f"invalid JSON in {name}: {error}",))
    if not isinstance(data, dict):
        return Layer(source=source, path=path, problems=(f"{name} must be an object, got: {shown(data)}",))
    return Layer(source=source, path=path, data=data)


def _why(error: OSError | ValueError) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)
