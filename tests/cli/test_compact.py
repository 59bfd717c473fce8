from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.replay.sessions import Story, autonomous, interactive, text_of

import leafscar.cli.compact as command
from leafscar.session import load


@pytest.fixture
def script(project):
    """Write a script of answers and give the name of its summariser."""

    def write(*responses):
        path = project / "answers.json"
        path.write_text(json.dumps({"responses": list(responses)}))
        return f"script:{path}"

    return write


@pytest.fixture
def slept(monkeypatch):
    """Pauses between retries, which are not waited for."""
    pauses = []
    monkeypatch.setattr(command.time, "sleep", pauses.append)
    return pauses


def data_of(result):
    """The command's JSON."""
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_the_plan_is_shown_and_nothing_written(run, session):
    """Without a summariser the cut is only planned."""
    before = session.read_bytes()
    result = run("compact", session)
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert lines[0] == f"planned cut of {session}: 70,851 tokens before it"
    assert [line[:15].strip() for line in lines[1:]] == ["summarised", "", "kept raw", "files", "pins", "request"]
    assert session.read_bytes() == before
    data = data_of(run("compact", session, "--json"))
    assert data.keys() == {"file", "cut", "tokensBefore", "keepRecent", "summariser"}
    cut = data["cut"]
    assert cut["splitTurn"] is True
    assert cut["history"] == {"messages": 0, "tokens": 0}
    assert cut["turnPrefix"]["messages"] + cut["kept"]["messages"] == 92
    assert cut["kept"]["tokens"] == pytest.approx(data["keepRecent"], rel=0.1)
    assert load(session).entry(cut["firstKept"]).line == int(cut["reference"][1:])
    assert data["summariser"].keys() == {"kind", "characters", "maxTokens", "leftOut"}
    assert data["summariser"]["kind"] == "prefix"


def test_a_summary_is_shown_and_not_written(run, session, script):
    """With a summariser, but without --write, the summary is shown and the file stays as it was."""
    before = session.read_bytes()
    result = run("compact", session, "--summarizer", script({"text": "## Goal\nall modules"}))
    assert result.exit_code == 0
    assert "all modules" in result.stdout
    assert "after          ~2" in result.stdout
    assert "appended" not in result.stdout
    assert session.read_bytes() == before


def test_writing_appends_one_entry(run, session, script):
    """The entry is appended, everything before it is byte for byte the same, and the context starts with it."""
    before = session.read_bytes()
    result = run("compact", session, "--summarizer", script({"text": "all modules"}), "--write")
    assert result.exit_code == 0
    after = session.read_bytes()
    assert after.startswith(before)
    assert after[len(before) :].count(b"\n") == 1
    assert result.stdout.startswith(f"cut of {session}")
    entry = json.loads(after[len(before) :])
    assert entry["type"] == "compaction"
    assert "all modules" in entry["summary"]
    assert result.stdout.endswith(f"appended entry {entry['id']} as line 94 of {session}\n")
    context = load(session).context()
    assert "all modules" in context[0].summary
    assert context.entries[1].id == entry["firstKeptEntryId"]


def test_writing_twice(run, session, script):
    """A second cut needs new history; its summary builds on the first one."""
    answers = script({"text": "first"}, {"text": "second"})
    assert run("compact", session, "--summarizer", answers, "--write").exit_code == 0
    after_first = session.read_bytes()
    again = run("compact", session, "--summarizer", answers, "--write", "--json")
    data = data_of(again)
    if data["cut"] is None:
        assert session.read_bytes() == after_first
    story = autonomous(45).user("more").calls(20).reply()
    path = story.write(session.with_name("second.jsonl"))
    for _ in range(2):
        assert run("compact", path, "--summarizer", script({"text": "a"}, {"text": "b"}), "--write").exit_code == 0
    assert [entry.type for entry in load(path).entries].count("compaction") in (1, 2)


def test_json_of_a_written_cut(run, session, script):
    """The JSON names the summary, the size after it and the entry."""
    result = run("compact", session, "--summarizer", script({"text": "s"}), "--write", "--json")
    data = data_of(result)
    assert data.keys() >= {"summary", "after", "written"}
    assert data["written"] == {"entry": load(session).leaf_id, "line": 94, "file": str(session)}
    assert data["after"] < data["tokensBefore"]
    assert result.stdout.isascii()


def test_history_and_turn_are_summarised_apart(run, project, script):
    """A cut in the middle of a later turn asks twice, and says so."""
    story = interactive(3).user("a long task").calls(20).reply()
    path = story.write(project / "s.jsonl")
    shown = run("compact", path).stdout
    assert "of the current turn, summarised apart" in shown
    assert "\nfirst request  " in shown
    result = run("compact", path, "--summarizer", script({"text": "history"}, {"text": "turn"}))
    assert "history\n\n---\n" in result.stdout
    assert "turn" in result.stdout
    short = run("compact", path, "--summarizer", script({"text": "history"}))
    assert short.exit_code == 1
    assert "no response is left for the prefix summary" in short.stderr


def test_a_previous_summary_is_said(run, project):
    """The plan says when it builds on an earlier summary."""
    story = autonomous(30)
    story.cut(story.entries[-5]["id"]).user().calls(25).reply()
    assert "after the previous summary" in run("compact", story.write(project / "s.jsonl")).stdout


def test_instructions_reach_the_request(run, project):
    """What the user wants the summary to look at is part of the request."""
    path = interactive(12).write(project / "s.jsonl")
    plain = data_of(run("compact", path, "--json"))["summariser"]["characters"]
    told = data_of(run("compact", path, "--json", "--instructions", "look at the parser " * 9))["summariser"]
    assert told["characters"] > plain + 150


def test_instructions_without_a_history_are_not_lost_in_silence(run, session):
    """The request for the beginning of a turn takes no instructions, and the command says so."""
    result = run("compact", session, "--instructions", "look at the parser")
    assert result.exit_code == 0
    assert result.stderr.startswith("leafscar: warning: only the beginning of a turn is summarised")


def test_the_summariser_gets_the_instructions(run, project, monkeypatch):
    """The very words stand in the prompt that is sent."""
    path = interactive(12).write(project / "s.jsonl")
    prompts = []

    def fake(_name):
        from leafscar.compaction import SummaryResponse  # noqa: PLC0415

        return lambda request: prompts.append(request.prompt) or SummaryResponse(texts=("s",))

    monkeypatch.setattr(command, "script_summarizer", fake)
    assert run("compact", path, "--summarizer", "script:x", "--instructions", "look at ÄÖ").exit_code == 0
    assert "look at ÄÖ" in prompts[0]


def test_nothing_to_cut(run, project):
    """A short session has nothing before what stays raw; that is no fault and asks nobody."""
    path = Story().user("hi").reply().write(project / "s.jsonl")
    result = run("compact", path, "--summarizer", f"script:{project / 'gone.json'}", "--write")
    assert result.exit_code == 0
    assert result.stdout.startswith("nothing to cut: no history before the newest ")
    data = data_of(run("compact", path, "--json"))
    assert data["cut"] is None
    assert data.keys() == {"file", "cut", "reason"}


def test_an_unknown_window_has_no_tail(run, project):
    """An empty session without a window has nothing at all."""
    path = Story(model="llama", provider="ollama").write(project / "s.jsonl")
    assert data_of(run("compact", path, "--json"))["reason"] == "the session is empty"


def test_a_passing_failure_is_asked_again(run, session, script, slept):
    """A 503 is retried twice with a pause, then the answer stands."""
    answers = script({"errorMessage": "503 overloaded"}, {"errorMessage": "503 overloaded"}, {"text": "at last"})
    result = run("compact", session, "--summarizer", answers)
    assert result.exit_code == 0
    assert "at last" in result.stdout
    assert slept == [0.5, 1.0]


def test_a_lasting_failure_writes_nothing(run, session, script, slept):
    """After the retries the command says what the provider said: one line, exit 1, the file untouched."""
    before = session.read_bytes()
    answers = script(*[{"errorMessage": "503 overloaded\nsecond line"}] * 3)
    result = run("compact", session, "--summarizer", answers, "--write")
    assert result.exit_code == 1
    assert len(slept) == 2
    assert "503 overloaded" in result.stderr
    assert result.stderr.endswith("; nothing was written\n")
    assert result.stderr.count("\n") == 1
    assert session.read_bytes() == before


@pytest.mark.parametrize(
    ("response", "times"),
    [({"text": ""}, 2), ({"text": "cut o", "stopReason": "length"}, 2), ({"stopReason": "aborted"}, 1)],
)
def test_a_summary_that_cannot_stand(run, session, script, response, times):
    """An empty or truncated summary is asked for once more and then refused; an aborted one at once."""
    before = session.read_bytes()
    result = run("compact", session, "--summarizer", script(*[response] * times), "--write")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert session.read_bytes() == before


def test_a_failure_above_the_threshold(run, session, script):
    """Above the threshold a failed summary ends the command as well; nothing is shed or written."""
    before = session.read_bytes()
    for window in (60_000, 90_000, 200_000):
        answers = script({"errorMessage": "400 bad request"})
        result = run("compact", session, "--summarizer", answers, "--write", "--window", window)
        assert result.exit_code == 1
        assert "400 bad request" in result.stderr
    assert session.read_bytes() == before


def test_write_needs_a_summariser(run, session):
    """--write alone is a wrong call."""
    result = run("compact", session, "--write")
    assert result.exit_code == 2
    assert "--write needs --summarizer script:FILE" in result.stderr


def test_other_summarisers(run, session):
    """Only script:FILE is known."""
    result = run("compact", session, "--summarizer", "gpt-5")
    assert result.exit_code == 1
    assert "only script:FILE is known" in result.stderr


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="only where the system tells who holds a file")
def test_a_file_that_somebody_holds(shell, session, script):
    """While another process has the file open, writing is refused; --force writes and warns."""
    answers = script({"text": "s"})
    before = session.read_bytes()
    line = f"exec 3<session.jsonl; leafscar compact session.jsonl --summarizer {answers} --write 3<&-"
    refused = shell(line)
    assert refused.returncode == 1
    assert b"has it open; end it, or add --force" in refused.stderr
    assert refused.stderr.count(b"\n") == 1
    assert session.read_bytes() == before
    forced = shell(f"{line} --force")
    assert forced.returncode == 0
    assert b"leafscar: warning: process" in forced.stderr
    assert session.read_bytes().startswith(before)
    assert session.read_bytes() != before


def test_old_versions_are_read_but_not_written(run, project, script):
    """A session of version 1 can be planned; writing to it is refused and leaves it as it was."""
    path = project / "v1.jsonl"
    lines = [{"type": "session", "id": "old", "timestamp": "2025-01-01T00:00:00.000Z", "cwd": "/p"}]
    tree = ("id", "parentId")
    lines += [{key: entry[key] for key in entry if key not in tree} for entry in autonomous(45).entries]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    before = path.read_bytes()
    assert run("compact", path).stdout.startswith("planned cut of")
    result = run("compact", path, "--summarizer", script({"text": "s"}), "--write")
    assert result.exit_code == 1
    assert "only version 3 sessions are written; open it once with pi" in result.stderr
    assert path.read_bytes() == before


def test_pins_are_kept_word_for_word(run, session, project, script):
    """Pins of the settings stand in the written summary."""
    (project / ".pi" / "settings.json").write_text('{"leafscar": {"pins": ["never touch migrations/"]}}')
    shown = run("compact", session).stdout
    assert "pins           1 kept word for word" in shown
    run("compact", session, "--summarizer", script({"text": "s"}), "--write")
    assert "never touch migrations/" in load(session).context()[0].summary


def test_a_long_history_is_shortened_to_fit(run, project):
    """Where the summariser's window is smaller than the history, the plan says how much is left out."""
    story = Story().user("start")
    for _ in range(60):
        story.call(text_of(400)).reply("thinking " * 300)
    shown = run("compact", story.write(project / "s.jsonl"), "--window", 20_000).stdout
    assert " left out to fit" in shown


def test_a_cut_between_two_turns(run, project):
    """Where the cut stands between two turns, one request summarises all of the history."""
    story = Story()
    for _ in range(40):
        story.user(text_of(1_000)).reply("ok")
    path = story.write(project / "s.jsonl")
    shown = run("compact", path).stdout
    assert "summarised apart" not in shown
    assert "\nrequest  " in shown
    data = data_of(run("compact", path, "--json"))
    assert data["cut"]["splitTurn"] is False
    assert data["cut"]["history"]["messages"] + data["cut"]["kept"]["messages"] == 80


def test_a_holder_is_named(run, session, script, monkeypatch):
    """Who has the file open is named by process, whether it stops the command or not."""
    monkeypatch.setattr(command, "holders", lambda _: (41, 42))
    args = ("compact", session, "--summarizer", script({"text": "s"}), "--write")
    refused = run(*args)
    assert refused.exit_code == 1
    assert "process 41, 42 has it open; end it, or add --force" in refused.stderr
    forced = run(*args, "--force")
    assert forced.exit_code == 0
    assert forced.stderr == f"leafscar: warning: process 41, 42 has {session} open\n"


def test_texts_of_pi_are_read(run, session, project, monkeypatch):
    """A folder with pi's files gives the texts of the request."""
    from leafscar.cli import control  # noqa: PLC0415
    from leafscar.compaction import OWN  # noqa: PLC0415

    for name in next(iter(control.PI_SOURCES.values())):
        (project / "pi" / name).parent.mkdir(parents=True, exist_ok=True)
        (project / "pi" / name).write_text(name)
    read = []
    monkeypatch.setattr(control, "texts_from_sources", lambda texts: read.extend(texts) or OWN)
    (project / ".pi" / "settings.json").write_text(json.dumps({"leafscar": {"prompts": f"pi:{project / 'pi'}"}}))
    assert run("compact", session).exit_code == 0
    assert read == list(next(iter(control.PI_SOURCES.values())))


def test_texts_of_pi_must_must_be_there(run, session, project):
    """A setting that names pi's texts needs a folder with pi in it."""
    (project / ".pi" / "settings.json").write_text('{"leafscar": {"prompts": "pi:nowhere"}}')
    result = run("compact", session)
    assert result.exit_code == 1
    assert 'no pi below nowhere; name a node_modules folder, or use "own"' in result.stderr


def test_hostile_words_are_shown_not_obeyed(run, project, script):
    """What a summariser writes is escaped on the terminal, and kept as it is in the file."""
    hostile = "evil\x1b]0;owned\x07\x1b[2J\u202e"
    path = autonomous(45).write(project / "h\x1b[2J.jsonl")
    result = run("compact", path, "--summarizer", script({"text": hostile}), "--write")
    assert result.exit_code == 0
    assert not {"\x1b", "\x07", "\u202e"} & set(result.output)
    assert hostile in load(path).context()[0].summary
