"""What a tool call does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leafscar.hindsight.acts import WHOLE, Act, Change, act_of, run_of
from leafscar.hindsight.patches import patched
from leafscar.hindsight.paths import located
from leafscar.model import ToolCall
from leafscar.pruning.tools import ALL, CLAUDE_CODE, GEMINI_CLI, OPENCODE, OPENHANDS


def act(name, arguments, tools=ALL, folder=""):
    """What a call of ``name`` does."""
    return act_of(ToolCall(id="c", name=name, arguments=arguments), tools, folder)


@pytest.mark.parametrize(
    ("tools", "name", "arguments", "lines"),
    [
        (ALL, "read", {"path": "a"}, ("a", 1, None)),
        (ALL, "read", {"path": "a", "offset": 5, "limit": 10}, ("a", 5, 14)),
        (ALL, "read", {"path": "a", "offset": -5, "limit": -1}, ("a", 1, 1)),
        (ALL, "read", {"path": "a.py:7-9"}, ("a.py", 7, 9)),
        (ALL, "read", {"path": "a.py:9-3"}, ("a.py", 9, 9)),
        (ALL, "read", {"path": "a.py:7"}, ("a.py", 7, 7)),
        (ALL, "read", {"filePath": "a"}, ("a", 1, None)),
        (CLAUDE_CODE, "Read", {"file_path": "C:\\a\\b"}, ("c:/a/b", 1, None)),
        (GEMINI_CLI, "read_file", {"absolute_path": "/a", "offset": 4, "limit": 2}, ("/a", 5, 6)),
        (GEMINI_CLI, "read_file", {"file_path": "/a", "start_line": 3, "end_line": 9}, ("/a", 3, 9)),
        (OPENCODE, "read", {"filePath": "/a", "offset": True, "limit": "x"}, ("/a", 1, None)),
        (OPENHANDS, "str_replace_editor", {"command": "view", "path": "/a", "view_range": [3, -1]}, ("/a", 3, WHOLE)),
        (OPENHANDS, "str_replace_editor", {"command": "view", "path": "/a", "view_range": [3]}, ("/a", 3, None)),
    ],
)
def test_reads(tools, name, arguments, lines):
    """A read shows the lines that it asks for, in the words of its host."""
    assert act(name, arguments, tools).shows == (lines,)


@pytest.mark.parametrize(
    ("name", "arguments", "change"),
    [
        ("write", {"path": "a", "content": "x"}, Change(path="a", whole=True)),
        ("Edit", {"file_path": "a", "old_string": "o"}, Change(path="a", old=("o",))),
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": "o"}, 7, {}]}, Change(path="a", old=("o",))),
        ("edit_file", {"path": "a", "start": 1, "end": -1, "content": "x"}, Change(path="a", whole=True)),
        ("edit_file", {"path": "a", "start": 3, "end": 9, "content": "x"}, Change(path="a")),
        ("edit", {"input": "§a\n≔7..9\nnew text"}, Change(path="a")),
    ],
)
def test_changes(name, arguments, change):
    """An edit names its file and, where it quotes it, the text that it replaces."""
    assert act(name, arguments).changes == (change,)


def test_commands():
    """A command is known by its words and its folder; an empty one by nothing."""
    assert run_of("make  all", "/w") == Act(key="$ /w $ make all")
    assert run_of(" ") == Act()
    assert act("exec_command", {"cmd": "make", "workdir": "sub"}, folder="/w").key == "$ /w/sub $ make"


def test_patches_name_their_files():
    """Each file of a patch has its own lines; text before the first is none of them."""
    patch = (
        "*** Begin Patch\n stray\n*** Update File: a\n@@\n one\n-two\n+three\n"
        "*** Add File: b\n+x\n*** Delete File: c\n*** End Patch"
    )
    assert list(patched(patch)) == [("a", False, ("one\ntwo",)), ("b", True, ()), ("c", True, ())]
    assert list(patched("*** Begin Patch\n*** Add File: \n")) == []


@pytest.mark.parametrize(
    ("path", "folder", "found"),
    [
        ("a/./b/../c", "", "a/c"),
        ("a", "/w", "/w/a"),
        ("", "/w", "/w"),
        ("/a", "/w", "/a"),
        ("~/a", "/w", "~/a"),
        ("C:\\Users\\a", "/w", "c:/Users/a"),
        (" ..\\a ", "/w/x", "/w/a"),
    ],
)
def test_paths_have_one_spelling(path, folder, found):
    """Ways to write a path meet in one."""
    assert located(path, folder) == found


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3),
    max_leaves=6,
)
NAMES = ["path", "edits", "offset", "limit", "view_range", "start_line", "command", "content", "input", "ref", "start"]


@given(st.sampled_from(sorted(ALL)), JSON | st.dictionaries(st.sampled_from(NAMES), JSON, max_size=5))
def test_any_arguments_are_read(name, arguments):
    """No call is too odd: its ranges begin at 1 or later and its paths are texts."""
    found = act(name, arguments)
    assert all(path and not first < 1 for path, first, _ in found.shows)
    assert all(change.path for change in found.changes)
