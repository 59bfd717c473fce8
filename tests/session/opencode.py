"""opencode's stores for tests: a folder of JSON files, and databases of both versions."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

FIXTURE = Path(__file__).parents[1] / "data/formats/opencode/export.json"
EXPORT: dict[str, Any] = json.loads(FIXTURE.read_text())
V1 = """
CREATE TABLE session (id text PRIMARY KEY, project_id text, parent_id text, directory text, revert text,
  time_created integer, time_updated integer);
CREATE TABLE message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
CREATE TABLE part (id text PRIMARY KEY, message_id text, session_id text, data text);
"""
V2 = """
CREATE TABLE session_v2 (id text PRIMARY KEY, parent_id text, fork_session_id text, directory text, revert text,
  time_created integer, time_updated integer);
CREATE TABLE session_message (id text PRIMARY KEY, session_id text, type text, seq integer, data text);
"""


def connected(path: Path, *scripts: str) -> sqlite3.Connection:
    """Open a database for writing, with these tables."""
    connection = sqlite3.connect(path)
    for script in scripts:
        connection.executescript(script)
    return connection


def put(connection: sqlite3.Connection, table: str, **fields: Any) -> None:
    """Insert one row."""
    names, marks = ", ".join(fields), ", ".join("?" * len(fields))
    connection.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(fields.values()))


def put_session(connection: sqlite3.Connection, id_: str, export: dict[str, Any] = EXPORT, **fields: Any) -> None:
    """Insert a session of version 1 with its messages and parts."""
    info = export["info"]
    head = {"directory": info["directory"], "time_created": info["time"]["created"], "time_updated": 1, **fields}
    put(connection, "session", id=id_, **head)
    for message in export["messages"]:
        own = f"{message['info']['id']}{'' if id_ == info['id'] else id_}"
        data = {name: value for name, value in message["info"].items() if name not in ("id", "sessionID")}
        created = message["info"]["time"]["created"]
        put(connection, "message", id=own, session_id=id_, time_created=created, data=json.dumps(data))
        for number, part in enumerate(message["parts"]):
            part_id = f"prt_{own}_{number:03}"
            put(connection, "part", id=part_id, message_id=own, session_id=id_, data=json.dumps(part))


def database(path: Path, *ids: str, **fields: Any) -> Path:
    """Write a database of version 1 that holds the fixture under these ids."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(connected(path, V1)) as connection:
        for number, id_ in enumerate(ids):
            put_session(connection, id_, **{"time_updated": 1_780_000_000_000 + number, **fields})
        connection.commit()
    return path


def database_v2(path: Path, id_: str, messages: Iterable[dict[str, Any]], *scripts: str, **fields: Any) -> Path:
    """Write a database of version 2 with one session."""
    with closing(connected(path, V2, *scripts)) as connection:
        put(connection, "session_v2", id=id_, **{"time_created": 1, "time_updated": 1_780_000_000_000, **fields})
        for number, message in enumerate(messages):
            data = {name: value for name, value in message.items() if name not in ("id", "type")}
            own = {"id": f"msg_{number}", "type": message["type"], "seq": number}
            put(connection, "session_message", session_id=id_, data=json.dumps(data), **own)
        connection.commit()
    return path


def files(store: Path, export: dict[str, Any] = EXPORT, **fields: Any) -> Path:
    """Write the fixture as files below ``store`` and give the file of the session."""
    info = {**export["info"], **fields}
    head = _written(store / "session/global" / f"{info['id']}.json", info)
    for message in export["messages"]:
        own = message["info"]["id"]
        _written(store / "message" / info["id"] / f"{own}.json", message["info"])
        for number, part in enumerate(message["parts"]):
            _written(store / "part" / own / f"prt_{number:03}.json", part)
    return head


def _written(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
    return path
