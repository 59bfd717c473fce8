import json

import pytest
from tests.formats.jsonl import (
    FIXTURES,
    RECORDED,
    branch,
    broken,
    calls,
    check,
    context,
    kinds,
    lines,
    messages,
    numbered,
    responses,
    text,
    tokens,
)

from leafscar.errors import SessionRefused
from leafscar.formats.managed_agents import FORMAT, read_managed_agents, sniff

HERE = FIXTURES / FORMAT
FILES = {path.name: path.read_bytes() for path in sorted(HERE.glob("*.jsonl"))}


def fixture(name):
    """Reading of one of our own files."""
    return check(read_managed_agents(numbered(FILES[name])))


def event(kind, id_=None, **fields):
    """One event of a session."""
    named = {"id": id_} if id_ else {}
    return {"type": kind, **named, "processed_at": "2026-08-16T09:36:02Z", **fields}


def read(*events):
    """Reading of events."""
    return check(read_managed_agents(lines(*events)))


# --- sniffing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_our_files_are_known_by_their_head(name):
    """A few hundred bytes are enough, even when they end inside a line."""
    assert sniff(FILES[name], name)
    assert sniff(FILES[name][:100], name)


@pytest.mark.parametrize(
    ("head", "known"),
    [
        (b'{"type": "user.message", "id": "sevt_1", "processed_at": null, "content": "' + b"x" * 70_000, True),
        (b'{"type":"agent.message","id":"e","processed_at":"t"}\n', True),
        (b'{"raw":{"type":"agent.message","id":"e","processed_at":"t"}}\n', True),
        (b'{"type":"agent.message","id":"e"}\n', False),
        (b'{"type":"message.agent","id":"e","processed_at":"t"}\n', False),
        (b'{"type":"agent","id":"e","processed_at":"t"}\n', False),
        (b'{"type":5,"id":"e","processed_at":"t"}\n', False),
        (b'{"type":[],"id":"e","processed_at":[],"payload":[]}\n', False),
        (b'{"type":[],"payload":{}}\n', False),
        (b"", False),
        (b"\0\xff\n[1]\n5\n", False),
    ],
)
def test_other_heads_are_left_to_other_readers(head, known):
    """Only session events are claimed, and nothing makes the look raise."""
    assert sniff(head, "x.jsonl") is known


# --- a whole session ---------------------------------------------------------------------------------


def test_a_session_reads_as_one_conversation():
    """An outcome is the prompt, what a grader said was sent, and states of the session are left out."""
    reading = fixture("wrapped.jsonl")
    assert (reading.format, reading.header.version, reading.window) == (FORMAT, 3, None)
    assert reading.header.timestamp == "2026-03-04T09:00:07.250Z"
    assert kinds(reading) == [
        *("user", "assistant", "toolResult", "toolResult", "assistant"),
        "managed_agents.span.outcome_evaluation_start",
        "managed_agents.span.outcome_evaluation_end",
        *("assistant", "managed_agents.session.usage", "toolResult", "managed_agents.user.interrupt"),
    ]
    assert messages(reading)[0]["content"] == [text("Weigh the parcels."), text("- every parcel has a weight")]
    assert reading.entries[6]["content"] == [text("Parcel 2 has no weight.")]
    assert len(context(reading)) == 8


def test_one_request_is_one_response_with_its_bill():
    """What was written between start and end belongs together; thoughts without words keep their place."""
    reading = fixture("wrapped.jsonl")
    first, _, third = responses(reading)
    assert [type(part).__name__ for part in first.content] == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert (first.provider, first.api, first.model) == ("anthropic", "anthropic-messages", None)
    assert (first.stop_reason, first.usage.total_tokens) == ("toolUse", 3092)
    assert third.usage.output == 25
    assert tokens(reading) == {"input": 6, "cache_read": 6200, "cache_write": 3300, "output": 135, "peak": 3327}


def test_results_answer_the_event_of_their_call():
    """Search hits are read as text, images keep their data, nothing is an empty text."""
    first, second, third = messages(fixture("wrapped.jsonl"), "toolResult")
    assert (first["toolCallId"], first["toolName"], first["isError"]) == ("sevt_t1", "bash", False)
    assert second["content"] == [
        text("Weights\nhttps://example.org/w\nmost weigh 4 kg"),
        {"type": "image", "mimeType": "image/jpeg", "data": "cGlj"},
    ]
    assert (third["content"], third["isError"]) == ([text("")], True)


def test_it_says_what_it_cannot_tell():
    """Each sentence comes from this file."""
    unknown = fixture("wrapped.jsonl").unknown
    assert "It does not name the model." in unknown
    assert "It notes 1 thought of the model without the words." in unknown
    assert "What graders used stands beside the conversation and is in no response." in unknown


# --- threads, other tools, cuts ----------------------------------------------------------------------


def test_threads_of_other_agents_stand_apart():
    """What they told the main one is in its conversation, their own words are not."""
    reading = fixture("threads.jsonl")
    assert reading.parents.count(-1) == 2
    assert "Beside the main conversation it holds 1 thread of other agents." in reading.unknown
    helper = next(entry for entry in reading.entries if "Nothing left." in str(entry.message_data)).id
    assert [entry.message_data["content"] for entry in branch(reading, helper)] == [
        [text("I will check 1851."), text("Nothing left.")]
    ]


def test_tools_of_servers_and_clients_are_tools_like_others():
    """Each kind of result names its call in a field of its own."""
    reading = fixture("threads.jsonl")
    assert [call.name for call in calls(reading)] == ["list_stamps", "ask_owner"]
    results = messages(reading, "toolResult")
    assert [message["toolName"] for message in results] == ["list_stamps", "ask_owner"]
    assert [message["content"] for message in results] == [[text("1840, 1851")], [text("yes")]]
    assert broken(branch(reading)) == ([], [])


def test_an_event_that_was_written_again_counts_once():
    """A message is noted when it is queued and when it was taken."""
    reading = fixture("threads.jsonl")
    assert [(problem.kind, problem.line) for problem in reading.problems] == [("duplicate-id", 2)]
    assert messages(reading, "user")[0]["content"] == [text("Sort the stamps.")]


def test_a_cut_is_noted_without_its_summary():
    """What was kept is not recorded."""
    reading = fixture("threads.jsonl")
    cut = next(entry for entry in reading.entries if entry.type == "compaction")
    assert (cut["summary"], cut["firstKeptEntryId"]) == ("", cut.id)
    assert "trigger" not in cut.data
    assert "It does not say what 1 cut kept, nor the summary." in reading.unknown


def test_a_message_that_was_never_taken_was_not_sent():
    """It is noted, and no prompt."""
    reading = read(event("user.message", "e", content=[text("later")], processed_at=None))
    assert kinds(reading) == ["managed_agents.user.message.unprocessed"]


def test_a_thread_alone_is_the_main_conversation():
    """The list of one thread's events names it everywhere."""
    reading = read(
        event("agent.message", "a", session_thread_id="t", content=[text("x")]),
        event("session.note", "n"),
    )
    assert [entry.id for entry in branch(reading)] == ["a"]


# --- responses ---------------------------------------------------------------------------------------


def test_without_spans_a_response_ends_where_something_is_sent():
    """Old lists have no spans; a result, a message or an injected text ends it."""
    reading = read(
        event("agent.message", content=[text("a")]),
        event("agent.tool_use", "t", name="bash", input=None),
        event("agent.tool_result", tool_use_id="t", content="ok"),
        event("agent.message", content=[text("b")]),
        event("system.message", content="note"),
        event("agent.message", content=[text("c")]),
        event("user.message", content="go on"),
        event("agent.message", content=[text("d")]),
    )
    assert [len(response.content) for response in responses(reading)] == [2, 1, 1, 1]
    assert calls(reading)[0].arguments == {}


def test_a_result_inside_a_request_does_not_end_it():
    """A tool may be done before the response is."""
    reading = read(
        event("span.model_request_start"),
        event("agent.tool_use", "t", name="bash", input={}),
        event("agent.tool_result", tool_use_id="t", content="ok"),
        event("agent.tool_use", "u", name="bash", input={}),
        event("span.model_request_end", model_usage={"input_tokens": 5, "output_tokens": 1}, model="claude-x"),
        event("agent.tool_result", tool_use_id="u", content="ok"),
    )
    (response,) = responses(reading)
    assert (len(response.content), response.usage.total_tokens, response.model) == (2, 6, "claude-x")
    assert broken(branch(reading)) == ([], [])
    assert "It does not name the model." not in reading.unknown


@pytest.mark.parametrize(
    ("end", "stops"),
    [
        ({"is_error": True}, ["error"]),
        ({"model_usage": {"input_tokens": 5, "output_tokens": 0}}, ["stop"]),
        ({"model_usage": None}, []),
    ],
)
def test_a_request_without_words_leaves_what_was_billed_or_failed(end, stops):
    """An end that states nothing leaves nothing."""
    reading = read(event("span.model_request_start"), event("span.model_request_end", **end), event("user.interrupt"))
    assert [response.stop_reason for response in responses(reading)] == stops


def test_thoughts_keep_their_words_where_they_are_recorded():
    """As a field or as content."""
    reading = read(
        event("agent.thinking", thinking="hm"),
        event("agent.thinking", content=[text("well"), {"type": "other"}]),
    )
    assert [part.thinking for part in responses(reading)[0].content] == ["hm", "well\n"]
    assert not any("thought" in sentence for sentence in reading.unknown)


def test_a_late_result_goes_up_to_its_call():
    """A result after the next message moves before it; one without a call stays where it is."""
    reading = read(
        event("agent.tool_use", "t", name="bash", input={}),
        event("user.message", "m", content="meanwhile"),
        event("user.tool_result", "r", tool_use_id="t", content="ok"),
        event("agent.tool_result", "s", content="gone"),
        event("session.error", "x" * 100),
    )
    assert [entry.id for entry in branch(reading)] == ["t", "r", "m", "s", "x" * 100]
    assert broken(branch(reading)) == ([""], [])


# --- files that are damaged --------------------------------------------------------------------------


def test_lines_that_are_no_events_are_gone_around():
    """Each is a problem of its own kind; events without an id go by their line."""
    raws = [b"nope", b"{}", b'{"raw":5,"type":"x.y"}', json.dumps(event("agent.message", content="x")).encode(), b"{"]
    reading = check(read_managed_agents(lines(*raws)))
    assert [(problem.kind, problem.line) for problem in reading.problems] == [
        ("broken-line", 1),
        ("torn-tail", 5),
        ("no-type", 2),
        ("no-type", 3),
    ]
    assert [entry.id for entry in reading.entries] == ["line4"]


@pytest.mark.parametrize("items", [[], [b"nope"], [{"a": 1}], [{"type": "user"}]])
def test_a_file_without_any_event_is_refused(items):
    """The words say what to name instead."""
    with pytest.raises(SessionRefused, match=r"no event of a session in it; name the list"):
        read_managed_agents(lines(*items))


# --- a recording from outside ------------------------------------------------------------------------


@pytest.mark.skipif(not RECORDED.is_dir(), reason=f"no recordings in {RECORDED}; set LEAFSCAR_SHARED")
def test_the_recording_adds_up_to_what_others_counted():
    """Requests, calls, sums and peak are the same, and every pair is whole."""
    data = (RECORDED / "managed-agents" / "open-hai-cursor-offset.jsonl").read_bytes()
    assert sniff(data[:65_536], "x")
    reading = check(read_managed_agents(numbered(data)))
    assert (len(responses(reading)), len(calls(reading))) == (95, 104)
    sums = {"input": 190, "cache_read": 11_750_996, "cache_write": 222_768, "output": 122_199, "peak": 214_506}
    assert tokens(reading) == sums
    assert broken(branch(reading)) == ([], [])
    assert reading.problems == ()
