"""Regular files only: read with a limit, replaced in one step."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from pathlib import Path

__all__ = ["read_file", "replace_file"]


def read_file(path: Path, limit: int) -> bytes:
    """Give the bytes of a file that holds at most ``limit`` bytes.

    Raises ``OSError``, or ``ValueError`` with the reason when it is too large or not a regular file.
    """
    file = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))  # a pipe in its place must not hang
    with os.fdopen(file, "rb") as stream:
        if not stat.S_ISREG(os.fstat(file).st_mode):
            raise ValueError("it is not a regular file")
        payload = stream.read(limit + 1)
    if len(payload) > limit:
        raise ValueError(f"it is larger than {limit:,} bytes")
    return payload


def replace_file(path: Path, payload: bytes, *, mode: int) -> None:
    """Put ``payload`` in the place of ``path`` in one step, with the old file's mode and owner, else with ``mode``.

    When it fails the old file is as it was, and nothing is left beside it.
    """
    fresh = path.with_name(f".{path.name[:200]}.{os.urandom(8).hex()}.tmp")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
            _take_over(file.fileno(), path)
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)  # noqa: PTH105 - the call that tests break
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def _take_over(file: int, path: Path) -> None:
    if sys.platform != "win32":
        with suppress(OSError):
            old = path.stat()
            os.fchown(file, old.st_uid, old.st_gid)
        with suppress(OSError):
            os.fchmod(file, stat.S_IMODE(path.stat().st_mode))


def _sync_folder(path: Path) -> None:
    """Make the new name last through a power cut, where the system can."""
    with suppress(OSError):
        folder = os.open(path, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
