import json
import os

import pytest
from tests.mcp.transcripts import SESSION, claude_code, claude_folder, codex, pi

from leafscar.errors import SessionError
from leafscar.mcp import Scope
from leafscar.mcp.scope import MAX_TRANSCRIPTS, recorded_folder


def names(scope):
    """Names of the transcripts in scope, in order."""
    return [each.name for each in scope.transcripts()]


def aged(path, seconds):
    """Give a file that was written then."""
    os.utime(path, (seconds, seconds))
    return path


def make(project, home, **options):
    """Give the scope of a project."""
    return Scope(project=project, environ=options.pop("environ", {}), home=home, **options)


def test_the_transcripts_of_the_project(home, project, tmp_path):
    """Claude Code, Codex and pi are looked at, the newest first, and other projects are not."""
    other = tmp_path / "project2"
    other.mkdir()
    aged(claude_code(home, project), 30)
    aged(codex(home, project), 20)
    aged(pi(home, project), 10)
    aged(claude_code(home, other, name="other"), 30)
    aged(codex(home, other, "rollout-other"), 20)
    aged(pi(home, other, "other"), 10)
    assert names(make(project, home)) == [SESSION, "rollout-2026-05-02T10-00-00-abc", "one"]
    assert names(make(other, home)) == [
        "other",
        "rollout-other",
        str(home.resolve() / ".pi/agent/sessions/--project--/other.jsonl"),
    ]


def test_the_clients_own_session_comes_first(home, project):
    """Where the client says which session it is, that one is the default."""
    aged(pi(home, project, "one"), 10)
    aged(pi(home, project, "two"), 20)
    assert names(make(project, home)) == ["two", "one"]
    own = make(project, home, environ={"CLAUDE_CODE_SESSION_ID": "one"})
    assert names(own) == ["one", "two"]
    assert own.find(None).name == "one"


def test_a_project_behind_a_link(home, project, tmp_path):
    """A project that is reached through a link is the same project."""
    pi(home, project)
    (tmp_path / "link").symlink_to(project)
    assert names(make(tmp_path / "link", home)) == ["one"]
    pi(home, tmp_path / "link", "two")
    assert len(names(make(project, home))) == 2


def test_transcripts_that_do_not_say_where_they_were_made(home, project):
    """One of Claude Code counts by the name of its folder, any other is left out."""
    for path in (claude_folder(home, project) / "bare.jsonl", pi(home, project)):
        path.write_text(
            '{"type":"user","message":{"role":"user","content":"x"}}\nnull\n[]\n{"cwd":7}\n{"cwd":"","payload":{}}\n'
        )
    assert names(make(project, home)) == ["bare"]


def test_links_that_lead_out_are_not_followed(home, project, tmp_path):
    """A link among the transcripts is read only where it stays among them."""
    outside = tmp_path / "outside.jsonl"
    outside.write_text(json.dumps({"cwd": str(project), "secret": 1}) + "\n")
    folder = claude_folder(home, project)
    real = claude_code(home, project)
    (folder / "out.jsonl").symlink_to(outside)
    (folder / "in.jsonl").symlink_to(real)
    (folder / "loop.jsonl").symlink_to(folder / "loop.jsonl")
    (folder / "gone.jsonl").symlink_to(folder / "nothing")
    (folder / "dir.jsonl").mkdir()
    assert names(make(project, home)) == [SESSION]
    assert names(make(project, home, folders=[folder])) == [SESSION]


@pytest.mark.parametrize(
    "name", ["/etc/passwd", "../outside", "", "one/../one", "\0", "x" * 5000, "out\nside", "~/one"]
)
def test_what_a_model_names_beyond_the_scope(home, project, name):
    """A name that is none of the transcripts in scope is refused in one short line, whatever exists there."""
    pi(home, project)
    with pytest.raises(SessionError, match="not one of the transcripts in scope") as caught:
        make(project, home).find(name)
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_how_a_model_may_name_one(home, project):
    """Name, file name and path of a transcript in scope all mean it."""
    path = pi(home, project)
    found = make(project, home)
    assert {found.find(name).path for name in ("one", "one.jsonl", str(path.resolve()))} == {path.resolve()}


def test_files_and_folders_that_the_user_named(home, project, tmp_path):
    """With files or folders exactly those are served, each once."""
    pi(home, project)
    some = tmp_path / "some"
    (some / "deep").mkdir(parents=True)
    first, second = (pi(home, project, name) for name in ("first", "second"))
    kept = first.rename(some / "deep" / "first.jsonl")
    assert names(make(project, home, folders=[some])) == ["first"]
    assert names(make(project, home, sessions=[second, kept, kept])) == ["second", "first"]
    assert names(make(project, home, sessions=[tmp_path / "gone", tmp_path])) == []
    assert names(make(project, home, folders=[tmp_path / "gone"])) == []


def test_nothing_recorded(home, project):
    """A project without transcripts says so."""
    with pytest.raises(SessionError, match="this project: no transcript in scope; none is recorded yet"):
        make(project, home).find(None)
    assert names(make(project / "gone", home)) == []


def test_only_so_many(home, project):
    """The newest transcripts are looked at, a bounded number of them."""
    path = pi(home, project)
    for number in range(MAX_TRANSCRIPTS + 5):
        path.with_name(f"s{number}.jsonl").write_bytes(path.read_bytes())
    assert len(names(make(project, home))) == MAX_TRANSCRIPTS


def test_a_head_without_a_folder(tmp_path):
    """What is no recording, cannot be read, or is nested without end names no folder."""
    odd = tmp_path / "odd"
    odd.write_bytes(b"\xff\xfe\n" + b"[" * 100_000 + b"\n" + b'{"payload":' * 50_000)
    assert recorded_folder(odd) is None
    assert recorded_folder(tmp_path) is None
    assert recorded_folder(tmp_path / "gone") is None


def test_a_transcript_that_goes_away(home, project, monkeypatch):
    """A file that cannot be looked at any more is passed over."""
    path = pi(home, project)
    monkeypatch.setattr("pathlib.Path.is_file", lambda _: (_ for _ in ()).throw(PermissionError()))
    assert names(make(project, home, sessions=[path])) == []
