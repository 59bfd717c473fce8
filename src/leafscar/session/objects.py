"""JSON objects in files that other tools wrote: what cannot be read is nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from leafscar.errors import SessionRefused
from leafscar.formats.reading import MAX_DOCUMENT_BYTES
from leafscar.model.entries import loads
from leafscar.model.shapes import as_mapping
from leafscar.session.lines import opened, whole

__all__ = ["bytes_of", "object_in"]


def bytes_of(path: Path, limit: int = MAX_DOCUMENT_BYTES) -> bytes:
    """Give the first ``limit`` bytes of a file; none where it cannot be read."""
    try:
        with opened(path) as fd:
            return whole(fd, min(os.fstat(fd).st_size, limit))
    except SessionRefused:
        return b""


def object_in(data: bytes | str) -> Mapping[str, Any] | None:
    """Give the object that ``data`` is; None for anything else."""
    try:
        return as_mapping(loads(data))
    except ValueError:
        return None
