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

__all__ = ["append", "check_writable", "holders", "new_id", "save"]

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

    Raises :class:`AppendFailed` (nothing of the entry stays in the file) when the session cannot be written,
    :class:`SessionBusy` when another process holds its lock or wrote to it since it was opened, and ``ValueError`` or
    ``TypeError`` for fields that are no JSON.
    """
    data = _entry_data(session, type, fields, now or datetime.now(UTC), entry_id)
    line = dump_line(data)
    if session.path is None:
        session.add(data, raw=line)
        return session
    check_writable(session)
    _append_line(session.path, line, expected_size=session.size)
    return load(session.path)


def check_writable(session: Session) -> None:
    """Raise :class:`AppendFailed` for a session that is only read: another tool's, headerless, or of an old version."""
    where = session.path or "session in memory"
    if session.format != "pi":
        raise AppendFailed(where, "recordings of other tools are only read", hint="save it to a new file first")
    if session.header is None:
        raise AppendFailed(where, "a session without a header is only read", hint="save it to a new file first")
    if session.header.version != 3:  # noqa: PLR2004 - the one version that is written
        raise AppendFailed(where, "only version 3 sessions are written", hint="open it once with pi")


def new_id(taken: Collection[str], random: Callable[[], str] = lambda: secrets.token_hex(4)) -> str:
    """Give an id that is not taken: 8 hex digits, or a UUID after 100 collisions, as pi does."""
    for _ in range(_TRIES):
        candidate = random()
        if candidate not in taken:
            return candidate
    return str(uuid.uuid4())


def save(session: Session, path: str | os.PathLike[str]) -> None:
    """Write a session to a new file of version 3: the lines of its entries as they are, below its header.

    An entry that version 3 words otherwise, or whose parent is not the one it states, gets a line of its own.
    Raises :class:`AppendFailed` when the file exists or cannot be written; then no file is left behind.
    """
    where = Path(path)
    lines = [dump_line(_saved_header(session)), *(_saved_line(session, entry, where) for entry in session.entries)]
    try:
        stream = where.open("xb")
    except FileExistsError as fault:
        raise AppendFailed(where, "the file exists", hint="name a new file") from fault
    except OSError as fault:
        raise AppendFailed(where, _reason(fault), hint="name another place") from fault
    try:
        with stream:
            stream.write(b"\n".join(lines) + b"\n")
            stream.flush()
            os.fsync(stream.fileno())
    except BaseException as fault:
        where.unlink()
        if not isinstance(fault, OSError):
            raise
        raise AppendFailed(where, _reason(fault), hint="free space or name another place") from fault


def holders(path: str | os.PathLike[str]) -> tuple[int, ...]:
    """Process ids of others that have the file open, as far as this system tells (``/proc``); else empty."""
    try:
        processes = [entry.name for entry in os.scandir("/proc") if entry.name.isdigit()]
    except OSError:
        return ()
    wanted, own = _identity(os.fspath(path)), str(os.getpid())
    return tuple(sorted(int(pid) for pid in processes if wanted and pid != own and _has_open(pid, wanted)))


def _has_open(pid: str, wanted: tuple[int, int] | None) -> bool:
    try:
        with os.scandir(f"/proc/{pid}/fd") as links:
            return any(_identity(link.path) == wanted for link in links)
    except OSError:
        return False  # the process ended, or is not ours to look at


def _identity(path: str) -> tuple[int, int] | None:
    try:
        facts = Path(path).stat()
    except OSError:
        return None  # closed meanwhile
    return facts.st_dev, facts.st_ino


def _entry_data(
    session: Session, kind: str, fields: Mapping[str, Any], now: datetime, entry_id: str | None
) -> dict[str, Any]:
    taken = {entry.id for entry in session.entries}
    head = {"type": kind, "id": entry_id or new_id(taken), "parentId": session.leaf_id, "timestamp": _iso(now)}
    return {**head, **{key: value for key, value in fields.items() if key not in head}}


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def _saved_header(session: Session) -> dict[str, Any]:
    data = {"type": "session", "version": 3, "id": str(uuid.uuid4()), "timestamp": _iso(datetime.now(UTC))}
    header = session.header
    if header is None:
        return data
    kept = {"id": header.id, "timestamp": header.timestamp, "cwd": header.cwd, "parentSession": header.parent_session}
    old = {"provider": header.provider, "modelId": header.model}
    return data | {key: value for key, value in {**kept, **old}.items() if value}


def _saved_line(session: Session, entry: Entry, path: Path) -> bytes:
    data = entry.data
    placed = data.get("id") == entry.id and data.get("parentId", "") == entry.parent_id
    if entry.raw is not None and (placed or not data) and session.format == "pi":
        return entry.raw
    try:
        return dump_line({**data, "id": entry.id, "parentId": entry.parent_id})
    except (ValueError, RecursionError) as fault:
        reason = f"line {entry.line} of the session cannot be written as JSON ({fault})"
        raise AppendFailed(path, reason, hint="copy the file instead") from fault


@contextmanager
def _locked(path: Path) -> Generator[int]:
    try:
        fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
    except OSError as fault:
        raise AppendFailed(path, _reason(fault), hint="make the file writable") from fault
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
            taken_back = _take_back(fd, size, whole[:done])
            left = "nothing was written" if taken_back else "a broken line stays, which readers skip"
            raise AppendFailed(path, f"{_reason(fault)}; {left}", hint="free space and run it again") from fault


def _take_back(fd: int, size: int, written: bytes) -> bool:
    """Cut our own partial line off again, if it is the last thing in the file; say whether nothing of it is left."""
    if not written:
        return True
    try:
        if os.pread(fd, len(written) + 1, size) != written:
            return False
        os.ftruncate(fd, size)
    except OSError:
        return False
    return True


def _reason(fault: OSError) -> str:
    return fault.strerror or str(fault)
