"""opencode's database: its sessions, one of them, and what a file that someone made up can do."""

import os
from contextlib import closing
from pathlib import Path

import pytest
from tests.session.opencode import FIXTURE, V1, V2, connected, database, database_v2, put, put_session

from leafscar.errors import SessionRefused
from leafscar.session import load, opencode_database, recall
from leafscar.session.opencode_database import address_of, is_database, list_sessions, split_address

ID = "ses_1cl4y"


def test_a_session_reads_like_its_export(tmp_path):
    """Entries, their ids and the header are those of the export of the same session, and outputs are recalled by id."""
    session, export = load(address_of(database(tmp_path / "opencode.db", ID), ID)), load(FIXTURE)
    assert session.format == "opencode"
    assert [entry.data for entry in session.entries] == [entry.data for entry in export.entries]
    assert session.header == export.header
    assert session.unknown == export.unknown
    assert session.problems == []
    reference = session.reference_for(session.entries[2])
    assert (reference, recall(session, reference).text) == ("msg_2-r1", "rpm 240\nrpm 0")
    assert load(session.path).entry(reference).data == session.entries[2].data


def test_the_only_session_needs_no_name(tmp_path):
    """A database of one session is that session; of several one must be named, the newest is shown."""
    path = database(tmp_path / "opencode.db", ID)
    assert load(path).header.id == ID
    database(path.with_name("b.db"), "ses_a", "ses_b")
    with pytest.raises(SessionRefused, match=r"holds 2 sessions; name one behind a #, for example b.db#ses_b"):
        load(path.with_name("b.db"))


def test_sessions_are_listed_without_their_messages(tmp_path):
    """Newest first, with their times and whether a sub-agent worked in them."""
    path = database(tmp_path / "opencode.db", "ses_a", "ses_b")
    with closing(connected(path)) as connection:
        put_session(connection, "ses_c", parent_id="ses_a", time_updated=5)
        connection.commit()
    assert [(each.id, each.updated, each.child) for each in list_sessions(path)] == [
        ("ses_b", 1_780_000_000.001, False),
        ("ses_a", 1_780_000_000.0, False),
        ("ses_c", 0.005, True),
    ]
    assert "sub-agent" in load(address_of(path, "ses_c")).unknown[-1]


def test_version_2_is_read(tmp_path):
    """Messages come in the order of their numbers, and win over what version 1 left of the same session."""
    path = tmp_path / "opencode.db"
    said = {"type": "user", "text": "hello", "time": {"created": 1_780_000_000_000}}
    made = database_v2(path, ID, [said, {"type": "idle"}], V1, fork_session_id="ses_0", directory="/srv")
    with closing(connected(made)) as connection:
        put_session(connection, ID)
        put_session(connection, "ses_old", time_updated=7)
        connection.commit()
    session = load(address_of(path, ID))
    assert ([entry.id for entry in session.entries], session.header.cwd) == (["msg_0"], "/srv")
    assert "forked" in session.unknown[-1]
    assert len(load(address_of(path, "ses_old")).entries) > 5
    assert [each.id for each in list_sessions(path)] == [ID, "ses_old"]


def test_a_session_that_version_2_did_not_take_over_is_read_in_version_1(tmp_path):
    """A head in the new table without messages leaves the old ones in force; without any it is an empty session."""
    path = database_v2(tmp_path / "opencode.db", ID, [], V1)
    with closing(connected(path)) as connection:
        put_session(connection, ID)
        connection.commit()
    assert len(load(path).entries) > 5
    empty = database(tmp_path / "empty.db")
    with closing(connected(empty)) as connection:
        put(connection, "session", id="ses_e")
        connection.commit()
    assert load(empty).entries == []


def test_nothing_is_written_beside_a_database_that_is_at_rest(tmp_path):
    """Reading leaves no file and no change, though the database keeps a log while opencode runs."""
    path = database(tmp_path / "opencode.db", ID)
    with closing(connected(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    assert load(path).header.id == ID
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def test_a_database_in_use_is_read_with_its_log(tmp_path):
    """What opencode wrote last stands in the log beside the database, and is read."""
    path = database(tmp_path / "opencode.db", "ses_a")
    with closing(connected(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        put_session(connection, "ses_b", time_updated=1_780_000_009_000)
        connection.commit()
        assert (tmp_path / "opencode.db-wal").stat().st_size
        assert [each.id for each in list_sessions(path)] == ["ses_b", "ses_a"]
        assert load(address_of(path, "ses_b")).entries


def test_broken_rows_are_gone_around(tmp_path):
    """Data that hold no object are named and skipped; texts that are no UTF-8, blobs and numbers do no harm."""
    path = database(tmp_path / "opencode.db", ID)
    with closing(connected(path)) as connection:
        for number, data in enumerate(["{", "5", b"\xff", None, 7, "[" * 100_000]):
            put(connection, "message", id=f"x{number}", session_id=ID, time_created=1, data=data)
        put(connection, "part", id="p", message_id="msg_1", session_id=ID, data="no")
        put(connection, "message", id="y", session_id=ID, time_created="z", data=b'{"role": "user"}')
        connection.execute("UPDATE session SET time_created = 'x', directory = 5, revert = '[]'")
        connection.commit()
    session = load(path)
    assert len(session.entries) == len(load(FIXTURE).entries)
    assert [problem.kind for problem in session.problems] == ["broken-line"] * 7
    assert session.header.cwd == "5"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("CREATE TABLE other (id text);", "without opencode's tables"),
        ("CREATE TABLE session (id text);", "without opencode's tables"),
        ("CREATE VIEW session AS SELECT 1 AS id; CREATE TABLE message (id); CREATE TABLE part (id);", "without"),
        ("CREATE TABLE session (id); CREATE TABLE message (id); CREATE TABLE part (id);", "no such column"),
        (V1, "holds no session"),
    ],
)
def test_other_databases_are_refused(tmp_path, script, reason):
    """What is not opencode's is said to be so, whatever its tables are called."""
    path = tmp_path / "x.db"
    connected(path, script).close()
    with pytest.raises(SessionRefused, match=reason):
        load(path)


def test_a_name_that_is_not_held_is_refused(tmp_path):
    """The sentence names one that is there."""
    path = database(tmp_path / "opencode.db", ID)
    with pytest.raises(SessionRefused, match=f"no session ses_x; name one that it holds, for example {ID}"):
        load(address_of(path, "ses_x"))
    connected(tmp_path / "empty.db", V2).close()
    with pytest.raises(SessionRefused, match="none, it is empty"):
        load(address_of(tmp_path / "empty.db", "ses_x"))


def test_damage_is_refused_in_one_sentence(tmp_path):
    """A torn database, a file that is none and a missing one are refused with what to do."""
    path = database(tmp_path / "opencode.db", ID)
    torn = tmp_path / "torn.db"
    torn.write_bytes(path.read_bytes()[:5000])
    plain = tmp_path / "plain.db"
    plain.write_text("no database")
    for each, hint in ((torn, "opencode export"), (address_of(plain, ID), "opencode export")):
        with pytest.raises(SessionRefused, match=hint):
            load(each)
    with pytest.raises(SessionRefused, match="No such file"):
        load(address_of(tmp_path / "gone.db", ID))


def test_giants_and_endless_queries_are_stopped(tmp_path, monkeypatch):
    """A session over the limit of a document, and a table that takes for ever to read, are refused."""
    path = database(tmp_path / "opencode.db", ID)
    with monkeypatch.context() as patch:
        patch.setattr(opencode_database, "MAX_DOCUMENT_BYTES", 1000)
        with pytest.raises(SessionRefused, match="session ses_1cl4y is over 0 MiB"):
            load(address_of(path, ID))
    monkeypatch.setattr(opencode_database, "_STEPS", 1)
    monkeypatch.setattr(opencode_database, "_PAUSES", 3)
    with pytest.raises(SessionRefused, match="interrupted"):
        load(path)


COMPUTED = """
CREATE TABLE session (n, id AS (n || hex(zeroblob(300))), parent_id, time_updated);
CREATE TABLE message (id, session_id, time_created, data);
CREATE TABLE part (id, message_id, session_id, data);
INSERT INTO session (n) VALUES (1), (2), (3);
"""


def test_columns_that_hold_more_than_the_file_are_refused(tmp_path, monkeypatch):
    """Computed columns, and texts whose length SQLite counts only up to a zero character, stay within the limit."""
    monkeypatch.setattr(opencode_database, "MAX_DOCUMENT_BYTES", 1000)
    with (
        closing(connected(tmp_path / "computed.db", COMPUTED)),
        pytest.raises(SessionRefused, match="gives over 0 MiB"),
    ):
        list_sessions(tmp_path / "computed.db")
    with closing(connected(tmp_path / "zero.db", V1)) as connection:
        put(connection, "session", id=ID)
        for number in range(3):
            put(connection, "message", id=f"m{number}", session_id=ID, data="\0" + "x" * 500)
        connection.commit()
    with pytest.raises(SessionRefused, match="gives over 0 MiB"):
        load(tmp_path / "zero.db")


def test_names_that_are_no_utf8_and_broken_schemas(tmp_path):
    """A file name of any bytes is opened, and a schema that SQLite cannot even quote is refused in one line."""
    path = database(tmp_path / "opencode.db", ID)
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/open\xff.db"))
    odd.write_bytes(path.read_bytes())
    assert load(odd).header.id == ID
    path.write_bytes(path.read_bytes().replace(b"CREATE TABLE session ", b"CREAT\x82 TABLE session "))
    with pytest.raises(SessionRefused, match="malformed database schema"):
        load(path)


def test_names_of_sessions():
    """A file and an id with a # between them; nothing else."""
    assert split_address(Path("/a/opencode.db#ses_1")) == (Path("/a/opencode.db"), "ses_1")
    for other in ("/a/x.db", "/a/x.db#", "/a/x.db#5", "#ses_1", "/a/x.db#ses_../b"):
        assert split_address(Path(other)) is None
    assert is_database(b"SQLite format 3\0rest")
    assert not is_database(b"SQLite")
