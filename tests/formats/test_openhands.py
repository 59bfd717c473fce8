import pytest
from tests.formats.documents import customs, fixture, fixtures, kinds, raw, rows
from tests.formats.jsonl import RECORDED, branch, broken, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.openhands import FORMAT, read_openhands, sniff
from leafscar.model.messages import text_of

FILES = fixtures(FORMAT)


def events(*items):
    """Reading of a trajectory of version 0."""
    return check(read_openhands(raw([{"id": at, "source": "agent", **item} for at, item in enumerate(items)])))


def later(*items):
    """Reading of events of version 1."""
    return check(read_openhands(raw({"events": [{"id": f"e{at}", **item} for at, item in enumerate(items)]})))


def named(context_):
    """Class names of messages."""
    return [type(message).__name__ for message in context_]


# --- version 0


def test_trajectories_are_read():
    """Actions are responses, observations their results; changes of state are left out, recalls are kept."""
    reading = check(read_openhands(fixture(FORMAT, "trajectory.json")))
    assert kinds(reading) == [
        "system",
        "user",
        "custom_message",
        "assistant",
        "toolResult",
        "assistant",
        "toolResult",
        "context_edit",
        "context_edit",
        "compaction",
        "assistant",
    ]
    assert reading.window == 200_000
    assert reading.header.timestamp == "2026-01-10T09:00:00.000000"
    prompt = messages(reading, "system")[0]
    assert prompt["toolsAdded"][0]["name"] == "execute_bash"
    assert [part["type"] for part in messages(reading, "user")[0]["content"]] == ["text", "image"]
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["text", "toolCall"]
    assert first["usage"] == {"input": 100, "output": 50, "cacheRead": 0, "cacheWrite": 2900, "totalTokens": 3050}
    assert (first["provider"], first["model"], first["api"]) == ("anthropic", "claude-sonnet-4-5", "openai-completions")
    good, bad = messages(reading, "toolResult")
    assert (good["content"][0]["text"], good["isError"]) == ("mug\njug\n[done]", False)
    assert (bad["isError"], bad["toolName"]) == (True, "str_replace_editor")
    assert text_of(reading.entries[2].message.content) == "Use metric units.\nLabels are 40 mm wide."


def test_ids_that_repeat_are_made_different():
    """Results belong to the action that caused them, for the tool repeats the ids of calls."""
    reading = read_openhands(fixture(FORMAT, "trajectory.json"))
    assert [call.id for call in calls(reading)] == ["toolu_01", "toolu_01-10", "toolu_02"]
    assert [result["toolCallId"] for result in messages(reading, "toolResult")] == ["toolu_01", "toolu_01-10"]


def test_a_condensation_keeps_what_stands_before_it():
    """What was forgotten is edited away; the first messages stay behind the summary, and the prompt is carried."""
    reading = read_openhands(fixture(FORMAT, "trajectory.json"))
    (cut,) = [entry for entry in reading.entries if entry.type == "compaction"]
    assert cut.get("summary") == "The shelf holds a mug and a jug."
    assert cut.get("tokensBefore") == 3100
    assert cut.get("firstKeptEntryId") == "e4"
    assert [edit.get("targetId") for edit in reading.entries if edit.type == "context_edit"] == ["e8", "e9"]
    assert named(context(reading)) == [
        "System",
        "CompactionSummary",
        "User",
        "Custom",
        "Assistant",
        "ToolResult",
        "Assistant",
    ]


def test_totals_that_hold_more_are_named():
    """Prompt tokens of requests that are no events, such as condensing ones, are counted."""
    metrics = {"accumulated_token_usage": {"prompt_tokens": 900}}
    usage = {"prompt_tokens": 400, "completion_tokens": 1}
    made = {"model_response": {"id": "r", "usage": usage}, "tool_call_id": "c"}
    reading = events({"action": "run", "tool_call_metadata": made, "llm_metrics": metrics})
    assert any("hold 500 prompt tokens more" in sentence for sentence in reading.unknown)


def test_condensations_of_all_shapes_are_read():
    """By ids, by a range, without a summary, of everything, of nothing."""
    say = {"source": "user", "action": "message", "args": {"content": "x"}}
    by_ids = events(say, say, say, {"action": "condensation", "args": {"forgotten_event_ids": [1, True, None]}})
    assert by_ids.entries[-1].get("summary") == ""
    assert named(context(by_ids)) == ["CompactionSummary", "User", "User"]
    everything = {"action": "condensation", "args": {"forgotten_events_start_id": 0, "forgotten_events_end_id": 1e18}}
    nothing_left = events(say, say, everything)
    assert nothing_left.entries[-1].get("firstKeptEntryId") == nothing_left.entries[-1].id
    twice = events(say, say, say, {**everything, "args": {"forgotten_event_ids": [1], "summary": "s"}}, everything)
    assert named(context(twice)) == ["CompactionSummary"]


def test_actions_of_one_response_are_one_message():
    """Parallel actions share a response; their results stand behind it."""
    response = {
        "id": "r1",
        "model": "gpt-5",
        "choices": [
            {
                "message": {
                    "content": "both",
                    "reasoning_content": "hm",
                    "tool_calls": [{"id": "a", "function": {"name": "f", "arguments": '{"x":1}'}}],
                },
                "finish_reason": "length",
            }
        ],
    }

    def made(call):
        return {"tool_call_id": call, "function_name": "f", "model_response": response}

    reading = events(
        {"action": "run", "args": {"command": "1"}, "tool_call_metadata": made("a")},
        {"observation": "run", "cause": 0, "content": "one"},
        {"action": "run", "args": {"command": "2", "thought": "t"}, "tool_call_metadata": made("b")},
        {"observation": "run", "cause": 2, "content": "two", "success": False},
    )
    assert kinds(reading) == ["assistant", "toolResult", "toolResult"]
    (message,) = messages(reading, "assistant")
    assert [part["type"] for part in message["content"]] == ["thinking", "text", "toolCall", "toolCall"]
    assert [call.arguments for call in calls(reading)] == [{"x": 1}, {"command": "2"}]
    assert message["stopReason"] == "length"
    assert message["model"] == "gpt-5"
    assert messages(reading, "toolResult")[1]["isError"]


def test_events_of_all_kinds_are_read():
    """Commands of the user, answers of the agent, errors without a cause, actions of the environment, bare actions."""
    reading = events(
        {"source": "user", "action": "run", "args": {"command": "ls"}},
        {"observation": "run", "cause": 0, "content": "a", "extras": {"metadata": {"exit_code": 2}}},
        {"action": "message", "args": {"content": "hi"}},
        {"source": "environment", "observation": "error", "content": "broke"},
        {"source": "environment", "action": "pause"},
        {"action": "think", "args": 5},
        {"source": "environment", "observation": "recall", "extras": {}},
        {"observation": "x", "content": ""},
        {"action": "system", "args": {}},
        {"action": "message", "message": "by message", "source": "user"},
        {"odd": 1},
    )
    assert kinds(reading) == [
        "bashExecution",
        "assistant",
        "custom_message",
        "custom",
        "assistant",
        "custom",
        "system",
        "user",
    ]
    assert messages(reading, "bashExecution")[0]["exitCode"] == 2
    assert customs(reading) == ["openhands.error", "openhands.pause", "openhands.recall"]
    assert calls(reading)[0].name == "think"
    assert text_of(reading.entries[-1].message.content) == "by message"
    assert any("1 recall put" in sentence for sentence in reading.unknown)


# --- version 1


def test_later_events_are_read():
    """Each line names its kind; actions of a response are one message, an error answers its call."""
    reading = check(read_openhands(fixture(FORMAT, "events.jsonl")))
    assert kinds(reading) == [
        "system",
        "user",
        "assistant",
        "toolResult",
        "toolResult",
        "assistant",
        "context_edit",
        "context_edit",
        "context_edit",
        "compaction",
        "user",
    ]
    assert reading.window == 128_000
    first, second = messages(reading, "assistant")
    assert [part["type"] for part in first["content"]] == ["thinking", "text", "toolCall", "toolCall"]
    assert first["usage"] == {"input": 500, "output": 80, "cacheRead": 3000, "cacheWrite": 500, "totalTokens": 4080}
    assert "usage" not in second
    good, bad = messages(reading, "toolResult")
    assert (good["toolCallId"], good["content"][0]["text"]) == ("call_a", "red\nwhite")
    assert (bad["toolCallId"], bad["isError"]) == ("call_b", True)
    assert [part["type"] for part in messages(reading, "user")[0]["content"]] == ["text", "image", "text"]
    assert [part["text"] for part in messages(reading, "system")[0]["content"]][1] == "Today is Monday."
    assert named(context(reading)) == ["System", "CompactionSummary", "User", "Assistant", "User"]
    assert reading.entries[2].line == 3


def test_later_events_of_all_shapes_are_read():
    """Plain texts, redacted thinking, reasoning, results without content, refusals, unknown kinds."""
    reading = later(
        {"kind": "MessageEvent", "source": "user", "llm_message": {"role": "user", "content": "plain"}},
        {
            "kind": "MessageEvent",
            "source": "agent",
            "llm_message": {"content": "", "thinking_blocks": [{"type": "redacted_thinking", "data": "ZA=="}]},
        },
        {"kind": "MessageEvent", "source": "agent", "llm_message": {"content": "a", "reasoning_content": "r"}},
        {"kind": "ActionEvent", "tool_call": {"id": "c", "function": {"name": "f", "arguments": "{}"}}},
        {"kind": "ObservationEvent", "action_id": "e3", "observation": {"kind": "x", "output": "o", "error": "bad"}},
        {"kind": "ObservationEvent", "tool_call_id": "z", "tool_name": "g", "observation": {"kind": "x", "rows": 3}},
        {"kind": "ObservationEvent", "tool_call_id": "y", "observation": {"content": "text"}},
        {"kind": "ObservationEvent", "tool_call_id": "w", "observation": {"kind": "x"}},
        {"kind": "UserRejectObservation", "tool_call_id": "v", "rejection_reason": "no"},
        {"kind": "Surprise"},
        {"kind": ""},
        {"kind": "PauseEvent"},
        {"kind": "Condensation", "id": None, "forgotten_event_ids": ["e0"]},
    )
    redacted, reasoned = messages(reading, "assistant")[:2]
    assert redacted["content"] == [{"type": "thinking", "thinking": "", "thinkingSignature": "ZA==", "redacted": True}]
    assert reasoned["content"][0] == {"type": "thinking", "thinking": "r"}
    texts = [result["content"][0]["text"] for result in messages(reading, "toolResult")]
    assert texts == ["o", '{"rows":3}', "text", "", "no"]
    assert [result["isError"] for result in messages(reading, "toolResult")] == [True, False, False, False, True]
    assert customs(reading) == ["openhands.Surprise", "openhands.event"]
    assert reading.entries[-1].type == "compaction"


# --- both


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b"{}", b'[{"id":1}]', b'{"events":[]}', b"[" * 100_000])
def test_other_files_are_refused(data):
    """What holds no events is refused."""
    with pytest.raises(SessionRefused, match="no events of OpenHands"):
        read_openhands(data)


def test_sniffing():
    """Lists, wrapped lists and lines are known by their head, other files are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
        assert sniff(data[:900], name)
    assert sniff(raw({"history": [{"id": 1, "source": "user", "action": "message"}]}), "x.json")
    for other in (
        b"",
        b"[]",
        b'[{"action":"x"}]',
        b'{"kind":"x"}',
        b'{"trajectory":[{"action":"ls"}]}',
        rows({"a": 1}),
    ):
        assert not sniff(other, "x.json")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "number", "sums"),
    [
        ("basic.json", 2, {"input": 10, "output": 1312, "cache_read": 3482, "cache_write": 4640, "peak": 4823}),
        (
            "tls-scanner-condensations.json",
            88,
            {"input": 3_312_892, "output": 15_755, "cache_read": 0, "cache_write": 0, "peak": 64_280},
        ),
    ],
)
def test_recorded_trajectories(name, number, sums):
    """The recorded trajectories give the totals that their index states; pairs hold although ids repeat."""
    reading = check(read_openhands((RECORDED / "openhands" / name).read_bytes()))
    assert len(calls(reading)) == number
    assert len({call.id for call in calls(reading)}) == number
    assert tokens(reading) == sums
    faults, _ = broken(branch(reading))
    finished = {call.id for call in calls(reading) if call.name == "finish"}
    assert set(faults) <= finished


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_condensations():
    """Three cuts, of which two overlap, and a total that is 162,447 prompt tokens larger than the responses."""
    reading = read_openhands((RECORDED / "openhands/tls-scanner-condensations.json").read_bytes())
    cuts = [entry for entry in reading.entries if entry.type == "compaction"]
    assert [cut.get("tokensBefore") for cut in cuts] == [64_280, 64_280, 34_613]
    assert {cut.get("firstKeptEntryId") for cut in cuts} == {"e4"}
    assert any("162,447" in sentence for sentence in reading.unknown)
    assert 3_312_892 + 162_447 == 3_475_339
