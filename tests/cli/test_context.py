from __future__ import annotations

import json

import pytest
from tests.replay.sessions import Story, text_of

from leafscar.cli.control import control_of
from leafscar.engine import Controller, Facts, Send, materialise
from leafscar.session import load

KEYS = {
    "file", "leaf", "messages", "estimate", "window", "lines", "policy", "engaged", "decision", "savings",
    "sheddable", "shed", "lastDecisions", "pins", "unknown", "problems",
}  # fmt: skip


def data_of(run, *args):
    """The command's JSON."""
    result = run("context", *args, "--json")
    assert result.exit_code == 0, result.output
    assert result.stdout.isascii()
    return json.loads(result.stdout)


def rows_of(result):
    """Lines of text by their first word."""
    assert result.exit_code == 0, result.output
    return {line.split()[0]: line for line in result.stdout.splitlines() if line[:1].strip()}


def test_the_next_request(run, session):
    """Estimate and anchor, window, lines, decision, what could be shed, pins and what is unknown."""
    data = data_of(run, session)
    assert data.keys() == KEYS
    assert data["messages"] == 92
    anchor = data["estimate"]["anchor"]
    assert anchor["entry"] == data["leaf"] == "0000005c"
    assert anchor["reference"] == "#93"
    assert anchor["messagesAfter"] == 0
    assert anchor["tokens"] == data["estimate"]["tokens"] == pytest.approx(70_851, abs=2)
    assert data["window"]["tokens"] == 200_000
    assert data["lines"].keys() == {"threshold", "shed", "goal"}
    assert data["decision"] == {"action": "keep", "reason": "below the shed line"}
    assert data["engaged"] is False
    assert data["unknown"] == [
        "earlier decisions: this session was not run under leafscar",
        "whether the provider's cache is still warm",
    ]
    first = data["sheddable"][0]
    assert first.keys() == {"reference", "entry", "tool", "tokens", "saved", "currentTurn", "marker"}
    assert (first["reference"], first["tool"], first["tokens"], first["currentTurn"]) == ("#4", "read", 1_500, True)
    assert sum(output["saved"] for output in data["sheddable"]) == pytest.approx(data["savings"]["fullest"], abs=50)


def test_the_same_as_lines(run, session):
    """The text shows what the JSON holds, largest outputs first, and says how many it leaves out."""
    result = run("context", session)
    rows = rows_of(result)
    assert result.stdout.splitlines()[0] == f"next request of {session} at 0000005c: 92 messages"
    assert rows["estimate"].endswith("70,851 tokens: 70,851 reported at #93, nothing after it")
    assert rows["next"].endswith("send as it is: below the shed line")
    assert rows["level"].endswith("not engaged")
    assert rows["policy"].endswith("balanced")
    assert rows["pins"].endswith("none")
    assert rows["decisions"].endswith("none recorded")
    assert "smaller ones (--json lists all)" in result.stdout
    assert "[read pruned: src/m" in result.stdout


@pytest.mark.parametrize(
    ("window", "policy", "action"),
    [
        (200_000, "balanced", "send as it is: below the shed line"),
        (95_000, "balanced", "shed outputs: it pays back"),
        (80_000, "compaction", "ask for a summary and cut: threshold"),
        (80_000, "none", "send as it is: below the cut line"),
    ],
)
def test_pressure_is_simulated_by_a_small_window(run, session, window, policy, action):
    """What would happen follows --window and --policy."""
    rows = rows_of(run("context", session, "--window", window, "--policy", policy))
    assert rows["next"].endswith(action)
    assert f"{window:,} tokens: from --window" in rows["window"]
    assert ("lines" in rows) == (policy != "none")


def test_as_sent_is_what_the_engine_sends(run, session):
    """The outgoing messages are those of materialise, markers included."""
    result = run("context", session, "--as-sent", "--json", "--window", 95_000)
    sent = json.loads(result.stdout)
    loaded = load(session)
    controller = Controller(facts=Facts(window=95_000), reference_for=loaded.reference_for)
    outcome = controller.before_request(loaded.branch())
    assert isinstance(outcome, Send)
    assert sent == json.loads(json.dumps(materialise(controller.items, outcome.plan)))
    markers = [text for message in sent for text in _texts(message) if text.startswith("[read pruned: ")]
    assert len(markers) == len(outcome.plan.replacements) > 10
    whole = json.loads(run("context", session, "--as-sent", "--json").stdout)
    assert not any(text.startswith("[read pruned") for message in whole for text in _texts(message))


def _texts(message):
    content = message.get("content")
    return [part.get("text", "") for part in content] if isinstance(content, list) else [content or ""]


def test_as_sent_in_text(run, session):
    """Each message has a numbered heading with its role, its calls named below."""
    shown = run("context", session, "--as-sent", "--window", 95_000).stdout
    assert shown.startswith("--- 1 user\nchange every module\n--- 2 assistant\n(call call1) read {")
    assert "--- 3 toolResult read\n[read pruned: src/m1.py" in shown


def test_a_cut_that_would_come_first_is_said(run, session):
    """Where control would cut, the request before the cut is shown, and stderr says so."""
    result = run("context", session, "--as-sent", "--policy", "compaction", "--window", 80_000)
    assert result.exit_code == 0
    assert result.stderr == "control would cut first (threshold); below is the request before the cut\n"
    assert "pruned" not in result.stdout


def test_a_request_that_cannot_fit_is_said(run, project):
    """What nothing can make small enough is shown all the same, with the reason on stderr."""
    story = Story().user("start").reply().user(text_of(70_000))
    path = story.write(project / "s.jsonl")
    (project / ".pi" / "settings.json").write_text('{"compaction": {"enabled": false}}')
    result = run("context", path, "--as-sent", "--window", 50_000)
    assert result.exit_code == 0
    assert result.stderr.startswith("leafscar: the next request needs about ")
    assert "--- 3 user" in result.stdout


def test_what_must_stay_raw_is_not_listed(run, project, session):
    """Where the current turn stays raw whatever happens, none of its outputs is offered."""
    assert data_of(run, session, "--policy", "classic")["sheddable"] == []
    (project / ".pi" / "settings.json").write_text('{"pruning": {"protectCurrentTurn": true}}')
    assert data_of(run, session)["sheddable"] == []
    (project / ".pi" / "settings.json").write_text('{"pruning": {"protectCurrentTurn": false}}')
    assert len(data_of(run, session, "--policy", "classic")["sheddable"]) > 10


@pytest.mark.parametrize("at", ["#5", "00000004"])
def test_at_an_earlier_entry(run, session, at):
    """--at looks from an entry by line or id."""
    data = data_of(run, session, "--at", at)
    assert data["leaf"] == "00000004"
    assert data["messages"] == 4
    text = run("context", session, "--at", at).stdout
    assert "nothing after it" in text
    after = data_of(run, session, "--at", "#6")["estimate"]["anchor"]
    assert after["messagesAfter"] == 1


@pytest.mark.parametrize("at", ["#999", "ffffffff", "#4:full", "", "#x"])
def test_at_nothing(run, session, at):
    """An entry that is not there: exit 1 and one line."""
    result = run("context", session, "--at", at)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("leafscar: --at")


def test_before_any_reading(run, project):
    """Without a reading the estimate is ours alone, and says so."""
    path = Story().user("x" * 400).write(project / "s.jsonl")
    data = data_of(run, path, "--window", 50_000)
    assert data["estimate"]["anchor"] is None
    assert data["unknown"][0] == "no usable reading: the estimate is ours alone, system prompt and tools are not in it"
    result = run("context", path, "--window", 50_000)
    assert "tokens, from sizes alone" in rows_of(result)["estimate"]
    assert rows_of(result)["sheddable"].endswith("nothing")


def test_an_empty_session(run, project):
    """A session with a header only has no leaf and no messages."""
    data = data_of(run, Story().write(project / "s.jsonl"), "--window", 50_000)
    assert (data["leaf"], data["messages"]) == (None, 0)
    assert run("context", project / "s.jsonl").stdout.startswith("next request of")


def test_an_unknown_window_turns_control_off(run, project):
    """Without a window there are no lines, and the reason and the remedy are printed."""
    path = Story(model="llama", provider="ollama").user("x").reply().write(project / "s.jsonl")
    data = data_of(run, path)
    assert data["window"]["tokens"] is None
    assert data["lines"] is None
    assert data["unknown"][0].startswith("control is off: the context window is unknown")
    rows = rows_of(run("context", path))
    assert rows["window"].endswith("unknown: nothing states the context window of llama; pass --window TOKENS")
    assert "lines" not in rows


def test_another_model(run, session):
    """--model takes the window of a model by name."""
    data = data_of(run, session, "--model", "gpt-4o")
    assert data["window"]["tokens"] == 128_000
    assert "gpt-4o" in data["window"]["source"]


def test_a_controlled_session_gets_its_moves_back(run, project):
    """A session that was run under leafscar shows what was shed and that level 1 is engaged."""
    story = Story().user("start")
    story.add("custom", customType="leafscar.state", data={})
    story.calls(30).reply()
    path = story.write(project / "s.jsonl")
    result = run("context", path, "--window", 60_000)
    data = data_of(run, path, "--window", 60_000)
    assert data["engaged"] is True
    assert len(data["shed"]) > 5
    assert "earlier decisions" not in " ".join(data["unknown"])
    assert "engaged since the newest cut" in result.stdout
    assert rows_of(result)["shed"].startswith(f"shed       {len(data['shed'])} outputs: #5, #7")


def test_pins_and_problems(run, project):
    """Pins of the settings and of labelled entries are listed, and so are the lines that reading went around."""
    (project / ".pi" / "settings.json").write_text('{"leafscar": {"pins": ["answer in Dutch\\nalways"], "odd": 1}}')
    story = Story().user("never touch migrations").reply()
    story.add("label", targetId=story.entries[0]["id"], label="pin")
    path = story.write(project / "s.jsonl")
    path.write_bytes(path.read_bytes() + b"{broken\n")
    result = run("context", path)
    assert "odd" in result.stderr
    data = data_of(run, path)
    assert set(data["pins"]) == {"answer in Dutch\nalways", "never touch migrations"}
    assert data["problems"][0].startswith("line 5: not JSON")
    rows = rows_of(result)
    assert rows["pins"].endswith("2")
    assert '"answer in Dutch"' in result.stdout
    assert "line 5: not JSON" in rows["problems"]


def test_every_kind_of_message_is_shown(run, project):
    """Executions, summaries, thinking, images and custom messages have a text to read."""
    story = Story().user("start")
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}
    story.message("bashExecution", command="ls", output="a\nb", exitCode=0, cancelled=False, truncated=False)
    thinking = {"type": "thinking", "thinking": "hmm"}
    story.message("assistant", content=[thinking], stopReason="stop", usage={"input": 5, "output": 1})
    story.message("user", content=[{"type": "text", "text": "look"}, image])
    story.add("custom_message", customType="note", content="from an extension", display=True)
    story.cut(story.entries[0]["id"], summary="the summary")
    path = story.write(project / "s.jsonl")
    shown = run("context", path, "--as-sent").stdout
    for part in (
        "$ ls\na\nb",
        "(thinking) hmm",
        "look\n(image image/png)",
        "from an extension",
        "the summary",
    ):
        assert part in shown
    data = data_of(run, path, "--window", 50_000)
    assert data["messages"] == 6


def test_a_system_message_shows_its_sections(run, project):
    """The system prompt that pi 1.3.0 stores is readable as well."""
    story = Story()
    story.message("system", content="", sections={"preamble": "You help.", "gone": None, "rules": "Be brief."})
    shown = run("context", story.user("start").write(project / "s.jsonl"), "--as-sent").stdout
    assert shown.startswith("--- 1 system\nYou help.\nBe brief.\n--- 2 user\nstart\n")


def test_an_execution_can_be_shed(run, project):
    """A command of the user is listed like the tools' outputs."""
    story = Story().user("start")
    output = "line of output\n" * 900
    story.message("bashExecution", command="make", output=output, exitCode=0, cancelled=False, truncated=False)
    story.reply().user().calls(9).reply()
    (first, *_) = data_of(run, story.write(project / "s.jsonl"), "--window", 50_000)["sheddable"]
    assert first["tool"] == "bash"
    assert first["currentTurn"] is False


HOSTILE = "evil\x1b]0;owned\x07\x1b[2J\r\u202e\ud800"


def test_hostile_words_are_shown_not_obeyed(run, project):
    """Names and texts of a session are escaped in every text view."""
    (project / ".pi" / "settings.json").write_text(json.dumps({"leafscar": {"pins": [HOSTILE]}}))
    story = Story(model=HOSTILE).user(HOSTILE)
    for _ in range(12):
        story.call(HOSTILE * 400, name=f"read{HOSTILE}", path=HOSTILE)
    path = story.reply(HOSTILE).write(project / f"h{HOSTILE[:5]}.jsonl")
    for args in ((), ("--as-sent",), ("--window", 30_000)):
        result = run("context", path, *args)
        assert result.exit_code == 0
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(result.output)
    assert run("context", path, "--json").stdout.isascii()


def test_another_branch_has_its_own_model_and_window(run, project):
    """--at looks at the model and the window of the branch that the entry stands on."""
    story = Story(model="claude-opus-4-5")
    story.add("model_change", provider="anthropic", modelId="claude-opus-4-5")
    story.user("start").reply().user("this way").reply()
    leaf, first = story.entries[-1]["id"], story.entries[1]["id"]
    story.model, story.provider = "gpt-4o", "openai"
    story.add("message", message={"role": "user", "content": "but this way", "timestamp": 0})
    story.entries[-1]["parentId"] = story.entries[2]["id"]
    path = story.reply().write(project / "s.jsonl")
    assert data_of(run, path)["window"]["tokens"] == 128_000
    assert data_of(run, path, "--at", leaf)["window"]["tokens"] == 200_000
    assert data_of(run, path, "--at", first)["window"]["tokens"] == 200_000


def test_unknown_policy_and_folder(run, session, project):
    """A wrong policy ends with 1, a folder that is not there with 2."""
    assert run("context", session, "--policy", "best").exit_code == 1
    assert run("context", session, "--cwd", project / "gone").exit_code == 2
    assert run("context", session, "--cwd", project).exit_code == 0


def test_a_control_is_what_a_host_would_start_with(session, project):
    """The same settings, window and moves as a host that opens the session now."""
    (project / ".pi" / "settings.json").write_text('{"leafscar": {"policy": "thrifty", "windowCap": 90000}}')
    control = control_of(load(session))
    assert control.controller.policy.name == "thrifty"
    assert control.controller.lines.window == 90_000
    assert control.controlled is False


def test_context_and_replay_draw_the_same_lines(run, session, project):
    """One reading of settings, window and model stands behind both commands."""
    overrides = {"anthropic/claude-sonnet-4-5": {"reserveTokens": 30_000, "keepRecentTokens": 9_000}}
    (project / ".pi" / "settings.json").write_text(json.dumps({"compaction": {"modelOverrides": overrides}}))
    data = data_of(run, session, "--policy", "compaction")
    replay = run("replay", session, "--policy", "compaction", "--json", "-")
    (found,) = json.loads(replay.stdout)["sessions"]
    assert data["lines"] == found["policies"][0]["lines"] == {"threshold": 170_000, "cut": 170_000}
    assert data["window"] == {"tokens": found["window"], "source": found["window_source"]}
    plan = json.loads(run("compact", session, "--json").stdout)
    assert plan["keepRecent"] == 9_000


ODD_CONTENTS = [5, {"text": "x"}, True, [5], ["x", None], [["x"]], [{"type": ["text"]}], [{}], "", None]


@pytest.mark.parametrize("content", ODD_CONTENTS)
@pytest.mark.parametrize("role", ["user", "assistant", "toolResult", "custom", "system", "unheard-of", 5])
def test_content_of_any_shape_is_shown(run, project, content, role):
    """What stands where text or parts should be is shown as it is, and no command ends in a traceback."""
    story = Story().user("start")
    story.message(role, content=content)
    path = story.reply("done").write(project / "s.jsonl")
    for args in (["--as-sent"], ["--as-sent", "--json"], [], ["--json"]):
        result = run("context", path, "--window", 50_000, *args)
        assert result.exit_code == 0, result.output
    if role == "user" and content == ["x", None]:
        shown = run("context", path, "--window", 50_000, "--as-sent").stdout
        assert "--- 2 user\n(not in pi's shape) \"x\"\n(not in pi's shape) null\n" in shown
