import pytest
from tests.formats.documents import customs, fixture, fixtures, kinds, raw, read_or_refuse, rows
from tests.formats.jsonl import RECORDED, branch, broken, calls, check, context, messages, responses, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.gemini_cli import FORMAT, read_gemini_cli, sniff
from leafscar.model.messages import text_of

FILES = fixtures(FORMAT)


def chat(*records, **facts):
    """Reading of a chat file with these messages."""
    named = [{"id": f"x{at}", **record} for at, record in enumerate(records)]
    return check(read_gemini_cli(raw({"sessionId": "s", "projectHash": "p", "messages": named, **facts})))


def follow(*records):
    """Reading of a chat in the JSONL variant."""
    return check(read_gemini_cli(rows({"sessionId": "s", "projectHash": "p"}, *records)))


def said(id_, text, **fields):
    """A record of a response."""
    return {"id": id_, "type": "gemini", "content": text, **fields}


def asked(id_, content):
    """A record of a prompt."""
    return {"id": id_, "type": "user", "content": content}


def test_chat_files_are_read():
    """A record holds a response with its calls, and the results follow it."""
    reading = check(read_gemini_cli(fixture(FORMAT, "chat.json")))
    assert kinds(reading) == ["user", "assistant", "toolResult", "toolResult", "custom", "assistant"]
    assert reading.header.id == "5f0c1a5e-kiln"
    assert reading.header.timestamp == "2026-02-03T08:00:00.000Z"
    first, last = messages(reading, "assistant")
    assert [part["type"] for part in first["content"]] == ["thinking", "toolCall", "toolCall"]
    assert first["content"][0]["thinking"] == "Finding the file\n\nThe schedule is in a TOML file."
    assert (first["stopReason"], last["stopReason"]) == ("toolUse", "stop")
    assert (first["api"], first["provider"], first["model"]) == (
        "google-generative-ai",
        "google",
        "gemini-3-pro-preview",
    )
    good, bad = messages(reading, "toolResult")
    assert (good["content"][0]["text"], good["isError"]) == ("cone = 6\nhold = 20", False)
    assert (bad["content"][0]["text"], bad["isError"], bad["toolName"]) == ("no such folder", True, "list_directory")
    assert customs(reading) == ["gemini_cli.info"]
    assert "It states no context window." in reading.unknown


def test_counts_become_uncached_ones():
    """The prompt count holds the cached part; thoughts are output, what tools put in is input; writes are unknown."""
    first, last = messages(read_gemini_cli(fixture(FORMAT, "chat.json")), "assistant")
    assert first["usage"] == {"input": 9012, "output": 150, "cacheRead": 0, "totalTokens": 9162}
    assert last["usage"] == {"input": 430, "output": 18, "cacheRead": 8800, "totalTokens": 9248}


@pytest.mark.parametrize(
    ("counts", "usage"),
    [
        (None, None),
        ({"input": 0, "output": 0, "cached": 0, "total": 0}, None),
        ({"input": 5, "cached": 9, "output": 2}, {"output": 2, "cacheRead": 9}),
        ({"input": "5", "output": 2}, {"output": 2}),
        ({"input": 5}, {"input": 5}),
    ],
)
def test_counts_that_say_nothing_are_absent(counts, usage):
    """All zeros, a cached part over the prompt and odd values give no number."""
    (message,) = messages(chat(said("g", "x", tokens=counts)), "assistant")
    assert message.get("usage") == usage


def test_jsonl_chats_are_read():
    """A message that is written again counts once; what was rewound is a branch of its own."""
    reading = check(read_gemini_cli(fixture(FORMAT, "chat.jsonl")))
    assert [entry.id for entry in reading.entries][:4] == ["u1", "g1", "g1-r1", "g2"]
    assert tokens(reading) == {"input": 4200, "output": 19, "cache_read": 5900, "cache_write": 0, "peak": 5109}
    rewound = [entry.id for entry in branch(reading, "g3")]
    assert rewound == ["u1", "g1", "g1-r1", "g2", "u2", "g3"]
    assert "u2" not in [entry.id for entry in branch(reading)]
    assert reading.entries[1].line == 4
    assert reading.entries[1].raw.startswith(b'{"id": "g1"')


def test_a_replaced_history_is_a_cut_with_edits():
    """What leads a new history is the summary; a result that changed is edited from then on."""
    reading = read_gemini_cli(fixture(FORMAT, "chat.jsonl"))
    seen = context(reading)
    assert [type(message).__name__ for message in seen] == [
        "CompactionSummary",
        "Assistant",
        "ToolResult",
        "Assistant",
        "User",
        "Assistant",
        "User",
    ]
    assert seen[0].summary == "The user mixes a celadon glaze."
    assert text_of(seen[2].content) == "(masked)"
    (cut,) = [entry for entry in reading.entries if entry.type == "compaction"]
    assert cut.get("firstKeptEntryId") == "g1"


def test_a_history_of_which_nothing_is_kept_is_all_summary():
    """A cut that keeps nothing points at itself; new messages behind the kept ones are messages."""
    reading = follow(asked("a", "x"), {"$set": {"messages": [asked("s", "all"), said("t", "yes")]}}, asked("b", "y"))
    assert kinds(reading) == ["user", "compaction", "user"]
    assert reading.entries[1].get("firstKeptEntryId") == reading.entries[1].id
    assert reading.entries[1].get("summary") == "all\n\nyes"
    grown = follow(asked("a", "x"), {"$set": {"messages": [asked("a", "x"), said("n", "new")]}})
    assert kinds(grown) == ["user", "assistant"]


def test_messages_that_leave_the_middle_are_noted():
    """A history without some of its middle is shown as it was, with a word about it."""
    new = [asked("s", "sum"), said("b", "2"), said("d", "4")]
    reading = follow(asked("a", "1"), said("b", "2"), asked("c", "3"), said("d", "4"), {"$set": {"messages": new}})
    assert [problem.kind for problem in reading.problems] == ["lost-messages"]
    assert [type(message).__name__ for message in context(reading)] == [
        "CompactionSummary",
        "Assistant",
        "User",
        "Assistant",
    ]


def test_a_history_that_lost_its_head_is_a_cut_without_summary():
    """The first messages may go without a summary."""
    reading = follow(asked("a", "1"), said("b", "2"), {"$set": {"messages": [said("b", "2")]}})
    assert [type(message).__name__ for message in context(reading)] == ["CompactionSummary", "Assistant"]


def test_odd_changes_change_nothing():
    """An empty history, a rewind to nowhere and records of no kind leave what there is."""
    reading = follow(
        asked("a", "1"), {"$set": {"messages": []}}, {"other": 1}, {"$rewindTo": "nowhere"}, said("b", "2")
    )
    assert kinds(reading) == ["user", "assistant"]
    assert reading.parents == (-1, -1)
    assert [problem.kind for problem in reading.problems] == ["no-type"]


def test_contents_of_all_shapes_are_read():
    """Texts, lone parts, thoughts, pictures by value and by name, calls and results inside a content."""
    picture = {"inlineData": {"data": "iVBOR", "mimeType": "image/png"}}
    reading = chat(
        asked("a", {"text": "one part"}),
        asked("b", ["plain", {"fileData": {"fileUri": "gs://x/y.png", "mimeType": "image/png"}}, 5]),
        said(
            "c",
            [
                {"thought": True, "text": "hm", "thoughtSignature": "s"},
                picture,
                {"text": "hi"},
                {"functionCall": {"id": "k", "name": "f", "args": {"a": 1}}},
            ],
        ),
        asked("d", [{"functionResponse": {"id": "k", "name": "f", "response": {"rows": [1]}, "parts": [picture]}}]),
        asked("e", [{"functionResponse": {"id": "k", "name": "f", "response": {"output": "again"}}}, {"text": "more"}]),
    )
    assert kinds(reading) == ["user", "user", "assistant", "toolResult", "user"]
    assert [part["type"] for part in messages(reading, "assistant")[0]["content"]] == [
        "thinking",
        "image",
        "text",
        "toolCall",
    ]
    result = messages(reading, "toolResult")[0]["content"]
    assert result == [
        {"type": "text", "text": '{"rows":[1]}'},
        {"type": "image", "mimeType": "image/png", "data": "iVBOR"},
    ]
    assert "The data of 1 image are not in the file." in reading.unknown


def test_results_of_all_shapes_are_read():
    """Plain text, the turn of several results, a result under another id, none at all."""
    turn = [
        {"functionResponse": {"id": "a", "name": "f", "response": {"output": "A"}}},
        {"functionResponse": {"id": "b", "name": "f", "response": {"output": "B"}}},
        {"inlineData": {"data": "x", "mimeType": "image/png"}},
    ]
    made = [
        {"id": "a", "name": "f", "result": turn},
        {"id": "b", "name": "f", "result": turn},
        {"id": "c", "name": "f", "result": "plain", "status": "cancelled"},
        {"id": "d", "name": "f", "result": [{"functionResponse": {"id": "zz", "response": "D"}}]},
        {"name": "f", "result": [{"functionResponse": {"response": {"output": "E"}}}]},
        {"id": "f", "name": "f"},
    ]
    reading = chat(said("g", "", toolCalls=made))
    results = {result["toolCallId"]: result for result in messages(reading, "toolResult")}
    assert [part["type"] for part in results["a"]["content"]] == ["text", "image"]
    assert [part["text"] for part in results["b"]["content"]] == ["B"]
    assert results["c"]["isError"]
    assert results["d"]["content"][0]["text"] == "D"
    assert results["g-c5"]["content"][0]["text"] == "E"
    assert [call.id for call in calls(reading)][-1] == "f"
    assert "1 of its 6 tool calls have no result." in reading.unknown


def test_streams_are_read():
    """What is said up to a result is one response; each run is a branch; totals stay totals."""
    reading = check(read_gemini_cli(fixture(FORMAT, "stream.jsonl")))
    assert kinds(reading) == [
        "custom",
        "user",
        "assistant",
        "toolResult",
        "toolResult",
        "assistant",
        "custom",
        "user",
        "assistant",
    ]
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["text", "toolCall", "toolCall"]
    assert first["content"][0]["text"] == "Counting."
    assert first["model"] == "gemini-3-pro-preview"
    good, bad = messages(reading, "toolResult")
    assert (good["toolName"], good["content"][0]["text"], good["isError"]) == ("shell", "12", False)
    assert (bad["content"][0]["text"], bad["isError"]) == ("no such folder", True)
    assert customs(reading) == ["gemini_cli.prompt", "gemini_cli.result"]
    assert reading.entries[6].get("data")["stats"]["total_tokens"] == 900
    assert [position for position, parent in enumerate(reading.parents) if parent == -1] == [0, 1, 7]
    assert len(context(reading)) == 2
    assert "Usage is stated as totals only, for 1 of 2 runs." in reading.unknown
    assert "It holds 2 runs; each is a branch of its own." in reading.unknown
    assert all(response.usage is None for response in responses(reading))


def test_a_stream_without_totals_says_nothing_of_them():
    """Killed runs state no usage; notices of other kinds are kept; odd results hold an empty text."""
    reading = check(
        read_gemini_cli(
            rows(
                {"type": "init", "session_id": "r", "model": "m"},
                {"type": "message", "role": "user", "content": ["parts"]},
                {"type": "error", "severity": "warning", "message": "slow"},
                {"type": "tool_result", "tool_id": "q", "status": "success"},
                {"type": 5},
                b"{",
                b"[1]",
                b"",
            )
        )
    )
    assert customs(reading) == ["gemini_cli.error", "gemini_cli.event"]
    assert messages(reading, "user")[0]["content"] == '["parts"]'
    assert messages(reading, "toolResult")[0]["content"] == [{"type": "text", "text": ""}]
    assert [problem.kind for problem in reading.problems] == ["broken-line", "not-an-object"]
    assert not [sentence for sentence in reading.unknown if "totals" in sentence or "runs" in sentence]


def test_sub_agents_are_named():
    """A chat of a sub-agent says so."""
    assert any("sub-agent" in sentence for sentence in chat(asked("a", "x"), kind="subagent").unknown)


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[]", b"text", b'{"messages": 5}', b"[" * 100_000])
def test_other_files_are_refused(data):
    """A file without a record is refused in one line."""
    with pytest.raises(SessionRefused, match="no record of a Gemini CLI session"):
        read_gemini_cli(data)


def test_values_nested_beyond_reason_are_refused():
    """A result so deep that no text can be made of it is refused, not crashed over."""
    deep = (
        b'{"sessionId":"s","messages":[{"id":"a","type":"gemini","toolCalls":[{"id":"c","result":[{"functionResponse":'
    )
    value = deep + b'{"response":' + b"[" * 900 + b"]" * 900 + b"}}]}]}]}"
    read_or_refuse(read_gemini_cli, value)


def test_sniffing():
    """Each of the three shapes is known by its head, other files are not."""
    for name, data in FILES.items():
        assert sniff(data, name)
        assert sniff(data[:300], name)
    for other in (
        b"",
        b"[]",
        b'{"type":"init"}',
        b'{"type":"message","role":"user"}\n' * 30,
        b'{"messages":[]}',
        b"# x",
    ):
        assert not sniff(other, "x.jsonl")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_chat():
    """The recorded chat gives the totals that its index states."""
    reading = check(read_gemini_cli((RECORDED / "gemini-cli/figma-landing-chat.json").read_bytes()))
    assert len(messages(reading, "assistant")) + len(messages(reading, "user")) == 32
    assert len(calls(reading)) == 62
    sums = tokens(reading)
    assert sums["input"] + sums["cache_read"] == 1_053_589
    assert sums["cache_read"] == 927_523
    assert sums["output"] == 21_861 + 7_489
    assert sums["peak"] == 66_641
    assert broken(branch(reading)) == ([], [])


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_stream():
    """The recorded stream holds two runs, 68 calls and one unanswered call."""
    reading = check(read_gemini_cli((RECORDED / "gemini-cli/figma-landing-stream.jsonl").read_bytes()))
    assert len(calls(reading)) == 68
    assert len(messages(reading, "toolResult")) == 67
    assert [entry.get("data")["stats"]["total_tokens"] for entry in reading.entries if entry.get("data")] == [2_164_148]
    assert len(broken(branch(reading))[1]) == 1
