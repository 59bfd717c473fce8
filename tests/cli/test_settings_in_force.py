"""What settings files say holds in the commands, and what a fork carried over still means the same."""

import json

import pytest
from tests.replay.sessions import Story


def sent(run, session, *args):
    """Texts of the outgoing messages."""
    result = run("context", session, "--as-sent", "--json", "--window", 60_000, *args)
    assert result.exit_code == 0, result.output
    return json.dumps(json.loads(result.stdout))


def test_a14_110_pruning_disabled_in_the_project_file(run, session, project):
    """Nothing is shed where the project switched level 1 off, whatever the pressure."""
    assert " pruned: " in sent(run, session, "--policy", "fewest-cuts")
    (project / ".pi" / "settings.json").write_text('{"pruning": {"enabled": false}}')
    assert " pruned: " not in sent(run, session, "--policy", "fewest-cuts")


def test_what_the_plan_shows_is_what_is_asked(run, session, project):
    """With an unknown window the plan keeps the usual 20,000 tokens, and the request covers the rest of it."""
    story = session.read_text().replace("claude-sonnet-4-5", "nobody-knows-this-model").replace("anthropic", "nobody")
    session.write_text(story)
    data = json.loads(run("compact", session, "--json").stdout)
    assert data["keepRecent"] == 20_000
    assert data["cut"]["kept"]["tokens"] <= 20_000 < data["cut"]["kept"]["tokens"] + data["cut"]["turnPrefix"]["tokens"]


def test_keep_recent_of_the_settings_holds(run, session, project):
    """A smaller tail that a settings file states is kept; a larger one than the threshold allows is not."""
    tails = []
    for keep in (2_000, 900_000):
        (project / ".pi" / "settings.json").write_text(json.dumps({"compaction": {"keepRecentTokens": keep}}))
        tails.append(json.loads(run("compact", session, "--json").stdout)["keepRecent"])
    assert tails == [2_000, 20_000]


@pytest.fixture
def forked(project):
    """A fork that lost a label on the way, so that its lines moved up by one since its recall call was written."""
    story = Story()
    story.user()
    label = story.add("label", targetId="00000001", label="start")
    for call, text in (("c1", "the recalled output\n"), ("c2", "another output\n")):
        _exchange(story, call, "bash", {"command": "cat"}, text * 400)
    _exchange(story, "c3", "recall", {"ref": "#5"}, "the recalled output\n" * 400)
    for number in range(4):
        story.user(f"and then {number}")
        _exchange(story, f"d{number}", "bash", {"command": "cat"}, "more\n" * 6_000)
    story.write(project / "parent.jsonl")
    header, *entries = map(json.loads, (project / "parent.jsonl").read_text().splitlines())
    header |= {"id": "fork", "timestamp": "2036-01-01T00:00:00.000Z", "parentSession": "parent.jsonl"}
    kept = [{**each, "parentId": "00000001"} if each["parentId"] == label else each for each in entries]
    path = project / "fork.jsonl"
    path.write_text("".join(json.dumps(each) + "\n" for each in (header, *kept) if each.get("id") != label))
    return path


def _exchange(story, call, name, arguments, text):
    content = [{"type": "toolCall", "id": call, "name": name, "arguments": arguments}]
    usage = {"input": 3, "output": 20, "cacheRead": 50_000, "cacheWrite": 10, "totalTokens": 50_033}
    model = {
        "provider": story.provider,
        "model": story.model,
        "api": story.api,
        "usage": usage,
        "stopReason": "toolUse",
    }
    story.message("assistant", content=content, **model)
    part = [{"type": "text", "text": text}]
    story.message("toolResult", toolCallId=call, toolName=name, content=part, isError=False)


def test_a_recall_from_before_a_fork_still_names_its_output(run, forked):
    """The marker of an inherited recall result names the line where the fork holds what was recalled then."""
    shown = sent(run, forked, "--policy", "fewest-cuts")
    assert "[recall pruned: ~2.0k tokens. recall #4 for full output.]" in shown
    assert run("recall", forked, "#4").stdout.startswith("the recalled output")
