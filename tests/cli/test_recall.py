from __future__ import annotations

import json
import os
import re

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


# --- parts of an output -----------------------------------------------------------------------------------


def test_where_the_rest_is(run, hard):
    """A cut output says on standard error how to print the next page, and that command does."""
    result = run("recall", hard, " #4 ")
    assert result.stderr == f"page 2: leafscar recall {hard} '#4' --page 2\n"
    assert run("recall", hard, "#4", "--page", "2").stdout_bytes.startswith(
        HARD[12_000:12_100].encode("utf-8", "surrogatepass")
    )


@pytest.mark.parametrize(("lines", "shown"), [("2-3", "b\nc"), ("2", "b"), ("3-", "c\nd"), ("1-99", "a\nb\nc\nd")])
def test_a_range_of_lines(run, project, lines, shown):
    """Lines are printed as they are, without a newline of ours when all of them fit."""
    path = Story().user("start").call("a\nb\nc\nd").reply().write(project / "s.jsonl")
    assert run("recall", path, "#4", "--lines", lines).stdout == shown


def test_a_range_that_is_cut(run, hard):
    """A range over the cap ends in a hint and a newline."""
    shown = run("recall", hard, "#4", "--lines", "1-").stdout_bytes.decode("utf-8", "surrogatepass")
    assert "of 1801. Use lines " in shown
    assert shown.endswith("]\n")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("#4", "--page", "0"), 1, "has 3 pages; give a page from 1 to 3"),
        (("#4", "--lines", "9-3"), 1, "the first one first"),
        (("#4:full", "--page", "1"), 1, "exclude each other"),
        (("#4", "--lines", "1-2", "--page", "1"), 1, "exclude each other"),
        (("#4", "--lines", "x"), 2, "give A-B, A- or A"),
        (("#4", "--lines", "1" * 10), 2, "give A-B, A- or A"),
        (("#4", "--lines", "٣"), 2, "give A-B, A- or A"),
        (("#4", "--regex"), 2, "belong to --search"),
        (("#4", "--after", "x"), 2, "belong to --search"),
        ((), 2, "Give FILE and REF"),
        (("#4", "--search", "x"), 2, "--search takes a file or a folder only"),
        (("--search", "x", "--page", "1"), 2, "--search takes a file or a folder only"),
        (("--search", ""), 1, "search: nothing is asked for"),
        (("--search", "(", "--regex"), 1, "search: no regular expression"),
        (("--search", "x", "--after", "x"), 1, "the cursor names none of these sessions"),
    ],
)
def test_what_cannot_be_given(run, hard, words, code, said):
    """Wrong parts, ranges and searches: nothing on stdout, and one clear line."""
    result = run("recall", hard, *words)
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr
    assert code == 2 or result.stderr.count("\n") == 1


# --- search -----------------------------------------------------------------------------------------------


@pytest.fixture
def cut(project):
    """A session whose first output was cut away, in a folder of its own."""
    story = Story().user("look for the needle").call("hay\nthe needle is here\n\x1b[31mneedle\x1b[0m").calls(6)
    story.cut(story.entries[-2]["id"]).reply()
    (project / "some sessions").mkdir()
    return story.write(project / "some sessions" / "s.jsonl")


def test_hits_and_the_commands_that_print_them(run, cut, project):
    """Every hit names who said it, whether it is still there, and the command that prints the lines around it."""
    result = run("recall", cut.relative_to(project), "--search", "NEEDLE")
    assert result.exit_code == 0
    assert result.stdout == (
        "some sessions/s.jsonl\n"
        "  #4    output of read, cut away, 2026-02-02 02:40\n"
        "        2: the needle is here\n"
        "        3: \\u001b[31mneedle\\u001b[0m\n"
        "        leafscar recall 'some sessions/s.jsonl' '#4' --lines 1-18\n"
        "  #2    user, cut away, 2026-02-02 02:40\n"
        "        1: look for the needle\n"
        "        leafscar recall 'some sessions/s.jsonl' '#2' --lines 1-16\n"
        "\n"
        "2 texts in 1 session\n"
    )


def test_the_printed_command_works(shell, cut, project):
    """What a hit ends in can be run as it stands."""
    done = shell(f"eval \"$(leafscar recall '{cut.parent}' --search 'needle is' | grep 'leafscar recall')\"")
    assert done.stdout.startswith(b"hay\nthe needle is here\n")


def test_going_on(run, cut):
    """A limited search prints how to go on, and that gives the rest."""
    first = run("recall", cut, "--search", "needle", "--limit", "1").stdout
    assert "1 text in 1 session\nthere may be more: the limit was reached; go on with --search needle --after " in first
    cursor = first.split("--after ")[1].strip().strip("'")
    assert "#2 " in run("recall", cut, "--search", "needle", "--limit", "1", "--after", cursor).stdout


def test_hits_as_json(run, cut):
    """JSON holds every field, control characters escaped."""
    result = run("recall", cut, "--search", "needle", "--case-sensitive", "--lost", "--json")
    data = json.loads(result.stdout)
    assert result.stdout.isascii()
    assert [hit["reference"] for hit in data["hits"]] == ["#4", "#2"]
    assert data["hits"][0]["lines"][1] == {"number": 3, "text": "\x1b[31mneedle\x1b[0m"}
    assert (data["searched"], data["stopped"], data["after"], data["skipped"]) == (1, None, None, [])


def test_nothing_found(run, cut):
    """A search without hits is no error."""
    result = run("recall", cut.parent, "--search", "no such words")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "nothing in 1 session\n", "")


def test_many_lines_of_one_output(run, project):
    """An output with many matching lines is one hit that says how many."""
    path = Story().user("start").call("needle\n" * 9).reply().write(project / "s.jsonl")
    assert (
        "output of read, in the context, 2026-02-02 02:40, 9 lines match\n"
        in run("recall", path, "--search", "needle").stdout
    )


def test_newest_sessions_first(run, project, monkeypatch):
    """In a folder, and among the recordings of this machine, the newest session comes first."""
    home = project.parent / "home"
    for place in (project / "folder", home / ".claude" / "projects" / "p"):
        place.mkdir(parents=True)
        for number in (1, 2, 3):
            path = Story().user(f"needle {number}").reply().write(place / f"{number}.jsonl")
            os.utime(path, (number * 1000, number * 1000))
    (project / "folder" / "bad.jsonl").write_bytes(b"\0")
    inside = run("recall", project / "folder", "--search", "needle")
    assert re.findall(r"needle \d", inside.stdout) == ["needle 3", "needle 2", "needle 1"]
    assert inside.stderr.startswith("skipped: ")
    own = run("recall", "--search", "needle")
    assert re.findall(r"needle \d", own.stdout) == ["needle 3", "needle 2", "needle 1"]
    assert own.stderr == "3 recordings (claude-code), newest first; nothing leaves this machine\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gone", "gone: "),
        ("empty", "holds no session file"),
        ("bad", "skipped: "),
        (None, "no recordings of Claude Code"),
    ],
)
def test_nothing_to_search(run, project, name, said):
    """Without anything that can be searched the exit code is 1, with the reason."""
    (project / "empty").mkdir()
    (project / "bad").write_bytes(b"\0")
    result = run("recall", *([project / name] if name else []), "--search", "x")
    assert result.exit_code == 1
    assert said in result.stderr


def test_odd_times_and_commands(run, project):
    """A time that no calendar holds is left out, and a user's command has no line number."""
    story = Story().user("start")
    story.add("message", message={"role": "bashExecution", "command": "needle", "output": "x", "timestamp": 0})
    for stamp in ("9999-12-31T23:59:59-23:00", "no time"):
        story.entries[-1]["timestamp"] = stamp
        shown = run("recall", story.write(project / "s.jsonl"), "--search", "needle").stdout
        assert "#3    command of the user, in the context\n        needle\n        leafscar recall " in shown
        assert "--lines" not in shown
