"""One writer of a settings file at a time, pi included (docs/adr/0030-settings-files.md)."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from leafscar.config._json import plain
from leafscar.errors import SettingsError

__all__ = ["locked"]

_PATIENCE = 15.0
"""Seconds to wait for another writer; longer than ``_STALE``, so that a crashed one never stops us."""
_STALE = 10.0
"""Seconds after which a lock folder counts as left behind; pi's own number."""
_PAUSE = 0.01


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold ``path`` alone: against leafscar by its folder's lock, against pi by the lock folder ``PATH.lock``."""
    deadline = time.monotonic() + _PATIENCE
    mark = path.with_name(f"{path.name}.lock")
    with _folder_held(path, deadline):
        _wait(path, deadline, lambda: _place(mark))
        try:
            yield
        finally:
            with suppress(OSError):
                mark.rmdir()


@contextmanager
def _folder_held(path: Path, deadline: float) -> Generator[None]:
    """Hold the folder of the real file; the system lets go when a process dies. Without such locks: nothing."""
    if sys.platform == "win32":
        yield
        return
    folder = os.open(Path(os.path.realpath(path)).parent, os.O_RDONLY)
    try:
        _wait(path, deadline, lambda: _lock_folder(folder))
        yield
    finally:
        os.close(folder)


def _wait(path: Path, deadline: float, attempt: Callable[[], bool]) -> None:
    while not attempt():
        if time.monotonic() > deadline:
            raise SettingsError(
                f"{plain(str(path))} is being written by another process; nothing was written: "
                f"try again, and if nobody is writing remove {plain(str(path))}.lock"
            )
        time.sleep(_PAUSE)


def _lock_folder(folder: int) -> bool:
    import fcntl  # noqa: PLC0415 - the module exists on POSIX only

    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without such locks: the lock folder alone decides
        return True
    return True


def _place(mark: Path) -> bool:
    try:
        mark.mkdir()
    except FileExistsError:
        with suppress(OSError):
            if time.time() - mark.stat().st_mtime > _STALE:
                mark.rmdir()
        return False
    return True
