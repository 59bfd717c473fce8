"""OpenHands' own store: a folder with a file for each event."""

import json
from pathlib import Path

import pytest

from leafscar.errors import SessionRefused
from leafscar.replay import find_sessions
from leafscar.session import load, openhands_files, recall
from leafscar.session.openhands_files import conversation_of, is_conversation

FIXTURES = Path(__file__).parents[1] / "data/formats/openhands"
METRICS = {
    "accumulated_token_usage": {"prompt_tokens": 9000, "context_window": 200_000},
    "token_usages": [{"response_id": "resp-1", "prompt_tokens": 4100, "completion_tokens": 80}],
}
STATE = {
    "id": "conv-1",
    "agent": {"llm": {"model": "anthropic/claude-sonnet-4-5"}},
    "stats": {"usage_to_metrics": {"agent": METRICS, "odd": 5}},
}


def events_v1():
    """Events of the fixture."""
    return [json.loads(line) for line in (FIXTURES / "events.jsonl").read_text().splitlines() if line.startswith("{")]


def stored(folder, events, state=STATE, name="event-{:05}-{}.json"):
    """Write a conversation as it is stored."""
    (folder / "events").mkdir(parents=True)
    for number, event in enumerate(events):
        (folder / "events" / name.format(number, f"ab{number}")).write_text(json.dumps(event, indent=1))
    if state is not None:
        (folder / "base_state.json").write_text(json.dumps(state))
    return folder


def test_a_conversation_reads_like_its_events(tmp_path):
    """Entries and ids are those of the same events in one file; the state adds id, model, window and usage."""
    folder = stored(tmp_path / "conv", events_v1())
    session, lines = load(folder), load(FIXTURES / "events.jsonl")
    assert session.format == "openhands"
    assert [entry.id for entry in session.entries] == [entry.id for entry in lines.entries]
    assert (session.header.id, session.recorded_window) == ("conv-1", 128_000)
    first = next(entry.message for entry in session.entries if (entry.message_data or {}).get("role") == "assistant")
    assert (first.provider, first.model) == ("anthropic", "claude-sonnet-4-5")
    assert session.size > 1000
    result = next(entry for entry in session.entries if (entry.message_data or {}).get("role") == "toolResult")
    reference = session.reference_for(result)
    assert (reference, recall(session, reference).text) == (result.id, "red\nwhite")
    assert [entry.id for entry in load(folder / "events").entries] == [entry.id for entry in session.entries]


def test_the_state_alone_tells_usage(tmp_path):
    """Where no event carries the counts, those beside the events are taken."""
    events = [event for event in events_v1() if event["kind"] != "ConversationStateUpdateEvent"]
    session = load(stored(tmp_path / "conv", events))
    first = next(entry.message for entry in session.entries if (entry.message_data or {}).get("role") == "assistant")
    assert (first.usage.prompt, session.recorded_window) == (4100, 200_000)
    assert load(stored(tmp_path / "bare", events, state=None)).recorded_window is None


def test_events_of_version_0_come_in_the_order_of_their_numbers(tmp_path):
    """Ten comes behind nine; entries are those of the trajectory."""
    trajectory = json.loads((FIXTURES / "trajectory.json").read_text())
    folder = stored(tmp_path / "conv", trajectory, state=None, name="{}.json")
    assert len(trajectory) > 10
    assert [entry.id for entry in load(folder).entries] == [
        entry.id for entry in load(FIXTURES / "trajectory.json").entries
    ]


def test_a_folder_of_conversations_holds_one_session_each(tmp_path):
    """Neither events nor states count as sessions of their own; other files beside them do."""
    one, two = stored(tmp_path / "one", events_v1()), stored(tmp_path / "two", events_v1())
    (tmp_path / "z.json").write_bytes((FIXTURES / "trajectory.json").read_bytes())
    assert find_sessions([tmp_path]) == [one, two, tmp_path / "z.json"]
    assert find_sessions([one]) == [one]
    assert is_conversation(one)
    assert not is_conversation(tmp_path)
    assert conversation_of(one / "events" / "event-00000-ab0.json") == one
    assert conversation_of(one / "base_state.json") == one
    assert conversation_of(tmp_path / "base_state.json") is None


def test_damage_is_gone_around(tmp_path):
    """Files that hold no object, or cannot be read, are named; without any event it is no conversation."""
    folder = stored(tmp_path / "conv", events_v1())
    (folder / "base_state.json").write_text("{")
    (folder / "events" / "event-99998-x.json").write_text("[")
    (folder / "events" / "event-99999-x.json").symlink_to(tmp_path / "nowhere")
    (folder / "events" / "notes.txt").write_text("x")
    session = load(folder)
    assert [problem.message for problem in session.problems] == [
        f"event-{number}-x.json holds no object, skipped" for number in (99998, 99999)
    ]
    broken = stored(tmp_path / "broken", ["x"], state=None)
    with pytest.raises(SessionRefused, match="a folder without a session"):
        load(broken)
    with pytest.raises(SessionRefused, match="no events of OpenHands"):
        load(stored(tmp_path / "other", [{"a": 1}], state=None))
    with pytest.raises(SessionRefused, match="not a regular file"):
        load(tmp_path)


def test_limits(tmp_path, monkeypatch):
    """A conversation over the limit of a document, and a name that no file may have, are refused."""
    folder = stored(tmp_path / "conv", events_v1())
    monkeypatch.setattr(openhands_files, "MAX_DOCUMENT_BYTES", 500)
    with pytest.raises(SessionRefused, match="its events are over"):
        load(folder)
    with pytest.raises(SessionRefused):
        load("x" * 5000)
