from __future__ import annotations

import pytest
from tests.replay.sessions import Story

HARD = "é \x1b[31m red \r\n\u202e back \ud800 half \x00 nul\n" * 900


@pytest.fixture
def hard(project):
    """A session whose only output, on line 4, holds whatever a tool can print."""
    return Story().user("start").call(HARD).reply().write(project / "hard.jsonl")


@pytest.mark.parametrize("ref", ["#4:full", "00000003:full"])
def test_all_of_it_byte_for_byte(run, hard, ref):
    """The full form is the output as it was, whatever it holds."""
    result = run("recall", hard, ref)
    assert result.exit_code == 0
    assert result.stdout_bytes == HARD.encode("utf-8", "surrogatepass")
    assert result.stderr == ""


@pytest.mark.parametrize("ref", ["#4", "00000003"])
def test_the_beginning_and_the_hint(run, hard, ref):
    """The short form ends with a hint at the full one."""
    result = run("recall", hard, ref)
    shown = result.stdout_bytes.decode("utf-8", "surrogatepass")
    beginning = HARD[:12_000]
    assert shown.startswith(beginning)
    assert f"{ref}:full" in shown[12_000:]
    assert shown.endswith("\n")


def test_a_short_output_is_whole(run, project):
    """What fits is printed as it is, without a hint or a newline of ours."""
    path = Story().user("start").call("short").reply().write(project / "s.jsonl")
    assert run("recall", path, "#4").stdout_bytes == b"short"


@pytest.mark.parametrize(
    ("ref", "words"),
    [
        ("#99", "no line 99"),
        ("deadbeef", "deadbeef"),
        ("#2", "'user' message"),
        ("#3", "'assistant' message"),
        ("#x", "#x"),
        ("", ""),
        (":full", ":full"),
    ],
)
def test_wrong_references_are_one_clear_line(run, hard, ref, words):
    """A reference that names nothing recallable: exit 1, one line on stderr, nothing on stdout."""
    result = run("recall", hard, ref)
    assert result.exit_code == 1
    assert result.stdout_bytes == b""
    assert words in result.stderr
    assert result.stderr.startswith("leafscar: ")
    assert result.stderr.count("\n") == 1


def test_outputs_before_a_cut_and_on_other_branches(run, project):
    """References reach everything in the file."""
    story = Story().user("start").call("before the cut").calls(6)
    story.cut(story.entries[-2]["id"]).reply()
    story.add("message", message={"role": "user", "content": "elsewhere", "timestamp": 0})
    story.entries[-1]["parentId"] = story.entries[0]["id"]
    path = story.write(project / "s.jsonl")
    assert run("recall", path, "#4").stdout == "before the cut"


def test_a_pipe_that_closes(shell, hard):
    """A reader that went away is no fault."""
    done = shell("leafscar recall hard.jsonl '#4:full' | true; echo ${PIPESTATUS[0]}")
    assert done.stdout == b"0\n"
    assert done.stderr == b""
