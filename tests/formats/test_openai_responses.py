import pytest
from tests.formats.documents import fixture, fixtures, kinds, raw, rows
from tests.formats.jsonl import RECORDED, branch, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.openai_responses import FORMAT, read_openai_responses, sniff

FILES = fixtures(FORMAT)


def read(*items):
    """Reading of a list of items."""
    return check(read_openai_responses(raw(list(items))))


def said(text, **fields):
    """A message of the model's."""
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}], **fields}


def test_exchanges_are_read():
    """Reasoning, calls and words without a result between are one response; ids that were joined are split."""
    reading = check(read_openai_responses(fixture(FORMAT, "exchanges.jsonl")))
    assert kinds(reading)[:5] == ["system", "user", "assistant", "toolResult", "assistant"]
    first, second = messages(reading, "assistant")[:2]
    assert [part["type"] for part in first["content"]] == ["thinking", "toolCall"]
    assert first["content"][0] == {"type": "thinking", "thinking": "Ask the table.", "thinkingSignature": "Z0FB"}
    assert messages(reading, "toolResult")[0]["toolCallId"] == "call_1"
    assert first["usage"] == {"input": 1200, "output": 40, "cacheRead": 0, "totalTokens": 1240}
    assert second["usage"] == {"input": 108, "output": 8, "cacheRead": 1152, "totalTokens": 1268}
    assert (first["stopReason"], first["model"], first["provider"]) == ("toolUse", "gpt-5.4-2026", "openai")


def test_requests_go_on_from_a_response():
    """A request that names a response continues it; its repeated instructions are there once."""
    reading = read_openai_responses(fixture(FORMAT, "exchanges.jsonl"))
    low = next(entry for entry in reading.entries if (entry.message_data or {}).get("content") == "And low tide?")
    assert [(e.message_data or {}).get("role") for e in branch(reading, low.id)].count("system") == 1
    thanks = next(entry for entry in reading.entries if (entry.message_data or {}).get("content") == "Thanks.")
    assert [type(message).__name__ for message in context(reading, thanks.id)] == ["CompactionSummary", "User"]
    assert any("What stood before 1 request" in sentence for sentence in reading.unknown)
    assert [m.get("errorMessage") for m in messages(reading, "assistant") if m["stopReason"] == "error"] == [
        "not found"
    ]


def test_compactions_are_cuts():
    """A cut behind a response keeps nothing; user messages that stand alone before one are still read."""
    reading = read_openai_responses(fixture(FORMAT, "exchanges.jsonl"))
    behind, asked, inside = [entry for entry in reading.entries if entry.type == "compaction"]
    assert behind.get("firstKeptEntryId") == behind.id
    assert (asked.get("tokensBefore"), asked.get("usage")["output"]) == (70, 30)
    assert inside.get("firstKeptEntryId") != inside.id
    names = [type(message).__name__ for message in context(reading)]
    assert names == ["CompactionSummary", "User", "User", "Assistant"]
    assert messages(reading, "assistant")[-1]["stopReason"] == "length"
    assert "The summary of 3 encrypted cuts cannot be read." in reading.unknown
    worked = read({"role": "user", "content": "a"}, said("b"), {"type": "compaction"}, {"role": "user", "content": "c"})
    assert [type(message).__name__ for message in context(worked)] == ["CompactionSummary", "User"]


def test_items_are_read():
    """Free-text calls keep their text; calls of built-in tools stay as they are."""
    reading = check(read_openai_responses(fixture(FORMAT, "items.json")))
    assert kinds(reading) == ["system", "user", "assistant", "toolResult", "assistant"]
    assert calls(reading)[0].arguments == "*** Begin"
    assert [part["type"] for part in messages(reading, "user")[0]["content"]] == ["text", "image"]
    assert [part["type"] for part in messages(reading, "assistant")[1]["content"]] == ["web_search_call", "text"]


def test_items_of_all_kinds_are_read():
    """Files, refusals, odd parts, plain texts, tools that came later."""
    reading = read(
        {
            "role": "user",
            "content": [{"type": "input_file", "file_id": "f"}, {"type": "odd"}, {"type": "input_text", "text": ""}],
        },
        {"type": "message", "role": "assistant", "content": "plain"},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "no"}]},
        {"type": "additional_tools", "tools": [{"type": "function", "name": "n"}]},
        {"type": "additional_tools"},
        {"type": "function_call", "id": "fc", "name": "f", "arguments": ""},
        {"type": "function_call_output", "call_id": "fc", "output": None},
        {"type": "reasoning", "content": [{"text": "deep"}]},
    )
    assert kinds(reading) == ["user", "assistant", "system", "assistant", "toolResult", "assistant"]
    assert [part["type"] for part in messages(reading, "user")[0]["content"]] == ["image", "text"]
    assert [part["text"] for part in messages(reading, "assistant")[0]["content"]] == ["plain", "no"]
    assert messages(reading, "assistant")[2]["content"] == [{"type": "thinking", "thinking": "deep"}]


@pytest.mark.parametrize(
    ("events", "stop", "error"),
    [
        ([{"type": "response.completed", "response": {"status": "completed", "output": [said("x")]}}], "stop", None),
        (
            [
                {"type": "response.output_item.done", "item": said("x")},
                {"type": "response.incomplete", "response": {"status": "incomplete", "output": []}},
            ],
            "length",
            None,
        ),
        (
            [
                {"type": "response.created", "response": {"id": "r", "model": "m"}},
                {"type": "response.output_item.done", "item": said("x")},
                {"type": "error", "error": {"message": "broke"}},
            ],
            "error",
            "broke",
        ),
        ([{"type": "response.output_item.done", "item": said("x")}], "length", None),
    ],
)
def test_streams_end_in_a_response(events, stop, error):
    """The last event holds the response; a stream that was cut off is made of its finished items."""
    (message,) = messages(check(read_openai_responses(rows(*events))))
    assert (message["stopReason"], message.get("errorMessage")) == (stop, error)
    assert message["content"][0]["text"] == "x"


def test_responses_of_all_shapes_are_read():
    """A response with nothing but a cut, one with nothing, one that was cancelled, a conversation."""
    cut = check(read_openai_responses(raw({"object": "response", "output": [{"type": "compaction"}]})))
    assert kinds(cut) == ["assistant", "compaction"]
    empty = check(read_openai_responses(raw({"object": "response", "output": [], "status": "cancelled"})))
    assert messages(empty)[0]["stopReason"] == "aborted"
    body = {"model": "m", "conversation": {"id": "conv"}, "input": "a", "tools": [{"name": "t"}]}
    line = {
        "request": {"url": "https://api.openai.com/v1/responses", "body": body},
        "response": {"body": {"output": [said("b")]}},
    }
    again = {**line, "request": {**line["request"], "body": {**body, "conversation": "conv", "input": "c"}}}
    reading = check(read_openai_responses(rows(line, again)))
    assert kinds(reading) == ["system", "user", "assistant", "user", "assistant"]
    assert reading.parents == (-1, 0, 1, 2, 3)
    nothing = {**line, "response": {"body": {"object": "response"}}}
    assert kinds(check(read_openai_responses(rows(nothing)))) == ["system", "user"]


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b"{}", b'{"input":5}', b"[" * 100_000])
def test_other_files_are_refused(data):
    """What holds no item is refused."""
    with pytest.raises(SessionRefused, match="no messages in the shape of openai_responses"):
        read_openai_responses(data)


def test_sniffing():
    """Items, bodies, exchanges and streams are known by their head; other wires are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
    assert sniff(raw({"model": "m", "input": "x"}), "x.json")
    assert sniff(raw({"type": "response.created", "response": {}}), "x.txt")
    for other in (b"", raw({"input": "x"}), raw({"messages": []}), raw({"choices": []})):
        assert not sniff(other, "x.json")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "sums"),
    [
        ("openai_conversation_id_tool_call_continuation.jsonl", (145, 0, 0, 23)),
        ("openai_live_delta_preserves_the_warmed_cache_prefix.jsonl", (534, 0, 0, 59)),
        ("openai_responses_compact_messages.jsonl", (378, 0, 0, 26)),
        ("openai_responses_compact_stateful_mode.jsonl", (1859, 0, 0, 1961)),
        ("openai_responses_history_with_combined_tool_call_id.jsonl", (103, 0, 0, 409)),
        ("openai_responses_prompt_cache_e2e.jsonl", (16, 4012, 4012, 10)),
        ("openai_responses_streaming_usage.jsonl", (53, 0, 0, 469)),
        ("openai_responses_thinking_with_modified_history.jsonl", (155, 0, 0, 603)),
        ("openai_responses_thinking_with_tool_calls.jsonl", (163, 2048, 0, 2050)),
        ("openai-compaction.1.json", (51_097, 0, 0, 2056)),
        ("openai-custom-tool.1.chunks.txt", (50, 0, 0, 20)),
        ("openai-error.1.chunks.txt", (0, 0, 0, 0)),
        ("openai-reasoning-encrypted-content.1.chunks.txt", (299, 0, 0, 12)),
        ("parallel-tool-call-wrapper.1.json", (34, 0, 0, 28)),
    ],
)
def test_recorded_counts(name, sums):
    """Counts of the recorded responses are what they state, and pairs hold."""
    reading = check(read_openai_responses((RECORDED / "wire-openai-responses" / name).read_bytes()))
    found = tokens(reading)
    assert tuple(found[key] for key in ("input", "cache_read", "cache_write", "output")) == sums
    made = {call.id for call in calls(reading)}
    assert {result["toolCallId"] for result in messages(reading, "toolResult")} <= made
