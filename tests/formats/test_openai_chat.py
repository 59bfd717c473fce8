import json

import pytest
from tests.formats.documents import fixture, fixtures, kinds, raw, rows
from tests.formats.jsonl import RECORDED, branch, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats._wire_chat import Conversation
from leafscar.formats._wire_log import log_format
from leafscar.formats.openai_chat import FORMAT, read_openai_chat, sniff

FILES = fixtures(FORMAT)


def read(*messages_, **fields):
    """Reading of a document with these messages."""
    return check(read_openai_chat(raw({"messages": list(messages_), **fields})))


def user(content):
    """A message of the user's."""
    return {"role": "user", "content": content}


def assistant(content=None, **fields):
    """A message of the model's."""
    return {"role": "assistant", "content": content, **fields}


def call(id_, name="f", arguments="{}"):
    """A tool call."""
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}


def exchange(messages_, body=None, url="https://api.openai.com/v1/chat/completions", **response):
    """A line with a request and its response."""
    answer = {"status": 200, **({} if body is None else {"body": body}), **response}
    return {"request": {"url": url, "body": {"model": "m", "messages": messages_}}, "response": answer}


def answered(text, **fields):
    """Body of a response."""
    return {
        "id": "r",
        "choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        **fields,
    }


# --- logs


def test_logs_are_read():
    """Messages of the model that follow each other are one response; results stay where they stand."""
    reading = check(read_openai_chat(fixture(FORMAT, "log.json")))
    assert kinds(reading) == ["system", "user", "assistant", "toolResult", "user", "toolResult", "assistant"]
    assert reading.header.id == "T-7"
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["text", "toolCall", "toolCall"]
    assert first["model"] == "claude-sonnet-4-6"
    assert [made.arguments for made in calls(reading)] == [{"bed": 3}, {"bed": 4}, {"bed": 3}]
    assert [result["content"][0]["text"] for result in messages(reading, "toolResult")] == ["dry", "moist"]
    assert "It is not what was sent: 1 result not right behind the call." in reading.unknown
    assert "None of its 2 responses states its usage." in reading.unknown


def test_contents_of_all_shapes_are_read():
    """Pictures, sounds, files, refusals, thinking under three names, unknown parts."""
    reading = read(
        user(
            [
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,QQ=="}},
                {"type": "image_url", "image_url": "https://example.org/a.png"},
                {"type": "input_audio", "input_audio": {"data": "UklG"}},
                {"type": "file", "file": {"file_id": "file-1"}},
                {"type": "odd", "x": 1},
                {"type": "text", "text": ""},
            ]
        ),
        assistant("a", reasoning_content="r1"),
        user("x"),
        assistant([{"type": "thinking", "thinking": "t", "signature": "s"}, {"type": "refusal", "refusal": "no"}]),
        user("y"),
        assistant("b", reasoning_details=[{"text": "d", "signature": "z"}, {"summary": "s"}]),
        user("z"),
        assistant(None, refusal="never", model="other", usage={"prompt_tokens": 5, "completion_tokens": 2}),
        {"role": "developer", "content": [{"type": "text", "text": "rule"}]},
        {"role": "robot", "content": "?"},
        {"role": "human", "content": None},
    )
    parts = messages(reading, "user")[0]["content"]
    assert [part["type"] for part in parts] == ["image", "image", "image", "image", "text"]
    assert parts[1]["data"] == "https://example.org/a.png"
    assert parts[4]["text"] == '{"type":"odd","x":1}'
    said = messages(reading, "assistant")
    assert said[0]["content"][0] == {"type": "thinking", "thinking": "r1"}
    assert [part["type"] for part in said[1]["content"]] == ["thinking", "text"]
    assert said[2]["content"][0] == {"type": "thinking", "thinking": "d", "thinkingSignature": "z"}
    assert said[3]["content"] == [{"type": "text", "text": "never"}]
    assert (said[3]["model"], said[3]["usage"]["totalTokens"]) == ("other", 7)
    assert messages(reading, "user")[-1]["content"] == []


def test_calls_of_all_shapes_are_read():
    """Old function calls, custom calls, calls as blocks, free text, calls and results without ids."""
    reading = read(
        user("go"),
        assistant(function_call={"name": "old", "arguments": '{"a":1}'}),
        {"role": "function", "name": "old", "content": "1"},
        assistant(tool_calls=[{"id": "c", "type": "custom", "custom": {"name": "patch", "input": '{"x":1}'}}]),
        {"role": "tool", "tool_call_id": "c", "content": "2", "is_error": True},
        assistant([{"type": "tool_call", "tool_call_id": "b", "name": "blk", "arguments": "free"}]),
        {"role": "tool", "content": [{"type": "tool_output", "text": "3"}]},
        assistant(tool_calls=[call(""), call(None, arguments="  "), call("z", arguments=None)]),
        {"role": "tool", "tool_call_id": "unknown", "content": "4"},
        {"role": "tool", "tool_call_id": "z", "content": "5"},
        {"role": "tool", "tool_call_id": "z", "content": "6"},
        {"role": "tool", "tool_call_id": "zz", "content": "7"},
        {"role": "tool", "tool_call_id": "zz", "content": "8", "timestamp": 1_780_000_000, "name": "late"},
    )
    assert [made.arguments for made in calls(reading)] == [{"a": 1}, '{"x":1}', "free", {}, {}, {}]
    results = messages(reading, "toolResult")
    assert [result["toolCallId"] for result in results][:4] == ["call-2-1", "c", "b", "call-8-1"]
    assert [result["toolCallId"] for result in results][4:] == ["z", "z", "call-8-2", "zz"]
    assert [result["isError"] for result in results][:2] == [False, True]
    assert (results[-1]["toolName"], results[-1]["timestamp"]) == ("late", 1_780_000_000_000)


def test_lists_and_lines_are_read():
    """A list of messages, one message a line, one conversation a line, and a list of exchanges."""
    told = [user("a"), assistant("b")]
    assert kinds(check(read_openai_chat(raw(told)))) == ["user", "assistant"]
    assert kinds(check(read_openai_chat(rows(*told)))) == ["user", "assistant"]
    conversations = check(read_openai_chat(rows({"messages": told}, {"messages": [user("a"), assistant("c")]})))
    assert conversations.parents == (-1, 0, 0)
    assert conversations.entries[2].line == 2
    listed = check(read_openai_chat(raw([exchange([user("a")], answered("b")), exchange([user("c")], answered("d"))])))
    assert kinds(listed) == ["user", "assistant", "user", "assistant"]
    alone = check(read_openai_chat(raw(exchange([user("a")], answered("b")))))
    assert kinds(alone) == ["user", "assistant"]


# --- exchanges


def test_exchanges_are_read():
    """What a request repeats is there once; a changed result is a branch; a failed request is an error."""
    reading = check(read_openai_chat(fixture(FORMAT, "exchanges.jsonl")))
    assert kinds(reading)[:4] == ["system", "user", "assistant", "toolResult"]
    assert [message["stopReason"] for message in messages(reading, "assistant")] == [
        "toolUse",
        "stop",
        "toolUse",
        "stop",
        "error",
    ]
    assert messages(reading, "assistant")[-1]["errorMessage"] == "slow down"
    assert tokens(reading)["cache_write"] == 1920
    first, second = messages(reading, "assistant")[:2]
    assert first["usage"] == {"input": 100, "output": 12, "cacheRead": 0, "cacheWrite": 1900, "totalTokens": 2012}
    assert second["usage"] == {"input": 110, "output": 6, "cacheRead": 1900, "cacheWrite": 20, "totalTokens": 2036}
    assert (first["provider"], first["model"], first["timestamp"]) == ("openai", "gpt-5.6-sol", 1_780_000_001_000)
    assert messages(reading, "toolResult")[0]["toolCallId"] == "c1"
    assert [message["content"] for message in messages(reading, "toolResult")][1][0]["text"] == "(pruned)"
    assert len(context(reading)) == 7
    assert any("1 other request" in sentence for sentence in reading.unknown)
    assert not any("system prompt" in sentence for sentence in reading.unknown)


def test_streams_add_up():
    """Pieces of text and of calls are joined; the counts come with the last chunk."""
    streamed = messages(read_openai_chat(fixture(FORMAT, "exchanges.jsonl")), "assistant")[2]
    assert [part["type"] for part in streamed["content"]] == ["text", "toolCall"]
    assert streamed["content"][0]["text"] == "Watered."
    assert streamed["content"][1]["arguments"] == {"bed": 3}
    assert streamed["usage"] == {"input": 2050, "output": 9, "totalTokens": 2059}


def test_streams_and_responses_alone_are_read():
    """A response without its request is one message, in either shape."""
    body = answered("hi", object="chat.completion", model="m")
    alone = check(read_openai_chat(raw(body)))
    assert kinds(alone) == ["assistant"]
    assert any("response alone" in sentence for sentence in alone.unknown)
    chunk = {"choices": [{"delta": {"reasoning": "r", "content": "x"}, "finish_reason": "length"}]}
    chunks = check(read_openai_chat(rows(chunk, {"choices": []})))
    assert messages(chunks)[0]["stopReason"] == "length"
    assert [part["type"] for part in messages(chunks)[0]["content"]] == ["thinking", "text"]
    events = check(read_openai_chat(b"data: " + raw(chunk) + b"\n\ndata: [DONE]\n"))
    assert kinds(events) == ["assistant"]


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (
            {"prompt_tokens": 35, "completion_tokens": 12, "total_tokens": 109},
            {"input": 35, "output": 74, "totalTokens": 109},
        ),
        ({"prompt_tokens": 9, "prompt_cache_hit_tokens": 4}, {"input": 5, "cacheRead": 4}),
        (
            {"prompt_tokens": 2, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}},
            {"output": 1, "cacheRead": 4},
        ),
        ({}, None),
        (5, None),
    ],
)
def test_counts_become_uncached_ones(counts, usage):
    """Hidden thinking is output; a cached part over the prompt leaves the input unknown."""
    body = answered("x", usage=counts)
    assert messages(read_openai_chat(raw(exchange([user("a")], body))), "assistant")[0].get("usage") == usage


def test_odd_exchanges_are_read():
    """Bodies as text, responses as raw streams, errors by status, responses that are none, odd ends."""
    body = exchange([user("a")], None)
    body["request"]["body"] = json.dumps(body["request"]["body"])
    body["response"] = json.loads(raw(answered("direct")))
    chunk = "data: " + json.dumps({"choices": [{"delta": {"content": "raw"}, "finish_reason": "odd"}]}) + "\n"
    reading = check(
        read_openai_chat(
            rows(
                body,
                exchange([user("a")], None, raw=chunk),
                exchange([user("b")], json.dumps(answered("text"))),
                exchange([user("c")], {}, status=500),
                exchange([user("d")], {"choices": []}),
                exchange(
                    [user("e")], {"choices": [{"message": {"tool_calls": [call("k")]}, "finish_reason": "length"}]}
                ),
                {"request": {"model": "m", "messages": [user("f")]}, "response": None},
            )
        )
    )
    said = messages(reading, "assistant")
    assert [message["content"][0]["text"] for message in said[:3]] == ["direct", "raw", "text"]
    assert [message["stopReason"] for message in said] == ["stop", "error", "stop", "error", "toolUse"]
    assert said[3]["errorMessage"] == "HTTP status 500"
    assert reading.parents[:3] == (-1, 0, 0)


def test_other_wires_in_the_same_file_are_read():
    """A log of several providers is read as a whole."""
    anthropic = exchange(
        [user("a")],
        {"role": "assistant", "content": [{"type": "text", "text": "b"}], "type": "message"},
        url="https://api.anthropic.com/v1/messages",
    )
    reading = check(read_openai_chat(rows(exchange([user("a")], answered("x")), anthropic)))
    assert {message["api"] for message in messages(reading, "assistant")} == {
        "openai-completions",
        "anthropic-messages",
    }


# --- refusals, sniffing, damage


@pytest.mark.parametrize(
    "data", [b"", b"{", b"5", b"[]", b"{}", b'{"messages":[]}', b"[5]", b"data: 5\n", b"[" * 100_000]
)
def test_other_files_are_refused(data):
    """What holds no message is refused."""
    with pytest.raises(SessionRefused, match="no messages in the shape of openai_chat"):
        read_openai_chat(data)


def test_sniffing():
    """Logs, bodies, lines, exchanges and streams are known by their head; other files are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
    heads = [
        [user("a")],
        {"messages": [user("a")]},
        user("a"),
        answered("x"),
        exchange([user("a")]),
        {"meta": {"session_meta": {}}},
        [exchange([user("a")])],
    ]
    for head in heads:
        assert sniff(raw(head), "x.json"), head
    assert log_format(rows({"a": 1}, exchange([user("a")]))) == FORMAT
    assert log_format(rows(b"[1", b"{")) is None
    others = [
        b"",
        b"5",
        b"[]",
        b"{}",
        raw([{"role": "user", "content": "x", "ts": 5}]),
        raw([user("<environment_details>")]),
        raw([{"a": 1}]),
        raw({"role": "user", "kind": "x", "content": "x"}),
        raw({"sessionId": "s", "messages": [user("a")]}),
        raw({"request": {"url": "https://x/embeddings", "body": {"input": "a", "model": "m"}}}),
    ]
    for other in others:
        assert not sniff(other, "x.json"), other


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "number", "results", "apart"), [("city-bus-develop-1", 249, 248, 14), ("tripforge-bugfix-3", 127, 127, 2)]
)
def test_recorded_logs(name, number, results, apart):
    """The recorded logs hold the calls that their index states, no usage, and results that stand apart."""
    reading = check(read_openai_chat((RECORDED / f"openai-chat/{name}.json").read_bytes()))
    assert len(calls(reading)) == number
    assert len(messages(reading, "toolResult")) == results
    assert any(f"{apart} results not right" in sentence for sentence in reading.unknown)
    assert tokens(reading)["peak"] == 0


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "number", "peak"),
    [
        ("compatible_api_with_tool_calls_without_id", 2, 109),
        ("multiple_agent_tool_calls", 4, 138),
        ("openai_chat_prompt_cache_e2e", 2, 4024),
        ("openrouter_cache_messages_anthropic_real_api", 2, 3382),
        ("run_stream_sync_streams_real_model", 2, 87),
    ],
)
def test_recorded_exchanges(name, number, peak):
    """Each recorded exchange is one response with its counts, and pairs hold where ids are missing."""
    reading = check(read_openai_chat((RECORDED / f"wire-openai-chat/{name}.jsonl").read_bytes()))
    assert sum(1 for message in messages(reading, "assistant") if message.get("usage")) == number
    assert tokens(reading)["peak"] == peak
    made = {made.id for made in calls(reading)}
    assert {result["toolCallId"] for result in messages(reading, "toolResult")} <= made
    assert branch(reading)


class Counted(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other):
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_results_find_their_calls_without_looking_at_all_of_them():
    """Many calls in one message, answered from the last to the first: each result costs the same."""
    ids, count = [Counted(f"call-{number}") for number in range(2_000)], 2_000
    conversation = Conversation("openai_chat")
    conversation.item({"role": "assistant", "tool_calls": [{"id": id_, "function": {"name": "f"}} for id_ in ids]})
    Counted.compared = 0
    results = [conversation.item({"role": "tool", "tool_call_id": Counted(id_)}) for id_ in reversed(ids)]
    assert [item.message["toolCallId"] for item in results] == ids[::-1]
    assert Counted.compared < 20 * count
