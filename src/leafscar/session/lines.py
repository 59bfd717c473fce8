"""Physical lines of a session file, read in chunks and never held all at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from leafscar.errors import SessionRefused
from leafscar.formats.pi import MAX_LINE_BYTES

__all__ = ["Line", "count_newlines", "lines", "opened", "whole"]

_CHUNK = 1024 * 1024
_FIRST_CHUNK = 32 * 1024
_WHOLE_CHUNK = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class Line(Struct, frozen=True, gc=False):
    """One physical line."""

    number: int
    """1-based."""
    raw: bytes
    """Its bytes without the newline, and without a byte order mark at the start of the file."""
    end: int
    """Byte offset of the next line."""
    torn: bool
    """Whether the file ends in it, without a newline."""


@contextmanager
def opened(path: Path) -> Generator[int]:
    """Descriptor of a regular file, for reading. Raises :class:`SessionRefused`, for faults while it is read too."""
    try:
        # without O_NONBLOCK a FIFO would wait here for its writer
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as fault:
        raise _refused(path, fault) from fault
    try:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise SessionRefused(path, "not a regular file", hint="name a session file")
        yield fd
    except OSError as fault:
        raise _refused(path, fault) from fault
    finally:
        os.close(fd)


def _refused(path: Path, fault: OSError | ValueError) -> SessionRefused:
    reason = (fault.strerror if isinstance(fault, OSError) else None) or str(fault)
    hint = "make it readable" if isinstance(fault, PermissionError) else "check the path"
    return SessionRefused(path, reason, hint=hint)


def lines(path: Path, fd: int, size: int) -> Iterator[Line]:
    """Give the lines of the first ``size`` bytes. Raises :class:`SessionRefused` at a line over 128 MiB."""
    held: list[bytes] = []
    held_size = at = number = 0
    chunk = _FIRST_CHUNK  # opening needs the first line only
    while at < size and (piece := os.pread(fd, min(chunk, size - at), at)):
        chunk = min(2 * chunk, _CHUNK)
        *whole, rest = piece.split(b"\n")
        for part in whole:
            number += 1
            at += len(part) + 1
            _check_length(path, number, held_size + len(part))
            yield Line(number, _joined(held, part, number), at, torn=False)
            held, held_size = [], 0
        if rest:
            at += len(rest)
            held.append(rest)
            held_size += len(rest)
            _check_length(path, number + 1, held_size)
    if held:
        yield Line(number + 1, _joined(held, b"", number + 1), at, torn=True)


def whole(fd: int, size: int) -> bytes:
    """Give the first ``size`` bytes of a file, or as many as it has."""
    pieces: list[bytes] = []
    at = 0
    while at < size and (piece := os.pread(fd, min(_WHOLE_CHUNK, size - at), at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def count_newlines(fd: int, start: int, end: int) -> int:
    """Count the newlines in a range of bytes."""
    count = 0
    while start < end and (piece := os.pread(fd, min(_CHUNK, end - start), start)):
        count += piece.count(b"\n")
        start += len(piece)
    return count


def _joined(held: list[bytes], part: bytes, number: int) -> bytes:
    raw = b"".join((*held, part)) if held else part
    return raw.removeprefix(_BOM) if number == 1 else raw


def _check_length(path: Path, number: int, length: int) -> None:
    if length > MAX_LINE_BYTES:
        raise SessionRefused(path, "a line over 128 MiB", line=number, hint="split or remove that line")
