"""``leafscar cuts``: what recorded compactions lost."""

from __future__ import annotations

import json
import os
import shlex
from pathlib import Path

import pytest
from tests.replay.sessions import Story

ROOT = Path(__file__).parents[2]
FORMATS = ROOT / "tests" / "data" / "formats"
RECORDED = [
    *sorted((ROOT / "examples").glob("*.jsonl")),
    FORMATS / "claude_code" / "session.jsonl",
    FORMATS / "codex" / "rollout.jsonl",
    FORMATS / "openhands" / "trajectory.json",
    FORMATS / "openhands" / "events.jsonl",
    FORMATS / "opencode" / "export.json",
]
SHARED = Path(os.environ.get("LEAFSCAR_SHARED") or ROOT.parent / "shared") / "data"
RULE = "Never touch the migrations folder"
TEXT = "".join(f"line number {number}\n" for number in range(1, 41))


def compacted(summary="Worked on a.py.", first="start"):
    """A session in which a file is read, cut away, and read again."""
    story = Story().user(first).call(TEXT, path="/project/a.py").call("ok", name="bash").reply()
    story.add("compaction", summary=summary, firstKeptEntryId="none", tokensBefore=4_321)
    return story.user("go on").call(TEXT, path="/project/a.py").reply()


def commands(stdout):
    """What each line says about getting back what was lost."""
    return [
        shlex.split(line[line.index("leafscar recall") :]) for line in stdout.splitlines() if " leafscar recall" in line
    ]


@pytest.fixture
def file(project):
    """Such a session, with a rule, in a file whose name has a blank."""
    return compacted(first=f"{RULE}. Read a.py.").write(project / "my session.jsonl")


def test_the_verdict_comes_first(run, file):
    """One sentence: what went, what of it was needed again and at what cost, what the summaries said of that."""
    result = run("cuts", file)
    assert result.exit_code == 0
    verdict = "1 compaction took 1 file, 1 rule, 1 output and the state of the task; 1 of them was needed again"
    assert result.stdout.splitlines()[0] == f"{verdict} (~148 tokens), the summaries named 1 of these"


def test_each_thing_with_what_became_of_it(run, file):
    """Each cut has its numbers, each thing its words, its size, what is left of it, its need and the way back."""
    lines = run("cuts", file).stdout.splitlines()
    assert lines[2] == f"{file} (pi)"
    assert lines[4].startswith("cut 1 of 1 at #8: 6 messages out, 0 kept; 4,321 tokens before, a summary of ~3")
    rows = {line.split()[0]: line.split() for line in lines if " leafscar recall" in line}
    assert "rules     1: 1 not in it; 0 needed again" in "\n".join(lines)
    name = f"'{file}'"
    assert " ".join(rows["a.py"]) == f"a.py read 148 named re-read #11 (148) leafscar recall {name} '#4'"
    assert " ".join(rows["make"]) == f"make bash 1 missing - leafscar recall {name} '#6'"
    assert any(" ".join(line.split()).startswith(f"{RULE}. said - missing - leafscar") for line in lines)


def test_the_way_back_leads_there(run, file):
    """A printed command gives the very output."""
    (back,) = [command for command in commands(run("cuts", file).stdout) if command[-1] == "#4"]
    assert run(*back[1:]).stdout == TEXT


@pytest.mark.parametrize("path", [*RECORDED, "story"], ids=lambda path: Path(path).name)
def test_every_reference_of_an_output_recalls(run, file, path):
    """Whatever the tool that recorded it."""
    result = run("cuts", "--all", file if path == "story" else path)
    assert result.exit_code == 0
    backs = [command for command in commands(result.stdout) if "--page" not in command]
    assert backs
    for back in backs[:: len(backs) // 15 + 1]:
        assert run(*back[1:]).exit_code == 0, back


@pytest.mark.parametrize("path", [*RECORDED, "story"], ids=lambda path: Path(path).name)
def test_every_reference_of_a_message_recalls(run, file, path):
    """Messages and calls are given back by pages."""
    backs = commands(run("cuts", "--all", file if path == "story" else path).stdout)
    assert backs
    for back in backs[:: len(backs) // 15 + 1]:
        assert run(*back[1:]).exit_code == 0, back


@pytest.mark.slow
@pytest.mark.parametrize("tool", ["claude-code", "codex", "openhands", "opencode", "pi"])
def test_third_party_recordings(run, tool):
    """Every recording of the five agents is read, and every reference of an output recalls."""
    folder = SHARED / "recorded" / tool
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}; set LEAFSCAR_SHARED")
    result = run("cuts", "--all", folder)
    assert result.exit_code == 0
    backs = [command for command in commands(result.stdout) if "--page" not in command]
    for back in backs[:: len(backs) // 40 + 1]:
        assert run(*back[1:]).exit_code == 0, back


def test_a_long_list_is_bounded_unless_all_is_asked_for(run, project):
    """What was needed again comes first, then what is largest."""
    story = Story().user("go")
    for number in range(20):
        story.call("x" * (100 + 4 * number), path=f"/project/f{number}.py")
    story.add("compaction", summary="", firstKeptEntryId="none")
    path = story.user("on").call("x", path="/project/f3.py").write(project / "s.jsonl")
    short, full = run("cuts", path).stdout, run("cuts", "--all", path).stdout
    rows = [line.split()[0] for line in short.splitlines() if "leafscar recall" in line]
    assert rows[:6] == ["f3.py", "f19.py", "f18.py", "f17.py", "f16.py", "f15.py"]
    assert "    and 14 more (--all lists them)" in short.splitlines()
    assert len(commands(full)) == len(commands(short)) + 14
    assert "more (--all" not in full


def test_a_summary_that_is_not_held(run, project):
    """The verdict does not guess what it said, and the cut says why."""
    path = compacted(summary="").write(project / "s.jsonl")
    lines = run("cuts", path).stdout.splitlines()
    assert lines[0].endswith("(~148 tokens), what the summaries said of these is unknown")
    assert "its summary is not held" in lines[4]
    assert "  unknown   The recording does not hold the summary, so what it kept is unknown." in lines


def test_what_stayed_is_not_counted_as_taken(run, project):
    """A file that a kept output shows is listed as still there."""
    story = Story().user("go").call(TEXT, path="/project/a.py").reply()
    kept = story.message("user", content="go on then")
    story.call(TEXT, path="/project/a.py").reply()
    story.add("compaction", summary="x", firstKeptEntryId=kept)
    path = story.reply().write(project / "s.jsonl")
    lines = run("cuts", path).stdout.splitlines()
    assert lines[0] == "1 compaction took nothing that is counted here"
    assert "  files     1: 1 still there; 0 needed again" in lines


def test_needs_are_bounded_in_a_line(run, project):
    """Two of them, and how many more."""
    story = Story().user("go").call(TEXT, path="/project/a.py").reply()
    story.add("compaction", summary="x", firstKeptEntryId="none")
    for number in range(3):
        story.call("x" * 20, path="/project/a.py")
        call = story.entries[-2]["message"]["content"][0]
        call["arguments"].update(offset=number * 12 + 1, limit=12)
    path = story.write(project / "s.jsonl")
    (row,) = [line for line in run("cuts", path).stdout.splitlines() if "a.py" in line]
    assert "re-read #8 (5), re-read #10 (5) +1" in row


def test_sessions_without_a_cut(run, file, project):
    """They are counted in a line; alone they are the verdict."""
    plain = Story().user("go").reply().write(project / "plain.jsonl")
    assert run("cuts", plain).stdout == "no compaction in 1 session: nothing was lost\n"
    lines = run("cuts", plain, file).stdout.splitlines()
    assert lines[0].startswith("1 compaction took")
    assert lines[-1] == "no compaction in 1 session"


def test_no_room_is_kept_for_what_did_not_come_back(run, project):
    """Where nothing of a cut was needed again, the command stands right behind the dash."""
    story = Story().user("go").call(TEXT, path="/project/a.py").reply()
    story.add("compaction", summary="a.py", firstKeptEntryId="none")
    path = story.user("on").reply().write(project / "s.jsonl")
    (row,) = [line for line in run("cuts", path).stdout.splitlines() if "leafscar recall" in line and "a.py" in line]
    assert "  named    - leafscar recall " in row


def test_several_things_needed_and_texts_too_long_to_show(run, project):
    """The plural, and paths that keep their end."""
    deep = "/elsewhere/" + "folder/" * 9 + "a.py"
    story = Story().user("go").call(TEXT, path=deep).call(TEXT, path="/project/b.py").reply()
    story.add("compaction", summary="b.py", firstKeptEntryId="none")
    path = story.call(TEXT, path=deep).call(TEXT, path="/project/b.py").write(project / "s.jsonl")
    lines = run("cuts", path).stdout.splitlines()
    assert "2 of them were needed again (~296 tokens), the summaries named 1 of these" in lines[0]
    assert any(line.startswith("    ...") and "/folder/a.py " in line for line in lines)


def test_what_cannot_be_read_is_named(run, project, file):
    """One bad file costs the others nothing; only bad files are a failure."""
    bad = project / "bad.jsonl"
    bad.write_text("no session")
    result = run("cuts", bad, file)
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-2] == "Skipped:"
    assert str(bad) in result.stdout.splitlines()[-1]
    alone = run("cuts", bad)
    assert alone.exit_code == 1
    assert alone.stdout.splitlines()[:3] == ["no session could be read", "", "Skipped:"]


def test_json_holds_everything(run, file):
    """Null is unknown; needs have their positions and references."""
    data = json.loads(run("cuts", "--json", file).stdout)
    assert data["verdict"].startswith("1 compaction took")
    (session,) = data["sessions"]
    assert (session["path"], session["format"], session["cwd"]) == (str(file), "pi", "/project")
    (cut,) = session["cuts"]
    assert (cut["tokens_before"], cut["gone"], cut["kept"]) == (4321, 6, 0)
    (a,) = [lost for lost in cut["lost"] if lost["kind"] == "file"]
    assert (a["text"], a["reference"], a["tokens"], a["kept"]) == ("/project/a.py", "#4", 148, "named")
    (need,) = a["needed"]
    assert (need["kind"], need["reference"], need["tokens"]) == ("re-read", "#11", 148)
    assert data["skipped"] == []


def test_a_terminal_is_not_steered(run, project):
    """Control characters and line breaks of paths, commands and instructions are shown, not obeyed."""
    story = (
        Story().user("Never do this \x1b[31mred\u202e thing here").call("x", path="/project/\x1b]0;a\nb\x07.py").reply()
    )
    story.add("compaction", summary="\x1b[2J", firstKeptEntryId="none")
    path = story.reply().write(project / "s.jsonl")
    shown = run("cuts", path).stdout
    assert "\\u001b" in shown
    assert not set("\x1b\u202e\x07") & set(shown)


def test_an_id_that_is_no_reference_is_said_to_be_none(run, project):
    """A foreign recording may call its entries anything; no command is printed that would fail."""
    export = json.loads((FORMATS / "opencode" / "export.json").read_text())
    text = json.dumps(export).replace("prt_", "prt $(x) ").replace("msg_", "msg\\n'")
    path = project / "export.json"
    path.write_text(text)
    result = run("cuts", "--all", path)
    assert result.exit_code == 0
    assert "its id is no reference" in result.stdout
    for back in commands(result.stdout):
        assert run(*back[1:]).exit_code == 0 or "--page" in back


def test_without_a_name_the_machine_s_own_recordings(run, project, monkeypatch):
    """The newest recordings are taken, as replay takes them."""
    home = project / "home"
    folder = home / ".pi" / "agent" / "sessions" / "one"
    folder.mkdir(parents=True)
    compacted().write(folder / "s.jsonl")
    monkeypatch.setenv("HOME", str(home))
    result = run("cuts")
    assert result.stdout.startswith("1 compaction took")
    assert "the newest 1 of 1 recordings (pi)" in result.stderr


def test_a_machine_without_recordings(run):
    """One line says what to do."""
    result = run("cuts")
    assert result.exit_code == 1
    assert "name a file or folder" in result.stderr
