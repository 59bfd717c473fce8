import errno
import fcntl
import json
import os
import re
import subprocess
import sys
from datetime import UTC, datetime, timedelta, timezone

import pytest
from tests.session.build import cut, dumped, entry, failing, header, ids, kinds, said, small, written

from leafscar.errors import AppendFailed, SessionBusy
from leafscar.session import Session, append, holders, load, store
from leafscar.session.store import new_id

NOW = datetime(2026, 5, 2, 3, 4, 5, 678_999, tzinfo=UTC)


@pytest.fixture
def path(tmp_path):
    """Give the file of a small session; its leaf is c, its other branch x."""
    return small(tmp_path / "s.jsonl")


# --- what is written ---------------------------------------------------------------------------------


def test_an_entry_is_one_more_line(path):
    """The entry hangs on the leaf, has an id and a time, stands in one line at the end; nothing else changes."""
    before = path.read_bytes()
    session = append(load(path), "custom", {"customType": "k", "data": {"x": "😀\ud83d"}}, now=NOW, entry_id="n1")
    line = path.read_bytes().removeprefix(before)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1
    assert line.startswith(
        b'{"type":"custom","id":"n1","parentId":"c","timestamp":"2026-05-02T03:04:05.678Z","customType":'
    )
    assert session.leaf_id == "n1"
    assert session.entries[-1]["data"] == {"x": "😀\ud83d"}
    assert session.size == path.stat().st_size
    assert ids(session.branch()) == ["a", "b", "c", "n1"]


def test_ids_and_times_are_pis(path):
    """An id is 8 hex digits that no entry has, a time is UTC with milliseconds and a Z."""
    session = load(path)
    for _ in range(3):
        session = append(session, "label", {"targetId": "a", "label": "x"})
    found = session.entries[-3:]
    assert all(re.fullmatch("[0-9a-f]{8}", it.id) for it in found)
    assert len(set(ids(session.entries))) == 7
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", it["timestamp"]) for it in found)
    local = datetime(2026, 5, 2, 5, 0, 0, tzinfo=timezone(timedelta(hours=2)))
    assert append(session, "label", {}, now=local).entries[-1]["timestamp"] == "2026-05-02T03:00:00.000Z"


def test_ids_do_not_collide():
    """A taken id is drawn again; after a hundred of them a UUID is taken, as pi does."""
    draws = iter(["a", "b", "c"])
    assert new_id({"a", "b"}, lambda: next(draws)) == "c"
    drawn = []
    assert len(new_id({"a"}, lambda: drawn.append(1) or "a")) == 36
    assert len(drawn) == 100


def test_fields_are_written_as_given(path):
    """A field that is None is null, and the head of the entry cannot be overwritten."""
    fields = {
        "targetId": "c",
        "replacement": None,
        "id": "evil",
        "parentId": "evil",
        "type": "evil",
        "timestamp": "evil",
    }
    found = append(load(path), "context_edit", fields, now=NOW, entry_id="n").entries[-1]
    assert dict(found.data) == {
        "type": "context_edit", "id": "n", "parentId": "c", "timestamp": "2026-05-02T03:04:05.678Z",
        "targetId": "c", "replacement": None,
    }  # fmt: skip
    assert ids(load(path).context().entries) == ["a", "b"]


def test_what_is_no_json_is_not_written(path):
    """Fields that cannot be written are an error before the file is touched."""
    before = path.read_bytes()
    with pytest.raises(ValueError, match="JSON"):
        append(load(path), "custom", {"data": float("nan")})
    with pytest.raises(TypeError):
        append(load(path), "custom", {"data": {1, 2}})
    assert path.read_bytes() == before


def test_appending_below_a_moved_leaf(path):
    """After a leaf entry the next entry hangs on what it points to."""
    session = append(load(path), "leaf", {"targetId": "x"})
    session = append(session, "label", {"targetId": "a"})
    assert session.entries[-1].parent_id == "x"


def test_appending_in_memory():
    """A session in memory gets the entry too, and is the same object."""
    session = Session.memory([said("a", None)])
    assert append(session, "label", {}, entry_id="b") is session
    assert session.leaf_id == "b"
    assert session.entries[-1].parent_id == "a"


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ([], "without a header is only read; save it to a new file first"),
        ([header(None)], "only version 3 sessions are written; open it once with pi"),
        ([header(2)], "only version 3 sessions are written; open it once with pi"),
    ],
)
def test_old_and_headerless_files_are_not_written(tmp_path, head, reason):
    """Only version 3 is written; the file stays what it was."""
    path = written(tmp_path / "s", *head, said("a", None))
    before = path.read_bytes()
    with failing(AppendFailed, reason):
        append(load(path), "label", {})
    assert path.read_bytes() == before


def test_cuts_can_be_appended(path):
    """A cut that is appended is what the model sees from then on."""
    fields = {
        key: value for key, value in cut("", None, "b").items() if key not in ("type", "id", "parentId", "timestamp")
    }
    session = append(load(path), "compaction", fields, entry_id="k")
    assert ids(session.context().entries) == ["k", "b", "c"]
    assert entry("k", "c", "compaction")["type"] == session.entries[-1].type


# --- what goes wrong ---------------------------------------------------------------------------------


def test_a_crash_at_any_byte(path):
    """However much of an entry a dying process wrote: what was there is read, and the next entry is written whole."""
    before = path.read_bytes()
    first = append(load(path), "custom", {"customType": "k", "data": "é😀"}, entry_id="lost")
    whole = path.read_bytes()
    for size in range(len(before), len(whole)):
        path.write_bytes(whole[:size])
        torn = load(path)
        kept = ids(torn.entries)
        assert kept[:4] == ["a", "b", "x", "c"]
        assert kept[4:] == (["lost"] if size == len(whole) - 1 else [])
        assert kinds(torn) == ([] if size in (len(before), len(whole) - 1) else [("torn-tail", 6)])
        after = append(torn, "label", {}, entry_id="new")
        assert ids(after.entries) == [*kept, "new"]
        assert after.entries[-1].parent_id == kept[-1]
        assert path.read_bytes().startswith(whole[:size])
        assert ids(after.context().entries) == ids(first.context().entries)


class Disk:
    """A disk that takes so many bytes, a few a write, and then fails."""

    def __init__(self, monkeypatch, room, at_once=7, fault=errno.ENOSPC):
        self._room, self._at_once, self._fault, self._real = room, at_once, fault, os.write
        monkeypatch.setattr(store.os, "write", self)

    def __call__(self, fd, data):
        """Write as ``os.write`` would."""
        if not self._room:
            raise OSError(self._fault, os.strerror(self._fault))
        part = bytes(data[: min(self._room, self._at_once)])
        self._room -= len(part)
        return self._real(fd, part)


@pytest.mark.parametrize("torn", [b"", b'{"type":"mess'])
def test_a_full_disk_leaves_nothing(path, torn):
    """Whichever byte does not fit any more: the file is what it was, and the error says so."""
    path.write_bytes(path.read_bytes() + torn)
    before, session = path.read_bytes(), load(path)
    line = json.dumps({"type": "label", "id": "n", "parentId": "c", "timestamp": "2026-05-02T03:04:05.678Z"})
    for room in range(len(line.replace(" ", "")) + 1 + bool(torn)):
        with pytest.MonkeyPatch.context() as patch:
            Disk(patch, room)
            with failing(AppendFailed, "No space left on device; nothing was written; free space and run it again"):
                append(session, "label", {}, now=NOW, entry_id="n")
        assert path.read_bytes() == before
    with pytest.MonkeyPatch.context() as patch:
        Disk(patch, 1000)
        assert append(session, "label", {}, now=NOW, entry_id="n").leaf_id == "n"


def test_a_disk_that_cannot_make_sure(path, monkeypatch):
    """An entry that the disk does not confirm is taken back."""

    def broken(_):
        raise OSError(errno.EIO, "Input/output error")

    before = path.read_bytes()
    monkeypatch.setattr(store.os, "fdatasync", broken)
    with failing(AppendFailed, "Input/output error; nothing was written"):
        append(load(path), "label", {})
    assert path.read_bytes() == before


def test_bytes_of_others_are_never_cut(path, monkeypatch):
    """If someone wrote behind our broken line, it stays, and the error says that it does."""
    before = path.read_bytes()

    def broken(_):
        with path.open("ab") as stream:
            stream.write(b"\n" + dumped(said("theirs", "c")))
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(store.os, "fdatasync", broken)
    with failing(AppendFailed, "a broken line stays, which readers skip"):
        append(load(path), "label", {}, entry_id="n")
    assert path.read_bytes().startswith(before)
    assert load(path).leaf_id == "theirs"


def test_a_disk_that_takes_nothing_back(path, monkeypatch):
    """If the broken line cannot be cut off either, the error says that it stays."""

    def broken(*_):
        raise OSError(errno.EIO, "Input/output error")

    Disk(monkeypatch, 9)
    monkeypatch.setattr(store.os, "ftruncate", broken)
    with failing(AppendFailed, "a broken line stays, which readers skip"):
        append(load(path), "label", {})
    monkeypatch.undo()
    assert kinds(load(path)) == [("torn-tail", 6)]
    assert append(load(path), "label", {}, entry_id="n").leaf_id == "n"


@pytest.mark.parametrize("fault", [errno.EACCES, errno.EROFS])
def test_a_file_that_cannot_be_written(path, monkeypatch, fault):
    """A file, folder or disk for reading only is named."""
    session = load(path)
    assert session.entries
    real = os.open

    def guarded(name, flags, *mode):
        if flags & os.O_RDWR:
            raise OSError(fault, os.strerror(fault))
        return real(name, flags, *mode)

    monkeypatch.setattr(store.os, "open", guarded)
    with failing(AppendFailed, re.escape(f"{path}: {os.strerror(fault)}; make the file writable")):
        append(session, "label", {})


# --- others ------------------------------------------------------------------------------------------


def test_a_file_that_grew_meanwhile(path):
    """What another process wrote since the session was opened is not passed over."""
    session = load(path)
    append(load(path), "label", {}, entry_id="theirs")
    before = path.read_bytes()
    with failing(SessionBusy, "another process wrote to it meanwhile; run the command again"):
        append(session, "label", {})
    assert path.read_bytes() == before


@pytest.mark.parametrize("lock", [fcntl.LOCK_EX, fcntl.LOCK_SH])
def test_a_lock_of_another_writer(path, lock):
    """While another process holds the file, appending fails at once, and works when it is done."""
    session = load(path)
    with path.open("rb") as stream:
        fcntl.flock(stream, lock)
        with failing(SessionBusy, "another process is writing to it; try again when it is done"):
            append(session, "label", {})
    assert append(session, "label", {}, entry_id="n").leaf_id == "n"


WRITER = """
import sys
from leafscar.errors import SessionBusy
from leafscar.session import append, load

path, name, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
busy = set()
print("ready", flush=True)
sys.stdin.readline()
for number in range(count):
    while True:
        try:
            append(load(path), "custom", {"customType": name, "data": "x" * 3000}, entry_id=f"{name}{number}")
            break
        except SessionBusy as fault:
            busy.add(str(fault))
print("\\n".join(sorted(busy)))
"""


def test_two_processes_that_append_at_once(path):
    """No entry is lost or mixed with another; who comes second is told in one line and tries again."""
    count = 25
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, path, name, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in "pq"
    ]
    for writer in writers:
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        writer.stdin.write("go\n")
        writer.stdin.flush()
    told = [line for writer in writers for line in writer.communicate(timeout=60)[0].splitlines()]
    assert [writer.returncode for writer in writers] == [0, 0]
    assert {line.split("; ")[0] for line in told} <= {
        f"{path}: another process is writing to it", f"{path}: another process wrote to it meanwhile", ""
    }  # fmt: skip
    session = load(path)
    assert session.problems == []
    assert sorted(ids(session.entries[4:])) == sorted(f"{name}{number}" for name in "pq" for number in range(count))
    assert len(session.branch()) == 3 + 2 * count


def test_who_has_a_file_open(path):
    """Another process that has the file open is seen, our own use is not; no file, nobody."""
    hold = "import sys; f = open(sys.argv[1]); print('open', flush=True); sys.stdin.read()"
    assert holders(path) == ()
    with (
        subprocess.Popen([sys.executable, "-c", hold, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other,
        path.open("rb"),
    ):
        assert other.stdout.readline() == b"open\n"
        assert holders(path) == holders(str(path)) == (other.pid,)
        other.communicate()
    assert holders(path) == ()
    assert holders(path.parent / "none") == ()


def test_who_has_a_file_open_is_unknown_elsewhere(path, monkeypatch):
    """Where the system does not tell, nobody is named; a process that ends meanwhile is passed over."""
    real = os.scandir

    def ended(folder):
        if folder != "/proc":
            raise PermissionError(13, "Permission denied")
        return real(folder)

    def missing(_):
        raise FileNotFoundError(2, "No such file or directory")

    with path.open("rb"):
        monkeypatch.setattr(store.os, "scandir", ended)
        assert holders(path) == ()
        monkeypatch.setattr(store.os, "scandir", missing)
        assert holders(path) == ()
