"""opencode's older store: files for a session, its messages and their parts."""

import json

import pytest
from tests.session.opencode import FIXTURE, files

from leafscar.errors import SessionRefused
from leafscar.session import load, opencode_files, recall
from leafscar.session.opencode_files import is_child


def test_a_session_reads_like_its_export(tmp_path):
    """Entries, their ids and the header are those of the export of the same session, and outputs are recalled by id."""
    session, export = load(files(tmp_path)), load(FIXTURE)
    assert session.format == "opencode"
    assert [entry.data for entry in session.entries] == [entry.data for entry in export.entries]
    assert (session.header, session.unknown, session.problems) == (export.header, export.unknown, [])
    assert recall(session, session.reference_for(session.entries[2])).text == "rpm 240\nrpm 0"


def test_broken_files_are_gone_around(tmp_path):
    """A file that holds no object, one that cannot be read and one of an odd name are named and skipped."""
    head = files(tmp_path)
    folder = tmp_path / "message/ses_1cl4y"
    (folder / "msg_0.json").write_text("{")
    (folder / "msg_00.json").write_text("5")
    (folder / "msg_01.json").symlink_to(tmp_path / "nowhere")
    (folder / "a b.json").write_text("{}")
    (folder / "msg_9.json").write_text('{"role": "user", "time": {"created": "x"}}')
    session = load(head)
    assert len(session.entries) == len(load(FIXTURE).entries)
    assert [problem.message for problem in session.problems] == [
        f"ses_1cl4y/{name}.json holds no object, skipped" for name in ("a b", "msg_0", "msg_00", "msg_01")
    ]


@pytest.mark.parametrize("id_", ["ses_1cl4y", "ses_../../message/ses_1cl4y"])
def test_a_head_alone_is_refused(tmp_path, id_):
    """A head whose messages are not in the store around it says so, and no id leads out of that store."""
    files(tmp_path)
    head = tmp_path / "x/y/z/ses_1.json"
    head.parent.mkdir(parents=True)
    head.write_text(json.dumps({"id": id_, "projectID": "global"}))
    with pytest.raises(SessionRefused, match="only the head of a session"):
        load(head)


def test_a_giant_is_refused(tmp_path, monkeypatch):
    """A session whose files are together over the limit of a document is not read."""
    head = files(tmp_path)
    monkeypatch.setattr(opencode_files, "MAX_DOCUMENT_BYTES", 2000)
    with pytest.raises(SessionRefused, match="its messages are over"):
        load(head)


def test_heads_say_who_worked_in_a_session(tmp_path):
    """A session that names its parent is a sub-agent's; what cannot be read counts as none."""
    assert is_child(files(tmp_path, parentID="ses_0"))
    assert not is_child(files(tmp_path))
    assert not is_child(tmp_path / "gone.json")
