from __future__ import annotations

import json
import os
import re

import pytest
from tests.replay.sessions import Story, autonomous
from tests.session.opencode import FIXTURE, database

DATA = FIXTURE.parents[1]

SESSION_KEYS = {
    "path", "session_id", "model", "provider", "requests", "messages", "cuts", "window", "window_source", "baseline",
    "error", "policies", "assumptions", "problems", "not_helped", "verdict", "money", "equal_cuts", "held",
}  # fmt: skip
POLICY_KEYS = {
    "policy", "recorded", "moments", "cuts", "lines", "cost", "units", "ratio", "saving", "hit_ratio", "breaks",
    "moves", "peak", "over_window", "shape_breaks", "notes", "off", "rule", "needed_later",
}  # fmt: skip
MOMENT_KEYS = {
    "request", "entry_id", "at", "context", "output", "read", "written", "uncached", "cost", "units", "inferred",
    "shed", "shed_tokens", "cut", "break_cause", "missed",
}  # fmt: skip


def test_the_verdict_comes_first(run, session):
    """The first line is the verdict, then the table, what would not help, and the assumptions."""
    result = run("replay", session, "--window", 60_000)
    assert result.exit_code == 0
    assert result.stderr == ""
    lines = result.stdout.splitlines()
    assert lines[0].startswith("balanced would have made ")
    order = [result.stdout.index(part) for part in ("policy ", "What would not help:", "Assumptions:")]
    assert order == sorted(order)
    for name in ("none", "none:never-cut", "compaction", "classic", "balanced", "fewest-cuts", "thrifty"):
        assert any(line.startswith(f"{name} ") for line in lines)


def test_json_holds_the_documented_keys(run, session):
    """--json - prints one document and nothing else."""
    result = run("replay", session, "--window", 60_000, "--json", "-")
    assert result.exit_code == 0
    data = json.loads(result.stdout)
    assert data.keys() == {"verdict", "sessions", "skipped", "version", "not_helped"}
    (found,) = data["sessions"]
    assert found.keys() == SESSION_KEYS
    assert all(policy.keys() == POLICY_KEYS for policy in found["policies"])
    assert all(moment.keys() == MOMENT_KEYS for policy in found["policies"] for moment in policy["moments"])
    assert all(
        cut.keys()
        == {"request", "before", "after", "summary_tokens", "summariser_input", "cost", "reason"}
        for policy in found["policies"]
        for cut in policy["cuts"]
    )  # fmt: skip
    assert {frozenset(each) for each in found["assumptions"]} == {frozenset({"name", "value", "source"})}


def test_policies_are_those_asked_for(run, session):
    """--policy may be repeated; each is shown once, in the order given."""
    result = run(
        "replay", session, "--window", 60_000, "--json", "-", *_policies("thrifty", "compaction:0.70", "thrifty")
    )
    (found,) = json.loads(result.stdout)["sessions"]
    assert [policy["policy"] for policy in found["policies"]] == ["thrifty", "compaction:0.70"]


def _policies(*names):
    return [part for name in names for part in ("--policy", name)]


@pytest.mark.parametrize("name", ["best", "balanced:0.5", "compaction:1.5", "compaction:x", "none:sometimes"])
def test_unknown_policies(run, session, name):
    """A policy that is not known: exit 1, one line that names the known ones or the form."""
    result = run("replay", session, "--policy", name)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert name.split(":")[-1] in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("window", ["0", "-5", "many", "1.5"])
def test_bad_windows(run, session, window):
    """A window is a whole number of tokens."""
    assert run("replay", session, "--window", window).exit_code == 2


def test_another_model(run, session):
    """--model takes prices and window of another model."""
    data = json.loads(run("replay", session, "--model", "claude-opus-4-5", "--json", "-").stdout)
    (found,) = data["sessions"]
    assert "claude-opus-4-5" in found["window_source"]
    assert found["model"] == "claude-sonnet-4-5"


def test_files_are_written(run, session, project):
    """--json and --html write files; the text is printed all the same."""
    out, page = project / "r.json", project / "r.html"
    result = run("replay", session, "--window", 60_000, "--json", out, "--html", page)
    assert result.exit_code == 0
    assert result.stdout.startswith("balanced ")
    assert result.stdout.endswith(f"report: {page}\n")
    assert json.loads(out.read_text())["sessions"]
    assert page.read_text().startswith("<!doctype html>")
    both = run("replay", session, "--window", 60_000, "--json", "-", "--html", page)
    assert json.loads(both.stdout)
    assert both.stderr == f"report: {page}\n"


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_targets_that_cannot_be_written(run, session, project, option):
    """A folder, or a path below a file, cannot be written: exit 1 in words, before anything is read."""
    for target in (project, session / "below.json"):
        result = run("replay", session, "--window", 60_000, option, target)
        assert result.exit_code == 1
        assert "name a file that can be written" in result.stderr
        assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("option", ["--json", "--html"])
def test_a_session_is_never_overwritten(run, session, project, option):
    """An option that swallowed the name of a session is refused before anything is read or written."""
    other = autonomous(2).write(project / "other.jsonl")
    before = other.read_bytes()
    result = run("replay", option, other, session)
    assert result.exit_code == 1
    assert "this is no earlier result of this option, and is not overwritten" in result.stderr
    assert other.read_bytes() == before


def test_good_and_bad_files(run, session, project):
    """What cannot be replayed is named, the rest is; exit 0 as long as anything was."""
    broken = project / "broken.jsonl"
    broken.write_bytes(b"\x00\x01")
    silent = Story().user("hello").write(project / "silent.jsonl")
    result = run("replay", session, broken, silent, project / "gone.jsonl", "--window", 60_000)
    assert result.exit_code == 0
    shown = " ".join(result.stdout.split())
    assert "Skipped:" in shown
    for part in ("binary, not a session", "holds no request to replay", "No such file or directory"):
        assert part in shown


def test_a_folder(run, session, project):
    """A folder means every session below it, and several sessions are summed up first."""
    autonomous(4).write(project / "deep" / "er" / "two.jsonl")
    result = run("replay", project, "--window", 60_000)
    assert result.exit_code == 0
    assert result.stdout.startswith("2 sessions were billed $")
    assert "Session 2 of 2: " in result.stdout


def test_a_folder_without_sessions(run, project):
    """Nothing to replay: exit 1, and the folder is named."""
    result = run("replay", project / ".pi")
    assert result.exit_code == 1
    assert result.stdout.startswith("no session could be replayed\n")
    assert "holds no session file" in " ".join(result.stdout.split())
    data = json.loads(run("replay", project / ".pi", "--json", "-").stdout)
    assert data["sessions"] == []
    assert len(data["skipped"]) == 1


def test_an_unknown_window(run, project):
    """Without any source of a window the session is skipped, and the words say what to pass."""
    path = autonomous(3, model="llama", provider="ollama").write(project / "s.jsonl")
    result = run("replay", path)
    assert result.exit_code == 1
    assert "pass --window TOKENS" in " ".join(result.stdout.split())


def test_unknown_is_printed_as_unknown(run, project):
    """A session without usage shows unknown, never 0, for what the recording does not hold."""
    story = Story(model="llama", provider="ollama").user("start")
    for _ in range(4):
        story.call("text " * 400, usage=None)
    result = run("replay", story.write(project / "s.jsonl"), "--window", 60_000)
    row = next(line for line in result.stdout.splitlines() if line.startswith("none "))
    assert row.split() == ["none", "unknown", "baseline", "unknown", "0", "0", "0", "unknown", "0", "\u2013"]


def test_settings_are_read(run, session, project):
    """The project's settings reach the policies, and their problems are told."""
    (project / ".pi" / "settings.json").write_text(
        json.dumps({"compaction": {"reserveTokens": 30_000}, "leafscar": {"windowCap": 50_000, "policy": "nope"}})
    )
    args = ("replay", session, "--window", 60_000, "--policy", "compaction", "--json", "-")
    result = run(*args)
    (found,) = json.loads(result.stdout)["sessions"]
    assert found["policies"][0]["lines"]["threshold"] == 20_000
    assert "policy" in result.stderr
    elsewhere = project / "elsewhere"
    elsewhere.mkdir()
    (found,) = json.loads(run(*args, "--cwd", elsewhere).stdout)["sessions"]
    assert found["policies"][0]["lines"]["threshold"] > 40_000
    assert run(*args, "--cwd", project / "gone").exit_code == 2


HOSTILE = "evil\x1b]0;owned\x07\x1b[2J\r\u202e\ud800"


def test_hostile_words_do_not_reach_the_terminal(run, project):
    """Model names and providers of a session are cleaned in every view, and JSON stays ASCII."""
    story = (
        Story(model=f"claude-sonnet-4-5{HOSTILE}", provider=f"anthropic{HOSTILE}").user(HOSTILE).calls(2).reply(HOSTILE)
    )
    path = story.write(project / "h\x1b[31m.jsonl")
    text = run("replay", path, "--window", 60_000)
    assert text.exit_code == 0
    assert not {"\x1b", "\x07", "\r", "\u202e"} & set(text.stdout)
    data = run("replay", path, "--window", 60_000, "--json", "-")
    assert data.stdout.isascii()
    assert json.loads(data.stdout)["sessions"][0]["model"].endswith(HOSTILE)
    page = project / "page.html"
    assert run("replay", path, "--window", 60_000, "--html", page).exit_code == 0
    assert "\x1b" not in page.read_text()


def test_a_name_that_is_no_text(shell, session):
    """A file whose name is not UTF-8 is replayed under an escaped name."""
    session.rename(session.parent / os.fsdecode(b"\xff.jsonl"))
    done = shell("leafscar replay *.jsonl --window 60000 --policy balanced --json out.json --html out.html")
    assert done.returncode == 0, done.stderr
    assert json.loads((session.parent / "out.json").read_text())["sessions"]


def test_colour_only_on_a_terminal(run, session):
    """Without a terminal there is no control code at all."""
    assert "\x1b" not in run("replay", session, "--window", 60_000).stdout


def test_the_width_of_a_terminal(monkeypatch, session, capsys):
    """On a terminal the table follows its width and is coloured."""
    from leafscar.cli import main  # noqa: PLC0415

    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    main(["replay", str(session), "--window", "60000", "--policy", "balanced"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "\x1b[1m" in shown
    assert max(len(re.sub(r"\x1b\[\d*m", "", line)) for line in shown.splitlines()) in range(101, 121)


def test_without_a_name_the_machine_s_own_recordings(run, session, project, monkeypatch):
    """The newest recordings of the tools on this machine, and a word that nothing leaves it."""
    assert "no recordings of Claude Code" in run("replay").output
    home = project.parent / "home"
    folder = home / ".pi" / "agent" / "sessions" / "--here--"
    folder.mkdir(parents=True)
    for number in range(22):
        (folder / f"{number:02}.jsonl").write_bytes(session.read_bytes())
    result = run("replay", "--policy", "none")
    assert result.exit_code == 0
    assert "the newest 20 of 22 recordings (pi); nothing leaves this machine" in result.stderr
    assert "20 sessions" in result.stdout or "Session 20 of 20" in result.stdout


def test_a_request_is_explained(run, session):
    """--explain says first what happened, then why, then what did not; --json gives the same as data."""
    result = run("replay", session, "--window", 60_000, "--explain", 2)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0].startswith("request 2 of ")
    names = [line.split("  ")[0] for line in lines[2:] if not line.startswith(" ")]
    assert names == [
        "session", "estimate", "window", "lines", "cache", "level 1", "sheddable", "told", "not done", "sent", "moves",
        "cuts",
    ]  # fmt: skip
    data = json.loads(run("replay", session, "--window", 60_000, "--explain", 2, "--json", "-").stdout)
    assert (data["request"], data["policy"]) == (2, "balanced")


def test_an_explanation_can_be_written_to_a_file(run, session, tmp_path):
    """--json OUT writes the explanation, under the policy that was asked for."""
    out = tmp_path / "why.json"
    result = run("replay", session, "--window", 60_000, "--explain", 1, "--json", out, "--policy", "classic")
    assert (result.exit_code, result.stdout) == (0, "")
    assert json.loads(out.read_text())["policy"] == "classic"


def test_what_cannot_be_explained_is_one_line(run, session, tmp_path):
    """A number out of range, no session or several, two policies, a page: each is refused with what to do."""
    result = run("replay", session, "--window", 60_000, "--explain", 0)
    assert result.exit_code == 1
    assert re.fullmatch(r"leafscar: no request 0: the session has requests 1 to \d+\n", result.stderr)
    for more, words in (
        (["--html", tmp_path / "x.html"], "--explain prints text, or data with --json; leave --html out"),
        (_policies("none", "classic"), "--explain looks at one policy; name one of none, classic"),
        ([session.parent / "other.jsonl"], "--explain looks at one session, not 2; name one file"),
    ):
        result = run("replay", session, *more, "--explain", 1)
        assert (result.exit_code, result.stderr) == (1, f"leafscar: {words}\n")
    (tmp_path / "none").mkdir()
    empty = run("replay", tmp_path / "none", "--explain", 1)
    assert empty.exit_code == 1
    assert re.fullmatch(r"leafscar: .*none: not a regular file; [^\n]+\n", empty.stderr)
    assert run("replay", session, "--explain", "x").exit_code == 2


def test_a_conversation_is_explained_by_its_folder(run, project):
    """What OpenHands keeps as a folder is one session to --explain too."""
    events = project / "talk" / "events"
    events.mkdir(parents=True)
    for number, line in enumerate((DATA / "openhands" / "events.jsonl").read_text().splitlines()):
        (events / f"{number}.json").write_text(line)
    result = run("replay", project / "talk", "--window", 60_000, "--explain", 1)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("request 1 of ")


def test_a_page_is_not_printed(run, session, project):
    """A dash in the place of the page's file is refused, and no file of that name is made."""
    result = run("replay", session, "--html", "-")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "leafscar: --html -: a page is written to a file; name one, like report.html\n"
    assert not (project / "-").exists()


def test_without_a_name_each_tool_gives_its_own(run, session, project):
    """Recordings of all five tools are found, and replayed in one go with the verdict first."""
    home = project.parent / "home"
    places = {
        "claude_code/session.jsonl": ".claude/projects/-srv/a.jsonl",
        "codex/rollout.jsonl": ".codex/sessions/2026/05/01/rollout-1.jsonl",
        "gemini_cli/chat.json": ".gemini/tmp/x/chats/session-1.json",
    }
    for source, target in places.items():
        path = home / target
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((DATA / source).read_bytes())
    path = home / ".pi/agent/sessions/a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(session.read_bytes())
    database(home / ".local/share/opencode/opencode.db", "ses_a")
    result = run("replay", "--policy", "none", "--policy", "balanced", "--window", "60000")
    assert result.exit_code == 0, result.output
    assert "the newest 5 of 5 recordings" in result.stderr
    for tool in ("claude-code", "codex", "gemini-cli", "opencode", "pi"):
        assert tool in result.stderr
    assert "of 5 sessions were billed $" in result.stdout.splitlines()[0]


def test_rules_of_other_tools(run, session):
    """Rules of other tools are rows like others, in text and JSON, and their own breaks are counted."""
    names = ("compaction", "mask-last-n:5", "mask-last-n:5+breakpoint", "opencode-prune")
    result = run("replay", session, "--window", 60_000, *_policies(*names))
    assert result.exit_code == 0
    assert "mask-last-n:5: 40 of 40 cache breaks come from its own changes (shape)" in " ".join(result.stdout.split())
    (found,) = json.loads(run("replay", session, "--window", 60_000, "--json", "-", *_policies(*names)).stdout)[
        "sessions"
    ]
    rows = {row["policy"]: row for row in found["policies"]}
    assert tuple(rows) == names
    assert rows["mask-last-n:5"]["rule"] == rows["mask-last-n:5+breakpoint"]["rule"] == "mask-last-n"
    assert rows["mask-last-n:5"]["shape_breaks"] == 40
    assert rows["mask-last-n:5"]["cost"] > rows["mask-last-n:5+breakpoint"]["cost"]
    assert rows["opencode-prune"]["cost"] == rows["compaction"]["cost"]
    assert rows["compaction"]["rule"] == ""


def test_policies_of_a_file_and_a_sweep(run, session, project):
    """--policy-file adds its policies, and --sweep gives one row for each value."""
    (project / "mine.json").write_text(json.dumps({"calm": {"base": "balanced", "shedFraction": 0.9}}))
    result = run("replay", session, "--window", 60_000, "--json", "-", "--policy", "none", "--policy", "balanced",
                 "--policy-file", "mine.json", "--sweep", "goalFraction=0.4,0.5", "--html", "page.html")  # fmt: skip
    assert result.exit_code == 0
    (found,) = json.loads(result.stdout)["sessions"]
    names = [row["policy"] for row in found["policies"]]
    assert names == [
        "none", "balanced[goalFraction=0.4]", "balanced[goalFraction=0.5]",
        "calm[goalFraction=0.4]", "calm[goalFraction=0.5]",
    ]  # fmt: skip
    assert [row["lines"]["goal"] for row in found["policies"][1:]] == [24_000, 30_000, 24_000, 30_000]
    page = (project / "page.html").read_text()
    assert all(name in page for name in names)


@pytest.mark.parametrize(
    "options",
    [
        ("--policy-file", "none.json"),
        ("--policy", "balanced", "--sweep", "shedFraction=2"),
        ("--sweep", "shedFraction=0.5"),
        ("--policy", "mask-last-n:x"),
    ],
)
def test_wrong_choices(run, session, options):
    """Exit 1 and one line, before anything is replayed."""
    result = run("replay", session, *options)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("leafscar: ")
    assert result.stderr.count("\n") == 1
