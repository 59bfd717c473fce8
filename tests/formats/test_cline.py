import json

import pytest
from tests.formats.documents import fixture, fixtures, kinds, raw
from tests.formats.jsonl import RECORDED, branch, broken, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.cline import FORMAT, read_cline, sniff
from leafscar.model.messages import text_of

FILES = fixtures(FORMAT)


def screen(*items):
    """Reading of messages on the screen."""
    return check(
        read_cline(raw([{"ts": 1_780_000_000_000 + at, "type": "say", **item} for at, item in enumerate(items)]))
    )


def request(text, **told):
    """A request; fields of the record go in ``item``."""
    item = told.pop("item", {})
    return {"say": "api_req_started", "text": json.dumps({"request": text, **told}), **item}


def shown(kind, text="", **fields):
    """Another message on the screen."""
    return {"say": kind, "text": text, **fields}


def test_screens_are_read():
    """A request, its response, the calls; the next request's text holds the results."""
    reading = check(read_cline(fixture(FORMAT, "ui_messages.json")))
    assert reading.window == 200_000
    assert reading.header.timestamp == "2026-05-28T20:26:41Z"
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["thinking", "text", "toolCall", "toolCall"]
    assert first["usage"] == {"input": 10, "output": 70, "cacheRead": 0, "cacheWrite": 9000, "totalTokens": 9080}
    assert (first["api"], first["model"], first["provider"]) == ("anthropic-messages", "claude-opus-4-6", "anthropic")
    texts = [result["content"][0]["text"] for result in messages(reading, "toolResult")]
    assert texts[:3] == ["speed = 3", "feed = 1\n\n# task_progress\n- [ ] repair", "saved"]
    assert [call.name for call in calls(reading)] == [
        "read_file",
        "read_file",
        "replace_in_file",
        "execute_command",
        "attempt_completion",
    ]
    user = messages(reading, "user")[0]["content"]
    assert [part["type"] for part in user] == ["text", "image"]
    assert messages(reading, "user")[1]["content"][0]["text"].startswith("<environment_details>")
    stopped = messages(reading, "assistant")[3]
    assert (stopped["stopReason"], stopped["errorMessage"]) == ("error", "reset")
    assert broken(branch(reading))[0] == []


def test_a_truncation_is_a_cut_without_summary():
    """Messages of the stated range leave the context; the first pair stays."""
    reading = read_cline(fixture(FORMAT, "ui_messages.json"))
    (cut,) = [entry for entry in reading.entries if entry.type == "compaction"]
    assert (cut.get("summary"), cut.get("trigger"), cut.get("firstKeptEntryId")) == ("", "auto", "u1")
    assert [edit.get("targetId") for edit in reading.entries if edit.type == "context_edit"] == [
        "r1-2",
        "r2-2",
        "u2",
        "a2",
    ]
    assert [type(message).__name__ for message in context(reading)][:3] == ["CompactionSummary", "User", "Assistant"]
    assert any("no summary" in sentence for sentence in reading.unknown)


def test_tools_of_all_kinds_are_read():
    """Commands, servers, questions, plans, unknown tools; what the screen alone shows is left out."""
    reading = screen(
        shown("text", "not yet"),
        request("go"),
        shown("tool", json.dumps({"tool": "newTool", "x": 1})),
        shown("tool", "{"),
        {"type": "ask", "ask": "command", "text": "ls", "say": None},
        shown("use_mcp_server", json.dumps({"serverName": "s", "toolName": "t"})),
        {"type": "ask", "ask": "followup", "text": "which?", "say": None},
        {"type": "ask", "ask": "plan_mode_respond", "text": json.dumps({"response": "plan"}), "say": None},
        shown("load_mcp_documentation"),
        shown("completion_result", "done"),
        {"type": "ask", "ask": "text", "text": "no", "say": None},
        shown("reasoning", ""),
        shown("task_progress", "x"),
        request(
            "[newTool] Result:\na\n\n[other for 'x'] Result: b\n\n"
            "[execute_command for 'ls'] Result:\nc\n\n[use_mcp_tool] Result:\nd"
        ),
    )
    names = ["newTool", "tool", "execute_command", "use_mcp_tool", "followup", "plan_mode_respond"]
    assert [call.name for call in calls(reading)] == [*names, "load_mcp_documentation", "attempt_completion"]
    assert [call.arguments for call in calls(reading)][4:6] == [{"response": "which?"}, {"response": "plan"}]
    results = [result["content"][0]["text"] for result in messages(reading, "toolResult")]
    assert results == ["a", "b", "c", "d"]
    assert kinds(reading) == ["user", "assistant", "toolResult", "toolResult", "toolResult", "toolResult"]


def test_requests_of_all_shapes_are_read():
    """Requests without an answer, cancelled ones, ones without numbers, odd texts, feedback with a picture."""
    reading = screen(
        request("one"),
        request("two", cancelReason="user_cancelled"),
        shown("user_feedback", "look", images=["data:image/png;base64,QQ=="]),
        {"say": "api_req_started", "text": "{"},
        request("three", tokensIn=5, tokensOut=1),
    )
    assert kinds(reading) == ["user", "user", "assistant", "user", "user", "assistant"]
    assert messages(reading, "assistant")[0]["stopReason"] == "aborted"
    assert [part["type"] for part in messages(reading, "user")[2]["content"]] == ["image"]
    assert messages(reading, "assistant")[1]["usage"] == {"input": 5, "output": 1, "totalTokens": 6}


@pytest.mark.parametrize("bounds", [[2], [2, None], [2, 3], "odd"])
def test_ranges_that_say_nothing_cut_nothing(bounds):
    """A range needs two ends; the same range again is not another cut."""
    item = {"conversationHistoryDeletedRange": bounds}
    reading = screen(
        request("1"), shown("text", "a"), request("2", item=item), shown("text", "b"), request("3", item=item)
    )
    assert [entry.type for entry in reading.entries].count("compaction") == (bounds == [2, 3])


def test_a_request_is_shown_before_its_own_truncation():
    """A range that the first message behind a request states was left out of that very request; a later one is not."""
    item = {"conversationHistoryDeletedRange": [2, 3]}
    pairs = [(request(str(number)), shown("text", f"a{number}")) for number in (1, 2)]
    before = [each for pair in pairs for each in pair]
    at_once = screen(*before, request("3"), shown("reasoning", "hm", **item), shown("text", "b", **item), request("4"))
    later = screen(*before, request("3"), shown("reasoning", "hm"), shown("text", "b", **item), request("4", item=item))
    for reading, place in ((at_once, "u3"), (later, "a3")):
        ids = [entry.id for entry in reading.entries]
        at = next(at for at, entry in enumerate(reading.entries) if entry.type == "compaction")
        assert [id_ for id_ in ids[:at] if id_ in ("u3", "a3")][-1] == place


def test_summaries_of_forks_are_cuts():
    """A summary stands in the place of all messages before it."""
    told = {"summary": "All fine.", "prevContextTokens": 900, "newContextTokens": 90}
    reading = screen(request("1"), shown("text", "a"), shown("condense_context", contextCondense=told), request("2"))
    assert [text_of(getattr(m, "content", None)) or m.summary for m in context(reading)] == ["All fine.", "2"]
    assert reading.entries[2].get("tokensBefore") == 900
    assert any("kept beside a summary" in sentence for sentence in reading.unknown)


def test_histories_are_read():
    """Messages in Anthropic's shape; names of calls carry over; only the sum of cached counts is known."""
    reading = check(read_cline(fixture(FORMAT, "api_conversation_history.json")))
    assert kinds(reading) == ["user", "assistant", "toolResult", "user", "assistant"]
    first, second = messages(reading, "assistant")
    assert first["usage"] == {"output": 40, "totalTokens": 8049}
    assert "usage" not in second
    assert first["model"] == "claude-opus-4-6"
    assert messages(reading, "toolResult")[0]["toolName"] == "read_file"
    assert any("ui_messages.json" in sentence for sentence in reading.unknown)


def test_histories_of_other_shapes_are_read():
    """Counts without a cache are exact; a cut inside a history is one entry."""
    counted = {"role": "assistant", "content": "x", "metrics": {"tokens": {"prompt": 8, "completion": 2, "cached": 0}}}
    cut = {"role": "assistant", "content": [{"type": "compaction", "content": "sum"}, {"type": "text", "text": "y"}]}
    reading = check(read_cline(raw([{"role": "user", "content": "a"}, counted, cut])))
    assert messages(reading, "assistant")[0]["usage"] == {"input": 8, "output": 2, "totalTokens": 10}
    assert kinds(reading) == ["user", "assistant", "compaction", "assistant"]


@pytest.mark.parametrize("data", [b"", b"{", b"5", b"[]", b"{}", b'[{"a":1}]', b"[" * 100_000])
def test_other_files_are_refused(data):
    """What is neither of the two files is refused."""
    with pytest.raises(SessionRefused):
        read_cline(data)


def test_sniffing():
    """Both files are known, by their head or their name; other lists of messages are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
        assert sniff(data[:300], name)
    bare = raw([{"role": "user", "content": "x"}])
    assert sniff(bare, "api_conversation_history.json")
    for other in (b"", b"[]", b"{}", bare, raw([{"type": "say"}])):
        assert not sniff(other, "x.json")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
@pytest.mark.parametrize(
    ("name", "requests", "sums", "cuts", "window"),
    [
        ("cline-xray-sample", 53, (530, 5_349_183, 1_346_804, 51_905, 175_816), 4, 200_000),
        ("mcp-vscode", 59, (0, 3_054_656, 175_802, 23_135, 91_679), 0, 128_000),
    ],
)
def test_recorded_screens(name, requests, sums, cuts, window):
    """The recorded screens give the requests, counts and cuts of their index; nearly all calls are answered."""
    reading = check(read_cline((RECORDED / f"cline/{name}-ui_messages.json").read_bytes()))
    assert len(messages(reading, "assistant")) == requests
    found = tokens(reading)
    assert tuple(found[key] for key in ("input", "cache_read", "cache_write", "output", "peak")) == sums
    assert sum(1 for entry in reading.entries if entry.type == "compaction") == cuts
    assert reading.window == window
    assert len(calls(reading)) - len(messages(reading, "toolResult")) == 2
