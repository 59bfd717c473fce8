from __future__ import annotations

import errno
import json
import os
import stat
from pathlib import Path

import pytest
from tests.replay.sessions import autonomous

from leafscar.cli.output import check_output, is_page, is_result, write_output
from leafscar.errors import LeafscarError

KINDS = [("--json", "out.json"), ("--html", "out.html")]
FOREIGN = [
    b"my notes\n",
    b"{}",
    b"[]",
    b'{"verdict": "x", "sessions": [], "version": "1"}',
    b'{"verdict": "x", "sessions": [{}], "skipped": [], "version": "1"}',
    b"[" * 100_000,
    b"\xff\xfe\x00",
    b'<!doctype html>\n<html lang="en">\n<title>leafscar replay: mine</title></html>\n',
    b"<html>leafscar</html>",
    b"\n",
]


@pytest.fixture
def small(project):
    """A small session."""
    return autonomous(4).write(project / "small.jsonl")


@pytest.mark.parametrize(("option", "name"), KINDS)
def test_an_earlier_result_is_replaced(run, small, project, option, name):
    """A new name, an empty file and an earlier result of the same option are written; a result keeps its mode."""
    out = project / name
    for _ in range(2):
        assert run("replay", small, "--window", 60_000, option, out).exit_code == 0
    out.chmod(0o604)
    before = out.read_bytes()
    assert run("replay", small, "--window", 70_000, option, out).exit_code == 0
    assert out.read_bytes() != before
    assert stat.S_IMODE(out.stat().st_mode) == 0o604
    out.write_bytes(b"")
    assert run("replay", small, "--window", 60_000, option, out).exit_code == 0
    assert out.stat().st_size
    assert sorted(path.name for path in project.iterdir()) == [".pi", name, "small.jsonl"]


@pytest.mark.parametrize(("option", "name"), KINDS)
@pytest.mark.parametrize("content", FOREIGN)
def test_a_file_of_somebody_else_is_never_overwritten(run, small, project, option, name, content):
    """Whatever else a file holds stays byte for byte, and one line says what to do."""
    out = project / name
    out.write_bytes(content)
    result = run("replay", small, "--window", 60_000, option, out)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert result.stderr.endswith("is not overwritten; name another file, or remove it\n")
    assert result.stderr.count("\n") == 1
    assert out.read_bytes() == content


def test_a_result_of_the_other_option_is_another_file(run, small, project):
    """A page does not take the place of a JSON result, nor the other way round."""
    page, data = project / "a", project / "b"
    assert run("replay", small, "--window", 60_000, "--html", page, "--json", data).exit_code == 0
    assert is_page(page.read_bytes())
    assert is_result(data.read_bytes())
    assert run("replay", small, "--json", page).exit_code == 1
    assert run("replay", small, "--html", data).exit_code == 1
    assert is_page(page.read_bytes())


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_what_is_no_file_is_refused(run, shell, small, project, option):
    """Pipes, devices, folders, circles of links and missing folders are refused at once, in one line."""
    os.mkfifo(project / "pipe")
    (project / "circle").symlink_to("circle")
    done = shell(f"leafscar replay small.jsonl --window 60000 {option} pipe")
    assert (done.returncode, done.stdout, done.stderr.count(b"\n")) == (1, b"", 1)
    for target in ("pipe", "/dev/null", "/dev/full", ".", "circle", "gone/x", "small.jsonl/x", "x" * 300):
        result = run("replay", small, "--window", 60_000, option, target)
        assert (result.exit_code, result.stdout) == (1, ""), target
        assert "name a file that can be written" in result.stderr
        assert result.stderr.count("\n") == 1


def _same_names(project):
    (project / "real").write_bytes(b"")
    (project / "link").symlink_to("real")
    os.link(project / "real", project / "hard")
    (project / "dangling").symlink_to("new")
    (project / "folder").symlink_to(".")
    return [("x", "x"), ("x", "./x"), ("real", "link"), ("real", "hard"), ("new", "dangling"), ("x", "folder/X")]


def test_two_outputs_never_share_a_file(run, small, project):
    """One file by two names is refused before anything is written: links of both kinds, case, other folders."""
    for first, second in _same_names(project):
        result = run("replay", small, "--window", 60_000, "--json", first, "--html", second)
        assert result.exit_code == 1, (first, second)
        assert "name the same file; give each its own" in result.stderr
    assert not (project / "x").exists()
    assert not (project / "new").exists()
    assert (project / "real").read_bytes() == b""


def test_a_link_stays_a_link(run, small, project):
    """The file that a link names is written; a dangling link makes it."""
    (project / "out").symlink_to("target")
    for _ in range(2):
        assert run("replay", small, "--window", 60_000, "--json", "out").exit_code == 0
        assert (project / "out").is_symlink()
        assert json.loads((project / "target").read_text())


@pytest.mark.parametrize("call", ["replace", "fsync", "open"])
def test_a_write_that_fails_leaves_the_earlier_result(project, monkeypatch, call):
    """A full disk costs neither the result of before nor leaves pieces beside it."""
    path, before = project / "out", b'{"verdict": "", "sessions": [], "skipped": [], "version": "1"}'
    path.write_bytes(before)
    real = getattr(os, call)

    def fail(*args, **options):
        if call == "open" and not args[1] & os.O_CREAT:
            return real(*args, **options)
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, call, fail)
    with pytest.raises(LeafscarError, match="No space left on device; name a file that can be written"):
        write_output(path, "text", is_result)
    monkeypatch.undo()
    assert path.read_bytes() == before
    assert sorted(project.iterdir()) == [project / ".pi", path]


def test_a_file_that_appeared_meanwhile_is_kept(tmp_path):
    """What another program wrote while the replay ran is looked at once more before it would be lost."""
    path = tmp_path / "out"
    check_output(path, is_result)
    path.write_text("theirs")
    with pytest.raises(LeafscarError, match="not overwritten"):
        write_output(path, "ours", is_result)
    assert path.read_text() == "theirs"


def test_a_file_that_cannot_be_looked_into_is_refused(tmp_path, monkeypatch):
    """A file that may not be read, or is too large to be a result, is not ours to replace."""
    path = tmp_path / "out"
    path.write_text("x")

    def raising(fault):
        def read(*_):
            raise fault

        monkeypatch.setattr("leafscar.cli.output.read_file", read)

    raising(PermissionError(errno.EACCES, "Permission denied"))
    with pytest.raises(LeafscarError, match="Permission denied"):
        check_output(path, is_result)
    raising(ValueError("it is larger than 512 bytes"))
    with pytest.raises(LeafscarError, match="not overwritten"):
        check_output(path, is_result)


def test_a_new_file_has_the_usual_mode(tmp_path):
    """The umask says who may read a new result."""
    before = os.umask(0o027)
    try:
        write_output(tmp_path / "out", "text", is_result)
    finally:
        os.umask(before)
    assert stat.S_IMODE(Path(tmp_path / "out").stat().st_mode) == 0o640
