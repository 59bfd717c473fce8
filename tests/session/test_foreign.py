"""Recordings of other tools as sessions: read, walked, recalled, never written."""

from pathlib import Path

import pytest

from leafscar.errors import AppendFailed, BadReference, SessionRefused
from leafscar.formats.registry import FORMATS
from leafscar.session import append, foreign, load, recall, save

DATA = Path(__file__).parent.parent / "data" / "formats"
RECORDED = sorted(path for path in DATA.rglob("*") if path.is_file())


def opened():
    """Every fixture that holds something to read."""
    for path in RECORDED:
        try:
            yield load(path)
        except SessionRefused:
            continue


def test_every_format_has_a_fixture_that_opens():
    """Each reader is found by the file's beginning, and no file is taken for another format's."""
    assert {session.format for session in opened()} == {each.name for each in FORMATS}
    assert {session.path.parent.name for session in opened() if session.path.parent.name != session.format} == set()


def test_references_lead_back():
    """Each entry of a context has a reference that names it, and outputs are recalled by it."""
    recalled = 0
    for session in opened():
        for entry in session.context().entries:
            reference = session.reference_for(entry)
            found = session.entry_at(int(reference[1:])) if reference.startswith("#") else session.entry(reference)
            assert found is entry
            try:
                recalled += bool(recall(session, f"{reference}:full").text)
            except BadReference:
                continue
    assert recalled > 20


def test_nothing_is_appended_and_a_copy_is_pi(tmp_path):
    """A recording is only read; saved to a new file it is a version 3 session with the same context."""
    for number, session in enumerate(opened()):
        with pytest.raises(AppendFailed, match="only read"):
            append(session, "custom", {"customType": "x"})
        copy = tmp_path / f"{number}.jsonl"
        save(session, copy)
        again = load(copy)
        assert again.format == "pi"
        assert [entry.id for entry in again.context().entries] == [entry.id for entry in session.context().entries]
        assert again.context().messages == session.context().messages


def test_what_it_cannot_tell_comes_along():
    """Sentences about the very file, and the window where it is recorded."""
    sessions = {session.format: session for session in opened()}
    assert all(session.unknown for session in sessions.values())
    assert sessions["codex"].recorded_window or sessions["cline"].recorded_window
    assert sessions["claude_code"].recorded_window is None


def test_no_line_is_line_zero():
    """A document has no lines to name; its entries go by id."""
    session = next(session for session in opened() if session.format == "opencode")
    assert session.entry_at(0) is None
    assert not session.reference_for(session.entries[0]).startswith("#")


def test_a_refusal_names_the_file(tmp_path):
    """A file of a known format that holds nothing is refused under its own name and its tool's."""
    path = tmp_path / "rollout-1.jsonl"
    path.write_bytes((DATA / "codex" / "rollout.jsonl").read_bytes()[:120])
    with pytest.raises(SessionRefused) as caught:
        load(path)
    assert str(caught.value).startswith(f"{path}: Codex CLI: no record of a conversation in it; ")


def test_a_giant_document_is_refused(monkeypatch):
    """A document is held in memory several times over, so there is a limit."""
    path = next(session.path for session in opened() if session.format == "opencode")
    monkeypatch.setattr(foreign, "MAX_DOCUMENT_BYTES", 10)
    with pytest.raises(SessionRefused, match="over 0 MiB"):
        load(path)


def test_what_is_a_recording(tmp_path):
    """By its beginning and its name; what cannot be read is none."""
    assert foreign.is_recording(RECORDED[0])
    assert not foreign.is_recording(tmp_path / "nothing.json")
    (tmp_path / "other.json").write_text('{"name": "x"}')
    assert not foreign.is_recording(tmp_path / "other.json")
