import errno

import pytest
from hypothesis import given, settings
from tests.session.build import answered, dumped, failing, header, kinds, result, said, small, written
from tests.session.strategies import files

from leafscar.errors import AppendFailed
from leafscar.session import Session, append, load, save, store


@pytest.fixture
def path(tmp_path):
    """Give the file of a small session."""
    return small(tmp_path / "s.jsonl")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """One folder for many examples."""
    return tmp_path_factory.mktemp("store")


def view(session):
    """What two equal sessions share; a first root may stand without the parent that it states."""
    return (
        [(it.id, it.parent_id, it.type, it.message) for it in session.entries],
        session.leaf_id,
        list(session.context()),
    )


@settings(max_examples=100, deadline=None)
@given(data=files())
def test_a_saved_session_is_the_same(place, data):
    """Entries, tree, leaf and context of a saved session are those of the original, and pi's version 3 all through."""
    (place / "a").write_bytes(data)
    (place / "b").unlink(missing_ok=True)
    session = load(place / "a")
    save(session, place / "b")
    copy = load(place / "b")
    assert view(copy) == view(session)
    assert copy.header == session.header
    assert {kind for kind, _ in kinds(copy)} <= {"duplicate-id", "not-utf8", "lone-surrogate", "bad-usage"}


def test_lines_are_saved_as_they_are(tmp_path, path):
    """Lines in order are copied byte for byte, whatever stands in them; the header keeps where it came from."""
    odd = b'{ "type":"message","id":"o","parentId":"c", "message":{"role":"user","content":"\xe9\\ud83d","x":NaN}}'
    path.write_bytes(dumped(header(parentSession="/p.jsonl"), *path.read_bytes().splitlines()[1:], odd))
    save(load(path), tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes().splitlines()[1:] == path.read_bytes().splitlines()[1:]
    assert load(tmp_path / "copy").header == load(path).header


def test_old_versions_are_saved_as_version_3(tmp_path):
    """Ids, parents, first kept ids and custom messages are written out; then the file can be appended to."""
    lines = [
        {"type": "message", "message": {"role": "hookMessage", "customType": "k", "content": "x"}},
        {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 1},
    ]
    session = load(written(tmp_path / "s", header(None, provider="p", modelId="m"), *lines))
    save(session, tmp_path / "copy")
    copy = load(tmp_path / "copy")
    assert (copy.header.version, copy.header.provider, copy.header.model) == (3, "p", "m")
    assert view(copy) == view(session)
    assert copy.entries[1]["firstKeptEntryId"] == "00000000"
    assert append(copy, "label", {}).entries[-1].parent_id == "00000001"
    assert copy.problems == []


def test_found_parents_are_written_out(tmp_path):
    """A parent that had to be found, a root's included, is stated in the new file."""
    nameless = {"type": "label", "id": "a"}
    save(load(written(tmp_path / "s", header(), nameless, said("b", "gone"), said("c", "b"))), tmp_path / "copy")
    copy = load(tmp_path / "copy")
    assert [it["parentId"] for it in copy.entries] == [None, "a", "b"]
    assert copy.problems == []


def test_sessions_without_a_header_get_one(tmp_path):
    """A headerless file and a session in memory are saved below a new header."""
    for session in (
        load(written(tmp_path / "s", said("a", None), result("b", "a"))),
        Session.memory([said("a", None)], cwd="/x"),
    ):
        save(session, tmp_path / "copy")
        copy = load(tmp_path / "copy")
        assert copy.header.version == 3
        assert len(copy.header.id) == 36
        assert view(copy) == view(session)
        (tmp_path / "copy").unlink()
    assert copy.header.cwd == "/x"


def test_lines_that_only_their_head_can_be_read_of_are_saved(tmp_path, path, monkeypatch):
    """An entry whose data cannot be decoded is saved as the line it is."""
    session = load(path)
    session.entries[0]._data = {}
    save(session, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes().splitlines()[1:] == path.read_bytes().splitlines()[1:]


def test_what_version_3_cannot_say_is_not_saved(tmp_path):
    """A line that must be written anew and holds no JSON number is named, and no file is made."""
    nan = dumped(answered("a", None)).replace(b'"input":1', b'"input":NaN')[:-1]
    session = load(written(tmp_path / "s", header(1), b"", nan))
    with failing(AppendFailed, "line 3 of the session cannot be written as JSON"):
        save(session, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


def test_a_file_that_exists_is_never_overwritten(tmp_path, path):
    """Saving needs a new file; what stands there stays, a link included."""
    before = path.read_bytes()
    with failing(AppendFailed, "the file exists; name a new file"):
        save(load(path), path)
    assert path.read_bytes() == before
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with failing(AppendFailed, "the file exists"):
        save(load(path), tmp_path / "link")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["none/copy", "s.jsonl/copy", "x" * 300])
def test_places_where_no_file_can_be(tmp_path, path, name):
    """A missing folder, a file as a folder, a name that is too long: named, and nothing is touched."""
    with failing(AppendFailed, "name another place"):
        save(load(path), tmp_path / name)
    assert sorted(it.name for it in tmp_path.iterdir()) == ["s.jsonl"]


@pytest.mark.parametrize(
    ("fault", "raised"),
    [(OSError(errno.ENOSPC, "No space left on device"), AppendFailed), (KeyboardInterrupt(), KeyboardInterrupt)],
)
def test_a_failed_save_leaves_no_file(tmp_path, path, monkeypatch, fault, raised):
    """A full disk or an interruption leaves nothing behind."""

    def broken(_):
        raise fault

    session = load(path)
    monkeypatch.setattr(store.os, "fsync", broken)
    with pytest.raises(raised):
        save(session, tmp_path / "copy")
    assert sorted(it.name for it in tmp_path.iterdir()) == ["s.jsonl"]
