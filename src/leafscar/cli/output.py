"""Files that a command writes: nothing is overwritten but an earlier output of the same kind (docs/cli.md)."""

from __future__ import annotations

import os
import stat
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from leafscar._regular import read_file, replace_file
from leafscar.errors import LeafscarError

__all__ = ["Kind", "check_apart", "check_output", "is_explanation", "is_page", "is_result", "write_output"]

Kind = Callable[[bytes], bool]
"""Tells whether a file holds an earlier output of the kind that is to be written."""

_MAX_BYTES = 512 * 1024 * 1024
_ANOTHER = "name a file that can be written"
_PAGE_START = b'<!doctype html>\n<html lang="en">\n'
_PAGE_TITLE = b"<title>leafscar replay: "
_PAGE_FOOTER = b"<p>Made by leafscar "
_HEAD_BYTES = 4096


class _Session(Struct):
    path: str
    baseline: str
    verdict: str
    policies: list[Any]


class _Result(Struct):
    verdict: str
    sessions: list[_Session]
    skipped: list[str]
    version: str


class _Explanation(Struct):
    policy: str
    request: int
    requests: int
    estimate: float


def is_result(data: bytes) -> bool:
    """Whether this is what ``replay --json`` writes."""
    return _reads_as(data, _Result)


def is_explanation(data: bytes) -> bool:
    """Whether this is what ``replay --explain N --json`` writes."""
    return _reads_as(data, _Explanation)


def is_page(data: bytes) -> bool:
    """Whether this is what ``replay --html`` writes, from its first line to its last."""
    whole = data.startswith(_PAGE_START) and data.rstrip().endswith(b"</html>")
    return whole and _PAGE_TITLE in data[:_HEAD_BYTES] and _PAGE_FOOTER in data


def check_output(path: Path, is_ours: Kind) -> None:
    """Raise :class:`LeafscarError` unless ``path`` is free, empty, or holds an earlier output of ours."""
    try:
        facts = path.stat()
    except FileNotFoundError as fault:
        if _real(path).parent.is_dir():
            return
        raise _unwritable(path, fault) from fault
    except OSError as fault:
        raise _unwritable(path, fault) from fault
    if not stat.S_ISREG(facts.st_mode):
        raise LeafscarError(f"{path}: not a regular file; {_ANOTHER}")
    if facts.st_size and not _holds(path, is_ours):
        raise LeafscarError(
            f"{path}: this is no earlier result of this option, and is not overwritten; name another file, or remove it"
        )


def check_apart(first: Path, second: Path) -> None:
    """Raise :class:`LeafscarError` when two outputs would go into one file, whatever it is called."""
    both = _real(first), _real(second)
    names = [unicodedata.normalize("NFC", path.name).casefold() for path in both]
    if _is_same(*both) or (names[0] == names[1] and _is_same(both[0].parent, both[1].parent)):
        raise LeafscarError(f"{second}: --json and --html name the same file; give each its own")


def write_output(path: Path, text: str, is_ours: Kind) -> None:
    """Write a whole file in one step; what stood there before stays until then. Raises :class:`LeafscarError`."""
    check_output(path, is_ours)  # once more: a replay may take minutes
    try:
        replace_file(_real(path), text.encode("utf-8", "backslashreplace"), mode=0o666)
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def _reads_as(data: bytes, kind: type[Struct]) -> bool:
    try:
        msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _real(path: Path) -> Path:
    """The file itself, so that a link to it stays a link."""
    return Path(os.path.realpath(path))


def _is_same(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


def _holds(path: Path, is_ours: Kind) -> bool:
    try:
        return is_ours(read_file(path, _MAX_BYTES))
    except ValueError:
        return False
    except OSError as fault:
        raise _unwritable(path, fault) from fault


def _unwritable(path: Path, fault: OSError) -> LeafscarError:
    return LeafscarError(f"{path}: {fault.strerror}; {_ANOTHER}")
