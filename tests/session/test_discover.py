"""Finding what the agents of a machine recorded, by names and times alone."""

import os
from contextlib import closing

import pytest
from tests.session.opencode import connected, database, put_session

from leafscar.session.discover import find_recordings

FILES = {
    "claude-code": ".claude/projects/-srv-app/a.jsonl",
    "codex": ".codex/sessions/2026/02/03/rollout-1.jsonl",
    "pi": ".pi/agent/sessions/--srv-app--/b.jsonl",
    "gemini-cli": ".gemini/tmp/abc/chats/session-1.json",
    "opencode": ".local/share/opencode/storage/session/global/ses_1.json",
}


@pytest.fixture
def home(tmp_path):
    """A home folder with one recording of each tool, each a minute older than the one before."""
    for age, name in enumerate(FILES.values()):
        write(tmp_path / name, 1_700_000_000 - 60 * age)
    return tmp_path


def write(path, modified):
    """Write a small file of that age."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("{}")
    os.utime(path, (modified, modified))


def test_the_newest_come_first(home):
    """One of each tool, with its size and time; a limit keeps the newest."""
    found = find_recordings({}, home)
    assert [(each.tool, str(each.path.relative_to(home))) for each in found] == list(FILES.items())
    assert {each.size for each in found} == {2}
    assert find_recordings({}, home, newest=2) == found[:2]


def test_other_files_are_none(home):
    """Sub-agent files, empty files, folders and other names are passed over."""
    write(home / ".claude/projects/-srv-app/a/subagents/agent-1.jsonl", 1)
    write(home / ".codex/sessions/2026/02/03/notes.jsonl", 1)
    (home / ".claude/projects/-srv-app/empty.jsonl").touch()
    (home / ".claude/projects/-srv-app/folder.jsonl").mkdir()
    (home / ".claude/projects/-srv-app/dangling.jsonl").symlink_to(home / "nowhere")
    assert len(find_recordings({}, home)) == len(FILES)


def test_a_moved_folder_is_followed(home, tmp_path):
    """Each tool's own variable moves its folder, also with a tilde; the usual place is then not looked at."""
    write(home / "elsewhere/sessions/x.jsonl", 1)
    environ = {"PI_CODING_AGENT_DIR": "~/elsewhere", "CODEX_HOME": str(tmp_path / "none")}
    found = find_recordings(environ, home)
    assert [each.path.name for each in found if each.tool == "pi"] == ["x.jsonl"]
    assert not [each for each in found if each.tool == "codex"]


def test_a_folder_that_cannot_be_listed_is_passed_over(home, monkeypatch):
    """One unreadable folder does not hide the others."""
    listing = type(home).glob

    def guarded(path, pattern):
        if ".codex" in str(path):
            raise PermissionError(13, "denied")
        return listing(path, pattern)

    monkeypatch.setattr(type(home), "glob", guarded)
    assert [each.tool for each in find_recordings({}, home)] == ["claude-code", "pi", "gemini-cli", "opencode"]


def opencode_sessions(found):
    """Names of opencode's recordings, in order."""
    return [each.path.name for each in found if each.tool == "opencode"]


def test_sessions_in_databases_count_one_by_one(home):
    """Those of a database have times of their own; what moved there from files counts once, sub-agents not at all."""
    folder = home / ".local/share/opencode"
    path = database(folder / "opencode-dev.db", "ses_1", "ses_2")
    with closing(connected(path)) as connection:
        put_session(connection, "ses_3", parent_id="ses_1")
        connection.commit()
    write(folder / "storage/session/global/ses_4.json", 1)
    (folder / "storage/session/global/ses_5.json").write_text('{"id": "ses_5", "parentID": "ses_4"}')
    found = find_recordings({}, home)
    assert opencode_sessions(found) == ["opencode-dev.db#ses_2", "opencode-dev.db#ses_1", "ses_4.json"]
    assert next((each.size, each.modified) for each in found if each.tool == "opencode") == (None, 1_780_000_000.001)


def test_another_database_is_looked_for_where_it_was_moved(home):
    """Whole paths, paths with a tilde and names in the usual folder; the data folder moves as a whole too."""
    database(home / "elsewhere/x.db", "ses_x")
    database(home / ".local/share/opencode/y.sqlite", "ses_y")
    database(home / "data/opencode/opencode.db", "ses_z")
    for named, name in (("~/elsewhere/x.db", "x.db#ses_x"), (str(home / "elsewhere/x.db"), "x.db#ses_x")):
        assert opencode_sessions(find_recordings({"OPENCODE_DB": named}, home)) == [name, "ses_1.json"]
    assert opencode_sessions(find_recordings({"OPENCODE_DB": "y.sqlite"}, home)) == ["y.sqlite#ses_y", "ses_1.json"]
    assert opencode_sessions(find_recordings({"XDG_DATA_HOME": "~/data"}, home)) == ["opencode.db#ses_z"]


def test_a_database_that_cannot_be_read_is_named(home):
    """Whoever replays it is told why; an empty one holds nothing to name."""
    (home / ".local/share/opencode/opencode.db").write_bytes(b"SQLite format 3\0torn")
    database(home / ".local/share/opencode/opencode-empty.db")
    assert opencode_sessions(find_recordings({}, home)) == ["opencode.db", "ses_1.json"]
