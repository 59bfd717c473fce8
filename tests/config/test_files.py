from __future__ import annotations

import errno
import json
import os
import stat
import subprocess
import sys
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.config import MAX_BYTES, parse_pairs, read_settings, settings_paths, write_settings
from leafscar.errors import SettingsError


class Place:
    """A project folder and a home folder with no settings in either."""

    def __init__(self, root):
        self.cwd = root / "project"
        self.home = root / "home"
        self.project = self.cwd / ".pi" / "settings.json"
        self.global_ = self.home / ".pi" / "agent" / "settings.json"
        self.cwd.mkdir()
        self.home.mkdir()

    def put(self, path, content="{}"):
        """Create a file with its folders."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def read(self):
        """Read both files."""
        return read_settings(self.cwd, environ={}, home=self.home)

    def write(self, **pairs):
        """Set bare keys."""
        return write_settings(self.cwd, pairs, environ={}, home=self.home)


@pytest.fixture
def place(tmp_path):
    """Give an empty place."""
    return Place(tmp_path)


def names(folder):
    """List a folder."""
    return sorted(path.name for path in folder.iterdir())


def test_a14_88_no_files(place):
    """Without files there are defaults, no problems, and nothing is created."""
    found = place.read()
    assert found.pruning.min_result_tokens == 1000
    assert found.problems == ()
    assert (found.project_path, found.global_path) == (place.project, place.global_)
    assert names(place.cwd) == names(place.home) == []


@pytest.mark.parametrize("variable", [None, ""])
def test_a14_105_unset_or_empty_variable(place, variable):
    """Unset and empty mean the home folder's place, never the current folder."""
    environ = {} if variable is None else {"PI_CODING_AGENT_DIR": variable}
    assert settings_paths(place.cwd, environ=environ, home=place.home).global_ == place.global_


def test_a14_105_the_variable(tmp_path):
    """A leading ~ is the home folder; anything else stands as it is."""

    def of(folder):
        return settings_paths("c", environ={"PI_CODING_AGENT_DIR": folder}, home=tmp_path).global_

    assert of("~/x") == tmp_path / "x" / "settings.json"
    assert of("~") == tmp_path / "settings.json"
    assert str(of("/opt/x")) == "/opt/x/settings.json"
    assert str(of("~who/x")) == "~who/x/settings.json"


def test_home_comes_from_the_environment(monkeypatch, tmp_path):
    """Without an explicit home the given or the process's own environment decides."""
    given_home = settings_paths("c", environ={"HOME": "/home/given"}).global_
    assert str(given_home) == "/home/given/.pi/agent/settings.json"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("PI_CODING_AGENT_DIR", raising=False)
    assert settings_paths("c").global_ == settings_paths("c", environ={}).global_
    assert settings_paths("c").global_.is_relative_to(tmp_path)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "invalid JSON in {}: Expecting property name"),
        ("", "invalid JSON in {}: Expecting value"),
        ("[1]", "{} must be an object, got: [1]"),
        ("null", "{} must be an object, got: null"),
        ("NaN", "invalid JSON in {}: NaN is not JSON"),
        (b'{"a": "\xff"}', "invalid JSON in {}: not UTF-8 at byte 7"),
        (b'{"a": "\xed\xa0\x80"}', "invalid JSON in {}: not UTF-8 at byte 7"),
        ("[" * 100_000, "invalid JSON in {}: nested deeper than 64 levels"),
        ('{"a": "' + "x" * 2 * MAX_BYTES + '"}', "cannot read {}: it is larger than 1,048,576 bytes"),
    ],
)
def test_a14_94_a14_98_an_unusable_file(place, content, problem):
    """A file that is no JSON object is reported once and counts as empty; a write to it changes no byte."""
    path = place.put(place.project, content)
    place.put(place.global_, '{"pruning": {"minResultTokens": 5}}')
    before = path.read_bytes()
    found = place.read()
    assert found.pruning.min_result_tokens == 5
    assert len(found.problems) == 1
    assert found.problems[0].startswith(problem.format(path))
    with pytest.raises(SettingsError, match="nothing was written") as caught:
        place.write(enabled=False)
    assert str(caught.value).startswith(found.problems[0])
    assert path.read_bytes() == before
    assert names(path.parent) == ["settings.json"]


@pytest.mark.parametrize("form", ["folder", "loop", "pipe", "device", "name-too-long"])
def test_something_else_in_the_files_place(place, form):
    """Whatever stands there instead of a file is reported without waiting for it, and a write is refused."""
    place.project.parent.mkdir()
    match form:
        case "folder":
            place.project.mkdir()
        case "loop":
            place.project.symlink_to(place.project)
        case "pipe":
            os.mkfifo(place.project)
        case "device":
            place.project.symlink_to("/dev/zero")
        case _:
            place.project.symlink_to("x" * 300)
    problems = place.read().problems
    assert len(problems) == 1
    assert problems[0].startswith(f"cannot read {place.project}: ")
    with pytest.raises(SettingsError, match="nothing was written"):
        place.write(enabled=False)


def test_a_path_that_no_system_takes():
    """A folder name with a null character is reported like any other unreadable file."""
    assert (
        read_settings("a\0b", environ={}, home="h").problems[0].startswith("cannot read a\\u0000b/.pi/settings.json: ")
    )
    with pytest.raises(SettingsError, match="cannot write"):
        write_settings("a\0b", {"enabled": True}, environ={}, home="h")


def test_a_file_in_the_folders_place(place):
    """Where .pi is a file there is no project file; where the global folder is one, the write is refused."""
    (place.cwd / ".pi").write_text("x")
    assert place.read().problems == ()
    (place.home / ".pi").write_text("x")
    with pytest.raises(SettingsError, match=r"cannot write .*; nothing was written"):
        place.write(enabled=False)


def test_a14_95_the_global_file(place):
    """Without a project file the global one is changed; its other sections stay as they are."""
    place.put(place.global_, '{"theme": "dark", "compaction": {"reserveTokens": 1.0}, "pruning": {"x": [1, {}]}}')
    written = place.write(minResultTokens=5)
    assert written.path == place.global_
    assert written.settings.pruning.min_result_tokens == 5
    assert written.settings.sources["pruning.minResultTokens"] == "global"
    assert place.global_.read_text() == (
        '{\n  "theme": "dark",\n  "compaction": {\n    "reserveTokens": 1.0\n  },\n  "pruning": {\n'
        '    "x": [\n      1,\n      {}\n    ],\n    "minResultTokens": 5\n  }\n}\n'
    )
    assert names(place.global_.parent) == ["settings.json"]


def test_a_new_global_file_is_private(place):
    """The global folder and file are made when they are missing, for their owner only."""
    assert place.write(policy="thrifty").path == place.global_
    assert json.loads(place.global_.read_text()) == {"leafscar": {"policy": "thrifty"}}
    assert stat.S_IMODE(place.global_.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(place.global_.stat().st_mode) == 0o600


def test_a14_96_the_project_file(place):
    """A project file is the target even when it is an empty object; the global file is not touched."""
    place.put(place.project)
    place.put(place.global_, '{"pruning": {"enabled": true}}')
    assert place.write(enabled=False).path == place.project
    assert place.read().pruning.enabled is False
    assert place.global_.read_text() == '{"pruning": {"enabled": true}}'


def test_a14_97_one_key_twice(place):
    """A second write of one key keeps the other keys and their order."""
    place.put(place.project)
    place.write(minResultTokens=5, enabled=False)
    place.write(minResultTokens=6)
    assert json.loads(place.project.read_text()) == {"pruning": {"minResultTokens": 6, "enabled": False}}


def test_a14_99_a_dotted_key(place):
    """A dotted key is written one level down, beside what is there."""
    place.put(place.project, '{"leafscar": {"neverPrune": {"paths": ["a"]}, "mine": 1}}')
    write_settings(place.cwd, {"leafscar.neverPrune.tools": ["t"]}, environ={}, home=place.home)
    assert json.loads(place.project.read_text()) == {
        "leafscar": {"neverPrune": {"paths": ["a"], "tools": ["t"]}, "mine": 1}
    }


def test_nothing_to_set_writes_nothing(place):
    """None leaves a key as it is, and a write of nothing leaves the file as it is."""
    place.put(place.project, '{"pruning":{"enabled":false}}')
    assert place.write(enabled=None).settings.pruning.enabled is False
    assert place.project.read_text() == '{"pruning":{"enabled":false}}'
    assert place.write().path == place.project


def test_bad_pairs_create_nothing(place):
    """A pair that does not fit is refused before any file or folder is made."""
    with pytest.raises(SettingsError):
        place.write(enabled="no")
    assert names(place.home) == []


def test_a_section_that_is_no_object_is_not_replaced(place):
    """A write into a section that is not an object changes no byte and leaves no lock behind."""
    place.put(place.project, '{"pruning": "x"}')
    with pytest.raises(SettingsError, match="pruning must be an object"):
        place.write(enabled=False)
    assert place.project.read_text() == '{"pruning": "x"}'
    assert names(place.project.parent) == ["settings.json"]


def test_a_write_that_would_pass_the_limit(place):
    """A file that leafscar could not read again is not written."""
    place.put(place.project, '{"a": "' + "x" * (MAX_BYTES - 20) + '"}')
    before = place.project.read_bytes()
    with pytest.raises(SettingsError, match="would pass 1,048,576 bytes; nothing was written"):
        place.write(enabled=False)
    assert place.project.read_bytes() == before


def test_odd_content_survives(place):
    """A byte order mark is dropped; spellings of numbers, lone surrogates, other letters and order all stay."""
    body = '{"b": 1e400, "ü": "\\ud800 日本", "a": -0, "n": 12345678901234567890.50}'
    place.put(place.project, b"\xef\xbb\xbf" + body.encode())
    assert place.read().problems == ()
    place.write(enabled=True)
    assert place.project.read_text() == (
        '{\n  "b": 1e400,\n  "ü": "\\ud800 日本",\n  "a": -0,\n  "n": 12345678901234567890.50,\n'
        '  "pruning": {\n    "enabled": true\n  }\n}\n'
    )


def test_duplicate_keys(place):
    """Of two equal keys the last one counts, for reading and for what a write keeps."""
    place.put(place.project, '{"pruning": {"enabled": true, "enabled": false}, "pruning": {"minResultTokens": 5}}')
    assert place.read().pruning.enabled is True
    place.write(protectCurrentTurn=False)
    assert json.loads(place.project.read_text()) == {"pruning": {"minResultTokens": 5, "protectCurrentTurn": False}}


def test_mode_and_owner_stay(place):
    """The new file has the old one's mode, and its owner where the system allows it."""
    place.put(place.project).chmod(0o640)
    if os.geteuid() == 0:
        os.chown(place.project, 12345, 12345)
    owner = place.project.stat().st_uid
    place.write(enabled=False)
    after = place.project.stat()
    assert (stat.S_IMODE(after.st_mode), after.st_uid) == (0o640, owner)


def test_a_link_stays_a_link(place, tmp_path):
    """A linked settings file is written where it really is."""
    real = place.put(tmp_path / "dotfiles" / "pi.json", '{"a": 1}')
    place.project.parent.mkdir()
    place.project.symlink_to("../../dotfiles/pi.json")
    assert place.write(enabled=False).path == place.project
    assert place.project.is_symlink()
    assert json.loads(real.read_text()) == {"a": 1, "pruning": {"enabled": False}}
    assert names(real.parent) == ["pi.json"]
    assert names(place.project.parent) == ["settings.json"]


def test_a_link_to_nothing(place, tmp_path):
    """A dangling project link is no project file; a dangling global link is filled at its end."""
    place.project.parent.mkdir()
    place.project.symlink_to(tmp_path / "nowhere.json")
    place.global_.parent.mkdir(parents=True)
    place.global_.symlink_to(tmp_path / "later" / "global.json")
    assert place.read().problems == ()
    assert place.write(enabled=False).path == place.global_
    assert json.loads((tmp_path / "later" / "global.json").read_text()) == {"pruning": {"enabled": False}}
    assert not (tmp_path / "nowhere.json").exists()


def fail(code):
    """Give a system call that always fails."""

    def call(*args, **kwargs):
        raise OSError(code, os.strerror(code))

    return call


@pytest.mark.parametrize(
    ("call", "code", "text"),
    [
        ("replace", errno.EACCES, "Permission denied"),
        ("fsync", errno.ENOSPC, "No space left on device"),
        ("mkdir", errno.EROFS, "Read-only file system"),
    ],
)
def test_a_failed_write_leaves_everything(place, monkeypatch, call, code, text):
    """A full disk or a read-only folder is said in one line; the file is as it was and nothing lies beside it."""
    place.put(place.project, '{"a": 1}')
    monkeypatch.setattr(os, call, fail(code))
    with pytest.raises(SettingsError, match=f"cannot write {place.project}: {text}; nothing was written"):
        place.write(enabled=False)
    monkeypatch.undo()
    assert place.project.read_text() == '{"a": 1}'
    assert names(place.project.parent) == ["settings.json"]


def test_what_is_nice_to_have_may_fail(place, monkeypatch):
    """A system that cannot sync a folder or give a file away still saves the settings."""
    place.put(place.project)
    real = os.fsync

    def only_files(file):
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, "no")
        real(file)

    monkeypatch.setattr(os, "fsync", only_files)
    monkeypatch.setattr(os, "fchown", fail(errno.EPERM))
    assert place.write(enabled=False).settings.pruning.enabled is False


def test_a_system_without_owners_and_folder_locks(place, monkeypatch):
    """Where files have no POSIX owner and folders no lock, the lock folder alone guards the write."""
    place.put(place.project)
    monkeypatch.setattr(sys, "platform", "win32")
    assert place.write(enabled=False).settings.pruning.enabled is False


def test_an_interrupted_write_leaves_everything(place, monkeypatch):
    """An interrupt in the middle of the write leaves the old file, no lock and no rest."""

    def interrupt(*args):
        raise KeyboardInterrupt

    place.put(place.project, '{"a": 1}')
    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        place.write(enabled=False)
    assert place.project.read_text() == '{"a": 1}'
    assert names(place.project.parent) == ["settings.json"]


def test_threads_lose_no_pair(place):
    """Many writers of one file at once: every pair is there at the end."""
    place.put(place.project)
    pairs = [{"enabled": False}, {"minResultTokens": 5}, {"policy": "none"}, {"pins": ["a"]}, {"windowCap": 9}] * 3
    threads = [threading.Thread(target=place.write, kwargs=pair) for pair in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert json.loads(place.project.read_text()) == {
        "pruning": {"enabled": False, "minResultTokens": 5},
        "leafscar": {"policy": "none", "pins": ["a"], "windowCap": 9},
    }
    assert names(place.project.parent) == ["settings.json"]


def test_processes_lose_no_pair(place):
    """Two processes that write one file at once: both pairs are there at the end."""
    place.put(place.project)
    code = "import sys; from leafscar.config import *; write_settings(sys.argv[1], parse_pairs(sys.argv[2:]))"
    pairs = ["enabled=false", "shedArguments=true", "minResultTokens=7"]
    running = [subprocess.Popen([sys.executable, "-c", code, str(place.cwd), pair]) for pair in pairs]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    found = place.read()
    assert found.pruning.enabled is False
    assert found.pruning.min_result_tokens == 7
    assert found.leafscar.shed_arguments is True


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
others = st.dictionaries(st.text(max_size=5).map("other {}".format), json_values, max_size=4)
texts = st.lists(st.text(min_size=1, max_size=5).filter(str.strip), max_size=2)
values = st.fixed_dictionaries(
    {},
    optional={
        "pruning.enabled": st.booleans(),
        "pruning.minResultTokens": st.integers(1, 2**53 - 1),
        "leafscar.policy": st.sampled_from(["none", "compaction:0.25"]),
        "leafscar.pins": texts,
        "leafscar.neverPrune.paths": texts,
        "leafscar.continuity": st.booleans(),
    },
)


@settings(max_examples=60, deadline=None)
@given(others, others, values, values)
def test_what_is_written_is_read(tmp_path_factory, top, inner, first, second):
    """Whatever pairs are written are read back; every other key keeps its value and its place."""
    place = Place(tmp_path_factory.mktemp("written"))
    place.put(place.project, json.dumps({**top, "leafscar": inner}))
    write_settings(place.cwd, first, environ={}, home=place.home)
    written = write_settings(place.cwd, second, environ={}, home=place.home)
    data = json.loads(place.project.read_text())
    assert {key: data[key] for key in top} == top
    assert [key for key in data if key in top] == list(top)
    assert {key: data["leafscar"][key] for key in inner} == inner
    for dotted, value in {**first, **second}.items():
        found = data
        for name in dotted.split("."):
            found = found[name]
        assert found == value
        assert written.settings.sources[dotted] == "project"
    assert all("not a known setting" in problem for problem in written.settings.problems)


def test_parsed_pairs_are_what_a_write_takes(place):
    """The keys that the parser gives are the keys that a write takes."""
    pairs = parse_pairs(["enabled=false", 'neverPrune.tools=["read"]', "boundThinking=strip"])
    found = write_settings(place.cwd, pairs, environ={}, home=place.home).settings
    assert found.leafscar.never_prune.tools == ("read",)
    assert found.leafscar.bound_thinking == "strip"
    assert found.pruning_set == {"enabled"}
