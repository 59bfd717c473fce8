import pytest
from tests.formats.documents import fixture, fixtures, kinds, raw, read_or_refuse, rows
from tests.formats.jsonl import RECORDED, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.anthropic_messages import FORMAT, read_anthropic_messages, sniff

FILES = fixtures(FORMAT)


def read(*messages_, **fields):
    """Reading of a request body with these messages."""
    return check(read_anthropic_messages(raw({"messages": list(messages_), **fields})))


def said(role, *blocks):
    """A message of blocks."""
    return {"role": role, "content": list(blocks)}


def stream(*events):
    """Reading of the events of one response."""
    return check(read_anthropic_messages(rows(*events)))


def test_exchanges_are_read():
    """A request that repeats the last one adds what is new; results come before what else its message says."""
    reading = check(read_anthropic_messages(fixture(FORMAT, "exchanges.jsonl")))
    assert kinds(reading) == [
        "system",
        "user",
        "assistant",
        "toolResult",
        "toolResult",
        "user",
        "compaction",
        "assistant",
        "user",
        "assistant",
    ]
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["thinking", "text", "toolCall", "toolCall"]
    assert first["usage"] == {
        "input": 5,
        "output": 90,
        "cacheRead": 0,
        "cacheWrite": 1500,
        "cacheWrite1h": 1000,
        "totalTokens": 1595,
    }
    assert messages(reading, "system")[0]["toolsAdded"][0]["name"] == "hive"
    good, bad = messages(reading, "toolResult")
    assert (good["toolName"], good["isError"], bad["isError"]) == ("hive", False, True)
    assert [message["stopReason"] for message in messages(reading, "assistant")] == ["toolUse", "stop", "length"]
    assert any("1 other request" in sentence for sentence in reading.unknown)
    assert any("edited the requests of 1 response" in sentence for sentence in reading.unknown)


def test_a_cut_by_the_server_is_a_cut_with_its_own_counts():
    """The pass that wrote the summary is billed apart: its input was the context before."""
    reading = read_anthropic_messages(fixture(FORMAT, "exchanges.jsonl"))
    (cut,) = [entry for entry in reading.entries if entry.type == "compaction"]
    assert cut.get("summary") == "Hive 1 is calm."
    assert cut.get("tokensBefore") == 1610
    assert cut.get("usage")["output"] == 30
    assert messages(reading, "assistant")[1]["usage"]["totalTokens"] == 51
    names = [type(message).__name__ for message in context(reading)]
    assert names == ["CompactionSummary", "Assistant", "User", "Assistant"]


def test_requests_alone_are_read():
    """A body without its response is a conversation."""
    reading = check(read_anthropic_messages(fixture(FORMAT, "request.json")))
    assert kinds(reading) == ["system", "user", "assistant", "user"]
    assert messages(reading, "user")[0]["content"][0] == {"type": "image", "mimeType": "image/png", "data": "iVBOR"}
    assert messages(reading, "assistant")[0]["model"] == "claude-sonnet-5"


def test_streams_alone_are_read():
    """Events of one response add up to it."""
    reading = check(read_anthropic_messages(fixture(FORMAT, "response.chunks.txt")))
    assert calls(reading)[0].arguments == {"n": 4}
    assert messages(reading)[0]["usage"] == {"input": 30, "output": 20, "totalTokens": 50}


def test_blocks_of_all_kinds_are_read():
    """Documents, search results, redacted thinking, server tools and messages of the system keep their content."""
    reading = read(
        said(
            "user",
            {"type": "document", "source": {"type": "text", "data": "words"}},
            {"type": "document", "source": {"type": "url", "url": "https://example.org/a.pdf"}},
            {"type": "search_result", "title": "t"},
            {"type": "text", "text": ""},
            {"odd": 1},
        ),
        said("assistant", {"type": "redacted_thinking", "data": "ZA=="}, {"type": "server_tool_use", "id": "s"}),
        said("user", {"type": "tool_result", "tool_use_id": "none", "content": [{"type": "image", "source": {}}]}),
        said("system", {"type": "text", "text": "be kind"}),
        {"role": "user", "content": None},
    )
    parts = messages(reading, "user")[0]["content"]
    assert [part.get("type") for part in parts] == ["text", "image", "text", None]
    assert messages(reading, "assistant")[0]["content"] == [
        {"type": "thinking", "thinking": "", "thinkingSignature": "ZA==", "redacted": True},
        {"type": "server_tool_use", "id": "s"},
    ]
    assert kinds(reading) == ["user", "assistant", "toolResult", "system", "user"]


def test_streams_of_all_shapes_add_up():
    """A second start changes nothing, absent counts replace nothing, an error ends it, deltas without a start count."""
    start = {"type": "message_start", "message": {"role": "assistant", "content": [], "usage": {"input_tokens": 7}}}
    reading = stream(
        start,
        start,
        {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "hm"}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "text_delta", "text": "x"}},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "citations_delta"}},
        {"type": "message_delta", "usage": {"input_tokens": None, "output_tokens": 3}},
        {"type": "error", "error": {"message": "overloaded"}},
    )
    (message,) = messages(reading)
    assert message["content"][0] == {"type": "thinking", "thinking": "hm", "thinkingSignature": "s"}
    assert message["usage"] == {"input": 7, "output": 3, "totalTokens": 10}


def test_cuts_without_counts_are_read():
    """A compaction block whose pass is not billed states no counts."""
    body = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "compaction"}, {"type": "text", "text": "a"}],
        "usage": {"input_tokens": 3, "output_tokens": 1},
        "stop_reason": "refusal",
    }
    reading = check(read_anthropic_messages(raw(body)))
    assert kinds(reading) == ["compaction", "assistant"]
    assert "usage" not in reading.entries[0].data
    assert messages(reading)[0]["stopReason"] == "error"
    assert any("1 encrypted cut" in sentence for sentence in reading.unknown)
    cut = {**body, "usage": {"iterations": [{"type": "compaction", "input_tokens": 9, "output_tokens": 2}]}}
    assert check(read_anthropic_messages(raw(cut))).entries[0].get("tokensBefore") == 9


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b'{"messages":[]}', b'{"error":{}}', b"[" * 100_000])
def test_other_files_are_refused(data):
    """What holds no message is refused."""
    with pytest.raises(SessionRefused, match="no messages in the shape of anthropic_messages"):
        read_anthropic_messages(data)


def test_sniffing():
    """Bodies, lists with Anthropic's blocks, exchanges and streams are known; other wires are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
    assert sniff(raw([said("user", {"type": "tool_result", "tool_use_id": "x"})]), "x.json")
    assert sniff(raw({"role": "assistant", "type": "message", "content": []}), "x.json")
    for other in (b"", raw([said("user", {"type": "text", "text": "x"})]), raw({"input": "x", "model": "m"})):
        assert not sniff(other, "x.json")


def recorded(pattern):
    """Recordings from outside, when they are at hand."""
    return sorted(RECORDED.glob(pattern)) if RECORDED.is_dir() else []


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize("path", recorded("wire-anthropic/*"), ids=lambda path: path.name)
def test_recorded_files_are_read(path):
    """Every recorded file is read, but for one that holds a failed count of tokens only."""
    reading = read_or_refuse(read_anthropic_messages, path.read_bytes())
    assert (reading is None) == (path.name == "anthropic_count_tokens_error.jsonl")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "sums"),
    [
        ("anthropic_cache_real_api.jsonl", (6, 2222, 418, 439)),
        ("anthropic_compaction_usage_with_cache_streaming.jsonl", (181, 0, 0, 8)),
        ("multiple_parallel_tool_calls.jsonl", (1194, 0, 0, 279)),
        ("duplicate-message-start.chunks.txt", (17, 0, 0, 227)),
        ("inline_system_prompt_cache_prefix_is_reused.jsonl", (4, 1590, 1590, 8)),
    ],
)
def test_recorded_counts(name, sums):
    """Counts of the recorded responses are what they state."""
    found = tokens(read_anthropic_messages((RECORDED / "wire-anthropic" / name).read_bytes()))
    assert tuple(found[key] for key in ("input", "cache_read", "cache_write", "output")) == sums


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_cut():
    """The recorded server-side cut read 55,096 cached tokens and 100 others, and left 181."""
    path = RECORDED / "wire-anthropic/anthropic_compaction_usage_with_cache_streaming.jsonl"
    (cut,) = [e for e in read_anthropic_messages(path.read_bytes()).entries if e.type == "compaction"]
    assert (cut.get("tokensBefore"), cut.get("usage")["output"]) == (55_196, 83)


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_change_of_provider():
    """A history that moved to another provider is read from both wires."""
    (path,) = recorded("wire-cross-provider/*")
    reading = check(read_anthropic_messages(path.read_bytes()))
    assert tokens(reading)["output"] == 295
    assert {message["api"] for message in messages(reading, "assistant")} == {"anthropic-messages", "openai-responses"}
