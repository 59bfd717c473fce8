"""One spelling for each file, so that two calls that name it differently meet."""

from __future__ import annotations

import posixpath
import re

__all__ = ["located"]

_DRIVE = re.compile(r"[A-Za-z]:/")


def located(path: str, folder: str = "") -> str:
    """Give ``path`` with ``/`` between its parts, without ``.`` and ``..``, below ``folder`` where it is relative."""
    plain = path.strip().replace("\\", "/")
    if not plain:
        return folder
    if _DRIVE.match(plain):
        return plain[0].lower() + posixpath.normpath(plain[1:])
    return posixpath.normpath(plain if plain[0] in "/~" or not folder else f"{folder}/{plain}")
