"""opencode's database: which sessions it holds, and one of them as an export (docs/formats.md). It is only read."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

from msgspec import Struct

from leafscar.errors import SessionRefused
from leafscar.formats.opencode import read_export
from leafscar.formats.pi import Problem
from leafscar.formats.reading import MAX_DOCUMENT_BYTES, Reading
from leafscar.model.shapes import as_number
from leafscar.session.lines import opened
from leafscar.session.objects import object_in

__all__ = ["Stored", "address_of", "is_database", "list_sessions", "read_database", "split_address"]

_MAGIC = b"SQLite format 3\0"
_ADDRESS = re.compile(r"(?P<file>.+)#(?P<id>ses_[A-Za-z0-9_-]+)", re.DOTALL)
_PATIENCE = 5.0  # seconds that another writer is waited for
_STEPS, _PAUSES = 1_000_000, 5_000  # a query is stopped after so many pauses of so many steps
_EXPORT_HINT = "write the session to a file with opencode export"
_SHOWN = 3
_QUERIES = {
    "session": "SELECT * FROM session WHERE id = ?",
    "session_v2": "SELECT * FROM session_v2 WHERE id = ?",
    "message": "SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
    "part": "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id",
    "session_message": "SELECT id, type, data FROM session_message WHERE session_id = ? ORDER BY seq",
}
_SIZES = {
    "message": "SELECT COALESCE(SUM(LENGTH(data)), 0) AS size FROM message WHERE session_id = ?",
    "part": "SELECT COALESCE(SUM(LENGTH(data)), 0) AS size FROM part WHERE session_id = ?",
    "session_message": "SELECT COALESCE(SUM(LENGTH(data)), 0) AS size FROM session_message WHERE session_id = ?",
}
_LISTS = {
    "session_v2": "SELECT id, parent_id, time_updated FROM session_v2",
    "session": "SELECT id, parent_id, time_updated FROM session",
}
_HOLDERS = {"session_v2": ("session_message",), "session": ("message", "part")}
"""Tables of sessions, the newer version first, with those that hold what was said in them."""


class Stored(Struct, frozen=True, kw_only=True):
    """One session of a database."""

    id: str
    updated: float
    """Seconds since 1970."""
    child: bool
    """Whether a sub-agent worked in it."""


def is_database(head: bytes) -> bool:
    """Whether a file that begins with ``head`` is an SQLite database."""
    return head.startswith(_MAGIC)


def split_address(path: Path) -> tuple[Path, str] | None:
    """Give the database and the session that ``DATABASE#ses_ID`` names; None for the name of a file."""
    found = _ADDRESS.fullmatch(str(path))
    return None if found is None else (Path(found["file"]), found["id"])


def address_of(path: Path, id_: str) -> Path:
    """Name one session of a database."""
    return path.with_name(f"{path.name}#{id_}")


def list_sessions(path: Path) -> list[Stored]:
    """Sessions of a database, the newest first; what is in them is not read.

    Raises :class:`SessionRefused` when it cannot be read or is none of opencode's.
    """
    with _connected(path) as connection:
        held = _held(connection, path)
        rows = [row for name in held for row in _rows(connection, _LISTS[name])]
    found: dict[str, Stored] = {}
    for row in rows:
        id_ = _text(row["id"])
        updated = (as_number(row["time_updated"]) or 0) / 1000
        found.setdefault(id_, Stored(id=id_, updated=updated, child=bool(_text(row["parent_id"]))))
    return sorted(found.values(), key=lambda each: (-each.updated, each.id))


def read_database(path: Path, id_: str | None = None) -> Reading:
    """Read one session; without ``id_`` the only one there is. Raises :class:`SessionRefused`."""
    chosen = _only(path) if id_ is None else id_
    problems: list[Problem] = []
    with _connected(path) as connection:
        for name in _held(connection, path):
            rows = _rows(connection, _QUERIES[name], chosen)
            if not rows:
                continue
            _refuse_giant(connection, path, name, chosen)
            messages = _messages(connection, name, chosen, problems)
            if messages or name == "session":
                return read_export({"info": _info(rows[0]), "messages": messages}, problems)
    hint = f"name one that it holds, for example {_names(list_sessions(path))}"
    raise SessionRefused(path, f"no session {chosen}", hint=hint)


def _only(path: Path) -> str:
    found = list_sessions(path)
    if len(found) == 1:
        return found[0].id
    if not found:
        raise SessionRefused(path, "the database holds no session")
    newest = address_of(path, found[0].id).name
    hint = f"name one behind a #, for example {newest} (the newest), or replay the whole file"
    raise SessionRefused(path, f"the database holds {len(found)} sessions", hint=hint)


def _names(found: Sequence[Stored]) -> str:
    return ", ".join(each.id for each in found[:_SHOWN]) or "none, it is empty"


@contextmanager
def _connected(path: Path) -> Generator[sqlite3.Connection]:
    """Open a database without writing to it or beside it, unless a log shows that opencode has it open."""
    with opened(path):
        pass  # what is no file, or not ours to read, is told better here
    log = path.with_name(f"{path.name}-wal").exists()
    how = "mode=ro" if log else "mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(f"file:{quote(os.fsencode(path.absolute()))}?{how}", uri=True, timeout=_PATIENCE)
        try:
            _restrict(connection)
            yield connection
        finally:
            connection.close()
    except sqlite3.Error as fault:
        raise SessionRefused(path, f"the database cannot be read ({fault})", hint=_EXPORT_HINT) from fault


def _restrict(connection: sqlite3.Connection) -> None:
    """Bound what a database that someone made up can cost."""
    pauses = iter(range(_PAUSES))
    connection.set_progress_handler(lambda: next(pauses, None) is None, _STEPS)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_DOCUMENT_BYTES)
    connection.text_factory = bytes  # texts of other encodings are decoded as lines of files are
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("BEGIN")  # one moment for all that is read


def _held(connection: sqlite3.Connection, path: Path) -> list[str]:
    """Tables of sessions that are there with all that belongs to them. A view or a virtual table is none."""
    made = _rows(connection, "SELECT name, sql FROM sqlite_master WHERE type = 'table'")
    plain = {_text(row["name"]) for row in made if _text(row["sql"]).upper().startswith("CREATE TABLE")}
    held = [name for name, others in _HOLDERS.items() if plain.issuperset((name, *others))]
    if not held:
        raise SessionRefused(path, "a database without opencode's tables", hint="name the opencode.db of opencode")
    return held


def _rows(connection: sqlite3.Connection, query: str, *values: str) -> list[dict[str, Any]]:
    """All that a query gives. What it comes to is counted: computed columns hold more than the file has bytes."""
    rows: list[dict[str, Any]] = []
    size = 0
    try:
        cursor = connection.execute(query, values)
        names = [column[0] for column in cursor.description]
        for row in cursor:
            size += sum(len(value) for value in row if isinstance(value, bytes))
            if size > MAX_DOCUMENT_BYTES:
                raise sqlite3.DataError(f"a table gives over {MAX_DOCUMENT_BYTES >> 20} MiB")
            rows.append(dict(zip(names, row, strict=True)))
    except UnicodeDecodeError as fault:  # SQLite's own words repeat broken text of the schema
        raise sqlite3.DatabaseError("malformed database schema") from fault
    return rows


def _refuse_giant(connection: sqlite3.Connection, path: Path, name: str, id_: str) -> None:
    size = sum(_rows(connection, _SIZES[holder], id_)[0]["size"] for holder in _HOLDERS[name])
    if size > MAX_DOCUMENT_BYTES:
        raise SessionRefused(path, f"session {id_} is over {MAX_DOCUMENT_BYTES >> 20} MiB")


def _messages(connection: sqlite3.Connection, name: str, id_: str, problems: list[Problem]) -> list[Mapping[str, Any]]:
    if name == "session_v2":
        rows = _rows(connection, _QUERIES["session_message"], id_)
        return [{**fields, "type": _text(row["type"])} for row, fields in _decoded(rows, problems)]
    parts: dict[str, list[Mapping[str, Any]]] = {}
    for row, fields in _decoded(_rows(connection, _QUERIES["part"], id_), problems):
        parts.setdefault(_text(row["message_id"]), []).append(fields)
    found = _decoded(_rows(connection, _QUERIES["message"], id_), problems)
    return [{"info": fields, "parts": parts.get(fields["id"], [])} for _, fields in found]


def _decoded(
    rows: Iterable[Mapping[str, Any]], problems: list[Problem]
) -> Iterable[tuple[Mapping[str, Any], dict[str, Any]]]:
    """Rows with the object that their data hold, under the row's own id."""
    for row in rows:
        id_, fields = _text(row["id"]), object_in(_text(row["data"]))
        if fields is None:
            problems.append(Problem(kind="broken-line", line=0, message=f"row {id_[:80]} holds no object, skipped"))
        else:
            yield row, {**fields, "id": id_}


def _info(row: Mapping[str, Any]) -> dict[str, Any]:
    """Head of a session as an export has it."""
    return {
        "id": _text(row.get("id")),
        "directory": _text(row.get("directory")),
        "parentID": _text(row.get("parent_id")),
        "forkID": _text(row.get("fork_session_id")),
        "revert": object_in(_text(row.get("revert"))),
        "time": {"created": row.get("time_created"), "updated": row.get("time_updated")},
    }


def _text(value: object) -> str:
    """Text of a column, whatever was put there."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)
