import pytest
from tests.formats.documents import customs, fixture, kinds, raw
from tests.formats.jsonl import RECORDED, branch, broken, calls, check, context, messages, tokens

from leafscar.errors import SessionRefused
from leafscar.formats.opencode import CLEARED, FORMAT, read_export, read_opencode, sniff
from leafscar.model.messages import text_of

EXPORT = fixture(FORMAT, "export.json")


def export(*items, **info):
    """Reading of an export with these messages."""
    return check(read_opencode(raw({"info": {"id": "ses_x", **info}, "messages": list(items)})))


def user(*parts, **info):
    """A message of the user's."""
    return {"info": {"role": "user", "id": "u", **info}, "parts": list(parts)}


def assistant(*parts, **info):
    """A message of the assistant's."""
    return {
        "info": {"role": "assistant", "id": "a", "providerID": "openai", "modelID": "gpt-5.5", **info},
        "parts": parts,
    }


def tool(call, **state):
    """A tool part."""
    return {"type": "tool", "tool": "bash", "callID": call, "state": state}


def test_exports_are_read():
    """Messages, calls with their results, thinking, pictures; marks of steps and patches are left out."""
    reading = check(read_opencode(EXPORT))
    assert kinds(reading) == [
        "user",
        "assistant",
        "toolResult",
        "toolResult",
        "assistant",
        "compaction",
        "custom_message",
        "assistant",
        "context_edit",
    ]
    assert reading.header.id == "ses_1cl4y"
    assert reading.header.cwd == "/home/potter/wheel"
    assert reading.header.timestamp == "2026-05-28T20:26:40Z"
    first = messages(reading, "assistant")[0]
    assert [part["type"] for part in first["content"]] == ["thinking", "text", "toolCall", "toolCall"]
    assert first["content"][0]["thinkingSignature"] == "c2ln"
    counts = {"input": 4, "output": 80, "cacheRead": 0, "cacheWrite": 12000, "totalTokens": 12084}
    assert first["usage"] == {**counts, "cost": {"total": 0.01}}
    assert (first["api"], first["provider"], first["model"]) == ("anthropic-messages", "anthropic", "claude-sonnet-5")
    assert first["timestamp"] == 1_780_000_001_000
    bad = messages(reading, "toolResult")[1]
    assert (bad["isError"], bad["content"][0]["text"], bad["toolName"]) == (True, "not permitted", "bash")
    assert [part["type"] for part in messages(reading, "user")[0]["content"]] == ["text", "text", "image"]
    assert "1 of its 3 tool calls have no result." in reading.unknown


def test_a_compaction_is_one_cut():
    """Its request and its answer are one entry with summary, usage and trigger."""
    reading = read_opencode(EXPORT)
    (cut,) = [entry for entry in reading.entries if entry.type == "compaction"]
    assert cut.get("summary") == "The wheel stalls under load; the log shows 240 rpm."
    assert cut.get("firstKeptEntryId") == cut.id
    assert cut.get("trigger") == "auto"
    assert cut.get("usage")["cacheRead"] == 12_400
    assert [type(message).__name__ for message in context(reading)] == ["CompactionSummary", "Custom", "Assistant"]
    assert customs(reading) == ["opencode.synthetic"]


def test_a_compaction_may_keep_a_tail():
    """Messages from the named one on stay in the context; without a request the trigger is not known."""
    request = user({"type": "compaction", "auto": False, "tail_start_id": "k"}, id="q")
    told = assistant({"type": "text", "text": "sum"}, summary=True, id="s", parentID="q", finish="stop")
    reading = export(user({"type": "text", "text": "1"}), user({"type": "text", "text": "2"}, id="k"), request, told)
    assert reading.entries[-1].get("trigger") == "manual"
    assert [text_of(getattr(message, "content", None)) for message in context(reading)] == ["", "2"]
    bare = export(assistant({"type": "text", "text": "sum"}, summary=True))
    assert "trigger" not in bare.entries[0].data


def test_a_failed_compaction_is_a_failed_response():
    """An answer with an error leaves the context as it is."""
    failed = assistant(summary=True, error={"name": "UnknownError", "data": {"message": "too large"}})
    reading = export(user({"type": "text", "text": "1"}), failed)
    assert kinds(reading) == ["user", "assistant"]
    assert messages(reading, "assistant")[0]["errorMessage"] == "too large"


def test_cleared_results_are_edited():
    """A result that the tool cleared stays as it was; an edit says what was sent later."""
    reading = read_opencode(EXPORT)
    edit = reading.entries[-1]
    assert edit.get("targetId") == "msg_2-r1"
    assert edit.get("replacement") == {"content": [{"type": "text", "text": CLEARED}]}
    assert messages(reading, "toolResult")[0]["content"][0]["text"] == "rpm 240\nrpm 0"


def test_an_edit_stands_where_the_result_was_cleared():
    """Requests after that moment saw the placeholder, those before it the result."""
    time = {"end": 1_780_000_000_000, "compacted": 1_780_000_005_000}
    done = assistant(tool("c", status="completed", input={}, output="r", time=time))
    later = [user({"type": "text", "text": "x"}, time={"created": 1_780_000_000_000 + 3000 * step}) for step in (1, 2)]
    assert kinds(export(done, *later)) == ["assistant", "toolResult", "user", "context_edit", "user"]


def test_a_message_of_several_steps_is_several_responses():
    """Each step has its own parts and its own counts."""
    counts = {"input": 10, "output": 2, "reasoning": 0, "cache": {"read": 1, "write": 3}}
    steps = [
        {"type": "step-start"},
        {"type": "text", "text": "one"},
        tool("c", status="completed", input={}, output="r", time={"end": 1_780_000_000_000}),
        {"type": "step-finish", "reason": "tool-calls", "tokens": counts},
        {"type": "step-start"},
        {"type": "text", "text": "two"},
        {"type": "step-finish", "reason": "stop"},
    ]
    reading = export(assistant(*steps, tokens={"input": 99}, finish="stop"))
    assert kinds(reading) == ["assistant", "toolResult", "assistant"]
    first, second = messages(reading, "assistant")
    assert first["usage"]["totalTokens"] == 16
    assert "usage" not in second
    assert (first["stopReason"], second["stopReason"]) == ("toolUse", "stop")
    assert reading.entries[2].id == "a-s2"


@pytest.mark.parametrize(
    ("info", "stop", "error"),
    [
        ({"error": {"name": "MessageAbortedError", "data": {"message": "gone"}}}, "aborted", "gone"),
        ({"error": {"name": "APIError"}}, "error", "APIError"),
        ({"error": {}}, "error", "error"),
        ({"finish": "length"}, "length", None),
        ({"finish": "content-filter"}, "error", None),
        ({"finish": "odd"}, "stop", None),
        ({}, "stop", None),
    ],
)
def test_ends_are_named(info, stop, error):
    """Reasons become pi's words."""
    (message,) = messages(export(assistant({"type": "text", "text": "x"}, **info)), "assistant")
    assert (message["stopReason"], message.get("errorMessage")) == (stop, error)


def test_parts_of_all_kinds_are_read():
    """Redacted thinking, pictures from tools, raw input of a pending call, subtasks, ignored text, files by name."""
    thinking = {"type": "reasoning", "text": "", "metadata": {"anthropic": {"redactedData": "ZGF0"}, "x": 5}}
    attached = tool(
        "c", status="completed", input={"a": 1}, output="", attachments=[{"mime": "image/png", "url": "file:///p"}]
    )
    reading = export(
        user(
            {"type": "text", "text": "no", "ignored": True},
            {"type": "subtask", "agent": "explore", "description": "look", "prompt": "p"},
            {"type": "agent", "name": "x"},
            {"type": "file", "mime": "application/pdf", "url": "data:application/pdf;base64,JVBE"},
        ),
        assistant(
            {"type": "reasoning", "text": "t"}, thinking, attached, tool("d", status="pending", raw='{"a'), "odd"
        ),
        user({"type": "text", "text": "", "synthetic": True}),
        {"info": {"role": "robot", "id": "r"}, "parts": []},
        {"info": None},
    )
    assert kinds(reading) == ["custom", "user", "assistant", "toolResult"]
    assert messages(reading, "user")[0]["content"] == [{"type": "image", "mimeType": "application/pdf", "data": "JVBE"}]
    first = messages(reading, "assistant")[0]["content"]
    assert first[1]["thinkingSignature"] == "ZGF0"
    assert first[3]["arguments"] == '{"a'
    assert messages(reading, "toolResult")[0]["content"][0]["data"] == "file:///p"
    assert [problem.kind for problem in reading.problems] == ["no-role", "no-role"]
    assert customs(reading) == ["opencode.subtask"]


def v2(kind, number, **fields):
    """A message of version 2."""
    return {"type": kind, "id": f"msg_{number}", "time": {"created": 1_780_000_000_000 + number}, **fields}


def spoken(number, *content, **fields):
    """A response of version 2."""
    model = {"id": "claude-sonnet-5", "providerID": "anthropic"}
    return v2("assistant", number, agent="build", model=model, content=list(content), **fields)


def tool_v2(call, **state):
    """A call of version 2."""
    return {"type": "tool", "id": call, "name": "shell", "state": state, "time": {"completed": 1_780_000_000_500}}


def read_v2(*items):
    """Reading of messages of version 2."""
    return check(read_export({"info": {"id": "ses_x"}, "messages": list(items)}))


COUNTS = {"input": 5, "output": 30, "reasoning": 10, "cache": {"read": 400, "write": 60}}


def test_version_2_is_read():
    """A response is one message with its calls and results; what opencode wrote itself stands apart."""
    png, text = {"mime": "image/png", "data": "iVBO"}, {"mime": "text/plain", "name": "a.txt", "data": "aGVsbG8="}
    done = tool_v2(
        "c1",
        status="completed",
        input={"command": "ls"},
        content=[
            {"type": "text", "text": "a"},
            {"type": "text", "text": "b"},
            {"type": "file", "uri": "data:image/png;base64,QQ=="},
        ],
    )
    failed = tool_v2("c2", status="error", input={}, error={"type": "tool.execution", "message": "gone"}, content=[])
    reading = read_v2(
        v2("user", 1, text="list it", files=[png, text, {"mime": "text/plain", "uri": "file:///b", "data": "%"}]),
        v2("model-switched", 2, model={"id": "x"}),
        spoken(
            3,
            {"type": "reasoning", "text": "hm", "native": {"signature": "c2ln"}},
            {"type": "text", "text": "ok"},
            done,
            failed,
            tool_v2("c3", status="streaming", input='{"a'),
            finish="tool-calls",
            tokens=COUNTS,
            cost=0.5,
        ),
        v2("synthetic", 4, text="plan mode"),
        v2("shell", 5, command="make", output={"output": "built", "truncated": True}, exit=2),
        v2("hologram", 6),
        v2("idle", 7, outcome="succeeded"),
    )
    kinds_ = ["user", "assistant", "toolResult", "toolResult", "custom_message", "bashExecution", "custom"]
    assert kinds(reading) == kinds_
    assert customs(reading) == ["opencode.synthetic", "opencode.hologram"]
    asked, told = messages(reading, "user")[0], messages(reading, "assistant")[0]
    assert [part.get("text", part.get("data")) for part in asked["content"]] == [
        "list it",
        "iVBO",
        "a.txt\n\nhello",
        "file:///b\n\n%",
    ]
    counts = {"input": 5, "output": 40, "cacheRead": 400, "cacheWrite": 60, "totalTokens": 505}
    assert told["usage"] == {**counts, "cost": {"total": 0.5}}
    assert (told["provider"], told["model"], told["stopReason"]) == ("anthropic", "claude-sonnet-5", "toolUse")
    assert told["content"][0]["thinkingSignature"] == "c2ln"
    assert [part["arguments"] for part in told["content"][2:]] == [{"command": "ls"}, {}, '{"a']
    good, bad = messages(reading, "toolResult")
    assert [part.get("text", part.get("data")) for part in good["content"]] == ["a\nb", "QQ=="]
    assert (bad["isError"], bad["content"][0]["text"]) == (True, "gone")
    assert messages(reading, "bashExecution")[0]["exitCode"] == 2


def test_a_compaction_of_version_2_is_one_cut():
    """Summary and written-out tail replace everything before; one that failed is a response."""
    reading = read_v2(
        v2("user", 1, text="old"),
        v2("compaction", 2, status="failed", reason="auto", error={"type": "api", "message": "full"}, tokens=COUNTS),
        v2("compaction", 3, status="running", reason="auto", summary="", recent=""),
        v2(
            "compaction", 4, status="completed", reason="manual", summary="sum", recent="tail", tokens=COUNTS, cost=0.25
        ),
        v2("user", 5, text="new"),
    )
    assert kinds(reading) == ["user", "assistant", "compaction", "user"]
    assert messages(reading, "assistant")[0]["errorMessage"] == "full"
    cut = reading.entries[2]
    assert (cut.get("summary"), cut.get("trigger"), cut.get("firstKeptEntryId")) == ("sum\n\ntail", "manual", cut.id)
    assert cut.get("usage")["cost"] == {"total": 0.25}
    assert [text_of(getattr(message, "content", None)) for message in context(reading)] == ["", "new"]


@pytest.mark.parametrize(
    ("error", "stop"),
    [({"type": "aborted", "message": "m"}, "aborted"), ({"type": "api"}, "error"), ({}, "stop"), (5, "stop")],
)
def test_ends_of_version_2_are_named(error, stop):
    """An interruption is told from a failure by the type of the error."""
    (message,) = messages(read_v2(spoken(1, {"type": "text", "text": "x"}, error=error)), "assistant")
    assert message["stopReason"] == stop


def test_damaged_messages_of_version_2_are_survived():
    """Fields of any other type than the expected one read as absent."""
    odd = [
        {
            "type": kind,
            "id": 5,
            "text": 5,
            "files": [5, {}],
            "content": [5, {"type": "tool"}],
            "output": 5,
            "status": state,
        }
        for kind in ("user", "assistant", "compaction", "shell", "system", "skill", "")
        for state in ("completed", "failed", None)
    ]
    assert len(read_v2(*odd).entries) > 10


def test_what_the_export_leaves_open_is_said():
    """Sub-agents and undone messages are named."""
    sentences = " ".join(
        export(user({"type": "text", "text": "x"}), parentID="ses_0", forkID="ses_1", revert={"messageID": "u"}).unknown
    )
    assert "sub-agent" in sentences
    assert "forked" in sentences
    assert "undone" in sentences


@pytest.mark.parametrize(
    "data", [b"", b"{", b"5", b"[]", b"{}", b'{"info":{"id":"ses_"},"messages":{}}', b"[" * 100_000]
)
def test_other_files_are_refused(data):
    """What is no export is refused."""
    with pytest.raises(SessionRefused):
        read_opencode(data)


def test_sniffing():
    """The head of an export is known, that of other files is not."""
    assert sniff(EXPORT, "x.json")
    assert sniff(EXPORT[:200], "x.json")
    assert sniff(b'{"id":"ses_1","projectID":"global"', "ses_1.json")
    for other in (b"", b"[]", b"{", b'{"info":5}', b'{"info":{"id":"x"},"messages":[]}', b'{"sessionId":"ses_1"}'):
        assert not sniff(other, "x.json")


@pytest.mark.skipif(not RECORDED.is_dir(), reason="recordings from outside are not at hand")
def test_recorded_export():
    """The recorded export gives the totals that its index and its own session state."""
    reading = check(read_opencode((RECORDED / "opencode/pfm-categorization-export.json").read_bytes()))
    assert len(messages(reading, "assistant")) + len(messages(reading, "user")) == 26
    assert len(calls(reading)) == 25
    assert tokens(reading) == {
        "input": 38,
        "output": 71_366,
        "cache_read": 1_555_785,
        "cache_write": 503_963,
        "peak": 170_414,
    }
    assert broken(branch(reading)) == ([], [])
