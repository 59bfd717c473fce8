"""Appending to a session file.

What is on disk after a crash: one entry is one ``write`` of its line and newline. A write that fails is taken back;
a process that dies inside it leaves a torn last line, which readers skip and the next append ends with a newline
first, so that no byte of anyone is removed and no entry runs into it. (ADR 0003)
"""

from __future__ import annotations

import fcntl
import os
import secrets
import uuid
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from leafscar.errors import AppendFailed, SessionBusy
from leafscar.model.entries import Entry, dump_line
from leafscar.session.session import Session, load

__all__ = ["append", "holders", "new_id", "save"]

_TRIES = 100


def append(
    session: Session,
    type: str,  # noqa: A002 - the format's name
    fields: Mapping[str, Any],
    *,
    now: datetime | None = None,
    entry_id: str | None = None,
) -> Session:
    """Write one entry below the session's leaf and give the session as it stands then.

    Raises :class:`AppendFailed` (nothing of the entry stays in the file) when the session cannot be written, and
    :class:`SessionBusy` when another process holds its lock or wrote to it since it was opened.
    """
    data = _entry_data(session, type, fields, now or datetime.now(UTC), entry_id)
    line = dump_line(data)
    if session.path is None:
        session.add(data, raw=line)
        return session
    if session.header is None or session.header.version != 3:  # noqa: PLR2004 - the one version that is written
        raise AppendFailed(session.path, "only version 3 sessions are written", hint="open it once with pi")
    _append_line(session.path, line, expected_size=session.size)
    return load(session.path)


def new_id(taken: Collection[str], random: Callable[[], str] = lambda: secrets.token_hex(4)) -> str:
    """Give an id that is not taken: 8 hex digits, or a UUID after 100 collisions, as pi does."""
    for _ in range(_TRIES):
        candidate = random()
        if candidate not in taken:
            return candidate
    return str(uuid.uuid4())


def save(session: Session, path: str | os.PathLike[str]) -> None:
    """Write a session to a new file: the lines of its entries as they are, below its header.

    Raises :class:`AppendFailed` when the file exists or cannot be written; then no file is left behind.
    """
    where = Path(path)
    header = session.header
    data = {"type": "session", "version": 3, "id": str(uuid.uuid4()), "timestamp": _iso(datetime.now(UTC))}
    if header is not None:
        kept = {"id": header.id, "timestamp": header.timestamp, "cwd": header.cwd}
        data |= {key: value for key, value in kept.items() if value}
    lines = [dump_line(data), *(_saved_line(entry) for entry in session.entries)]
    try:
        with where.open("xb") as stream:
            stream.write(b"\n".join(lines) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except FileExistsError as fault:
        raise AppendFailed(where, "the file exists", hint="name a new file") from fault
    except OSError as fault:
        where.unlink(missing_ok=True)
        raise AppendFailed(where, fault.strerror or str(fault), hint="free space or name another place") from fault


def holders(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Process ids of others that have the file open, as far as this system tells (``/proc``); else empty."""
    try:
        facts = Path(path).stat()
        processes = [entry.name for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return ()
    wanted = (facts.st_dev, facts.st_ino)
    own = str(os.getpid())
    return tuple(sorted(int(pid) for pid in processes if pid != own and _has_open(pid, wanted)))


def _has_open(pid: str, wanted: tuple[int, int]) -> bool:
    try:
        for link in os.scandir(f"/proc/{pid}/fd"):
            facts = link.stat()
            if (facts.st_dev, facts.st_ino) == wanted:
                return True
    except OSError:
        return False  # the process ended, or is not ours to look at
    return False


def _entry_data(
    session: Session, kind: str, fields: Mapping[str, Any], now: datetime, entry_id: str | None
) -> dict[str, Any]:
    taken = {entry.id for entry in session.entries}
    head = {"type": kind, "id": entry_id or new_id(taken), "parentId": session.leaf_id, "timestamp": _iso(now)}
    return head | {key: value for key, value in fields.items() if value is not None}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _saved_line(entry: Entry) -> bytes:
    placed = entry.data.get("id") == entry.id and entry.data.get("parentId") == entry.parent_id
    if placed and entry.raw is not None:
        return entry.raw
    return dump_line({**entry.data, "id": entry.id, "parentId": entry.parent_id})


@contextmanager
def _locked(path: Path) -> Generator[int]:
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except OSError as fault:
        raise AppendFailed(path, fault.strerror or str(fault), hint="make the file writable") from fault
    try:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as fault:
            raise SessionBusy(path, "another process is writing to it", hint="try again when it is done") from fault
        yield fd
    finally:
        os.close(fd)


def _append_line(path: Path, line: bytes, *, expected_size: int) -> None:
    with _locked(path) as fd:
        size = os.fstat(fd).st_size
        if size != expected_size:
            raise SessionBusy(path, "another process wrote to it meanwhile", hint="run the command again")
        torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
        whole = (b"\n" if torn else b"") + line + b"\n"
        done = 0
        try:
            while done < len(whole):
                done += os.write(fd, whole[done:])
            os.fdatasync(fd)
        except OSError as fault:
            _take_back(fd, size, whole[:done])
            reason = fault.strerror or str(fault)
            raise AppendFailed(path, f"{reason}; nothing was written", hint="free space and run it again") from fault


def _take_back(fd: int, size: int, written: bytes) -> None:
    """Cut our own partial line off again, and only if it is the last thing in the file."""
    if os.pread(fd, len(written) + 1, size) == written:
        os.ftruncate(fd, size)
