"""Logs of Gemini's generateContent."""

import json

import pytest
from tests.formats.documents import fixture, kinds, raw
from tests.formats.jsonl import RECORDED, branch, broken, check, messages

from leafscar.errors import SessionRefused
from leafscar.formats.gemini_content import FORMAT, read_gemini_content, sniff

EXCHANGES = fixture(FORMAT, "exchanges.jsonl")
CONTENTS = fixture(FORMAT, "contents.json")


def contents(*items):
    """Reading of a list of contents."""
    return check(read_gemini_content(raw({"contents": list(items)})))


def said(role, *parts):
    """One content."""
    return {"role": role, "parts": list(parts)}


def call(name, **fields):
    """A part with a call."""
    return {"functionCall": {"name": name, **fields}}


def answer(name, response, **fields):
    """A part with a result."""
    return {"functionResponse": {"name": name, "response": response, **fields}}


def test_exchanges_are_one_tree():
    """What a request repeats is not added again; the last counts of a stream are right; other requests are counted."""
    reading = check(read_gemini_content(EXCHANGES))
    assert kinds(reading) == ["system", "user", "assistant", "toolResult", "assistant"]
    system = messages(reading, "system")[0]
    assert [tool["name"] for tool in system["toolsAdded"]] == ["tide", "googleSearch"]
    first, second = messages(reading, "assistant")
    assert [part["type"] for part in first["content"]] == ["thinking", "toolCall"]
    assert first["content"][1]["thoughtSignature"] == "c2ln"
    assert first["usage"] == {"input": 1200, "output": 55, "cacheRead": 0, "totalTokens": 1255}
    assert (first["api"], first["provider"], first["model"]) == ("google-generative-ai", "google", "gemini-3-flash")
    assert first["timestamp"] == 1_777_924_862_000
    assert second["usage"] == {"input": 187, "output": 6, "cacheRead": 1100, "totalTokens": 1293}
    assert second["content"] == [{"type": "text", "text": "At ten past six."}]
    assert messages(reading, "toolResult")[0]["content"][0]["text"] == "06:10 and 18:40"
    assert broken(branch(reading)) == ([], [])
    assert any("1 other request" in sentence for sentence in reading.unknown)


def test_a_list_of_contents_is_a_session():
    """A saved list, as hosts keep it, reads like the requests that it was sent in."""
    reading = check(read_gemini_content(CONTENTS))
    assert kinds(reading) == ["user", "assistant", "toolResult", "assistant"]
    lines = b"\n".join(raw({"contents": json.loads(CONTENTS)[:number]}) for number in (1, 3))
    assert kinds(check(read_gemini_content(lines))) == ["user", "assistant", "toolResult"]


def test_results_find_their_calls():
    """By id, else by name in their order, else the oldest open call; pictures and errors come along."""
    reading = contents(
        said("model", call("a", id="1"), call("b"), call("b"), call("c")),
        said(
            "function",
            answer("b", {"error": "gone"}),
            answer("a", {"x": 1}, id="1", parts=[{"inlineData": {"data": "QQ==", "mimeType": "image/png"}}]),
            answer("b", None),
            answer("odd", "text"),
            answer("late", {}),
            {"text": "go on"},
        ),
    )
    results = messages(reading, "toolResult")
    assert [each["toolCallId"] for each in results] == ["call-1-2", "1", "call-1-3", "call-1-4", ""]
    assert [each["isError"] for each in results] == [True, False, False, False, False]
    assert [part.get("text", part.get("data")) for part in results[1]["content"]] == ['{"x":1}', "QQ=="]
    assert messages(reading, "user")[0]["content"][0]["text"] == "go on"


@pytest.mark.parametrize(
    ("fields", "stop"),
    [({"finishReason": "MAX_TOKENS"}, "length"), ({"finishReason": "SAFETY"}, "error"), ({}, "stop"), (None, None)],
)
def test_ends_are_named(fields, stop):
    """A response alone is read; its end becomes one of pi's words; one without a candidate is nothing."""
    found = [] if fields is None else [{"content": said("model", {"text": "x"}), **fields}]
    data = raw({"candidates": found, "usageMetadata": {}})
    if stop is None:
        with pytest.raises(SessionRefused):
            read_gemini_content(data)
        return
    (message,) = messages(check(read_gemini_content(data)), "assistant")
    assert (message["stopReason"], "usage" in message) == (stop, False)


def test_streams_are_put_together():
    """As a list of chunks or one a line; thoughts and text stay apart, calls are whole."""
    parts = [{"text": "a", "thought": True}, {"text": "b", "thought": True}, {"text": "c"}, {"text": "d"}, call("t")]
    chunks = [{"candidates": [{"content": said("model", part)}]} for part in parts]
    for data in (raw(chunks), b"\n".join(map(raw, chunks))):
        (message,) = messages(check(read_gemini_content(data)), "assistant")
        told = [part.get("thinking", part.get("text", part.get("name"))) for part in message["content"]]
        assert told == ["ab", "cd", "t"]


def test_a_failed_request_is_a_failed_response():
    """The status and its words stand in the place of an answer."""
    request = {"url": "https://x/models/gemini-3:generateContent", "body": {"contents": [said("user", {"text": "x"})]}}
    response = {"status": 429, "body": {"error": {"message": "quota"}}}
    reading = check(read_gemini_content(raw({"request": request, "response": response})))
    assert messages(reading, "assistant")[0]["errorMessage"] == "quota"


def test_instructions_come_in_every_spelling():
    """As a text, as parts, and under the name that some clients use."""
    for fields in ({"systemInstruction": "s"}, {"system_instruction": said("user", {"text": "s"})}):
        reading = check(read_gemini_content(raw({"contents": [said("user", {"text": "x"})], **fields})))
        assert messages(reading, "system")[0]["content"] == "s"


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"contents": []}', b'{"contents": 5}', b'{"candidates": 5}'])
def test_other_files_are_refused(data):
    """What holds no contents is refused."""
    with pytest.raises(SessionRefused):
        read_gemini_content(data)


def test_sniffing():
    """Requests, responses, chunks and lists are known; the other logs and counts of tokens are not."""
    for known in (EXCHANGES, CONTENTS, CONTENTS[:300], b'{"contents":[{"parts":[]}]}', b'{"candidates":[{}]}'):
        assert sniff(known, "x")
    for other in (
        b"",
        b"[]",
        b'{"messages":[{"role":"user","content":"x"}]}',
        EXCHANGES.splitlines()[2],
        b'[{"role":"user"}]',
    ):
        assert not sniff(other, "x")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_exchanges():
    """Loops of calls are one branch; only a call that ended a loop has no result."""
    for path in sorted((RECORDED / "wire-gemini").glob("*.jsonl")):
        reading = check(read_gemini_content(path.read_bytes()))
        assert messages(reading, "assistant")
        faults, waiting = broken(branch(reading))
        assert (faults, len(waiting) <= 1) == ([], True)
