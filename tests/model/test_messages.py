import json

import msgspec
import pytest
from hypothesis import example, given, settings
from tests.model.strategies import messages

from leafscar.model import (
    Assistant,
    BashExecution,
    BranchSummary,
    CompactionSummary,
    Custom,
    Entry,
    Image,
    OtherPart,
    System,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Unknown,
    Usage,
    User,
    as_dict,
    as_message,
)
from leafscar.model.entries import loads
from leafscar.model.messages import parts_of, text_of, tool_calls

WHOLE = [
    pytest.param(
        {"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image", "data": "aa", "mimeType": "m"}]},
        User(content=(Text(text="hi"), Image(data="aa", mime_type="m"))),
        id="user",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "thinkingSignature": "s", "redacted": True},
                {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "p"}},
            ],
            "usage": {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4, "cacheWrite1h": 1, "totalTokens": 10},
            "stopReason": "toolUse",
            "errorMessage": "e",
            "provider": "p",
            "model": "m",
            "api": "a",
        },
        Assistant(
            content=(
                Thinking(thinking="hm", thinking_signature="s", redacted=True),
                ToolCall(id="c", name="read", arguments={"path": "p"}),
            ),
            usage=Usage(input=1, output=2, cache_read=3, cache_write=4, cache_write_1h=1, total_tokens=10),
            stop_reason="toolUse",
            error_message="e",
            provider="p",
            model="m",
            api="a",
        ),
        id="assistant",
    ),
    pytest.param(
        {"role": "toolResult", "content": "x", "toolCallId": "c", "toolName": "t", "isError": True, "nestedCalls": [1]},
        ToolResult(content="x", tool_call_id="c", tool_name="t", is_error=True, nested_calls=[1]),
        id="tool-result",
    ),
    pytest.param(
        {
            "role": "bashExecution",
            "command": "ls",
            "output": "o",
            "exitCode": 1,
            "cancelled": True,
            "truncated": True,
            "fullOutputPath": "f",
            "excludeFromContext": True,
        },
        BashExecution(
            command="ls",
            output="o",
            exit_code=1,
            cancelled=True,
            truncated=True,
            full_output_path="f",
            exclude_from_context=True,
        ),
        id="bash",
    ),
    pytest.param(
        {"role": "custom", "content": "x", "customType": "k", "display": False},
        Custom(content="x", custom_type="k", display=False),
        id="custom",
    ),
    pytest.param(
        {"role": "branchSummary", "summary": "s", "fromId": "f"}, BranchSummary(summary="s", from_id="f"), id="branch"
    ),
    pytest.param(
        {"role": "compactionSummary", "summary": "s", "tokensBefore": 5},
        CompactionSummary(summary="s", tokens_before=5),
        id="compaction",
    ),
    pytest.param(
        {"role": "system", "content": "x", "sections": {"a": "b"}, "toolsAdded": [1]},
        System(content="x", sections={"a": "b"}, tools_added=[1]),
        id="system",
    ),
]


@pytest.mark.parametrize(("plain", "typed"), WHOLE)
def test_reads_every_role(plain, typed):
    """Every field of every role is read, whatever else the message holds."""
    assert as_message(plain | {"foreign": 1}) == typed
    assert as_message(plain | {"timestamp": 7.5}).timestamp == 7.5


@pytest.mark.parametrize(("plain", "typed"), WHOLE)
def test_gives_the_plain_form_back(plain, typed):
    """A typed message gives the dict that it was read from, and that dict reads as the same message."""
    assert as_dict(typed) == plain | {"timestamp": 0} | ({"display": False} if plain["role"] == "custom" else {})
    assert as_message(as_dict(typed)) == typed


def test_a_struct_is_its_own_message():
    """What is typed already passes through by identity."""
    message = User(content="x")
    assert as_message(message) is message


def test_unknown_roles_keep_their_name():
    """A role that is not known, or no role at all, gives an unknown message."""
    assert as_message({"role": "hookMessage", "timestamp": 3}) == Unknown(role="hookMessage", timestamp=3)
    assert as_message({"role": {"a": 1}}) == as_message({}) == Unknown(role="")
    assert as_dict(Unknown(role="hookMessage")) == {"role": "hookMessage"}


def test_a_dict_gives_a_fresh_dict():
    """The plain form of a dict is a copy."""
    plain = {"role": "user", "content": "x", "extra": 1}
    assert as_dict(plain) == plain
    assert as_dict(plain) is not plain


def test_plain_form_leaves_out_what_is_absent():
    """Absent fields stay absent; unknown parts keep their kind; thinking shows only what it has."""
    message = Assistant(content=(Thinking(thinking="hm"), OtherPart(kind="audio"), ToolCall(id="c", name="n")))
    assert as_dict(message) == {
        "role": "assistant",
        "timestamp": 0,
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "audio"},
            {"type": "toolCall", "id": "c", "name": "n", "arguments": {}},
        ],
    }
    assert as_dict(User()) == {"role": "user", "content": None, "timestamp": 0}
    assert as_dict(BranchSummary(summary="s")) == {"role": "branchSummary", "summary": "s", "timestamp": 0}


@pytest.mark.parametrize(
    ("odd", "typed"),
    [
        ({"role": "user", "content": {"type": "text"}}, User()),
        ({"role": "user", "content": 5}, User()),
        ({"role": "user", "content": [None, "x", {"type": 7}]},
         User(content=(OtherPart(kind="NoneType"), OtherPart(kind="str"), OtherPart(kind="")))),
        ({"role": "user", "content": [{"type": "text", "text": None}]}, User(content=(Text(),))),
        ({"role": "user", "timestamp": True}, User()),
        ({"role": "user", "timestamp": "2024-01-01"}, User()),
        ({"role": "assistant", "usage": [1]}, Assistant()),
        ({"role": "assistant", "content": [{"type": "toolCall", "arguments": None}]},
         Assistant(content=(ToolCall(arguments=None),))),
        ({"role": "toolResult", "isError": 1, "toolCallId": 5}, ToolResult()),
        ({"role": "bashExecution", "exitCode": "1", "cancelled": "yes"}, BashExecution()),
        ({"role": "custom", "display": 0}, Custom()),
        ({"role": "compactionSummary", "tokensBefore": True}, CompactionSummary()),
    ],
)  # fmt: skip
def test_odd_fields_read_as_absent(odd, typed):
    """A value of the wrong type is as good as none."""
    assert as_message(odd) == typed


def test_text_and_parts_of_any_content():
    """Text is one part, nothing is none, and only text parts have text."""
    mixed = (Text(text="a"), Image(), Text(text="b"))
    assert [text_of(content) for content in ("x", None, (), mixed)] == ["x", "", "", "a\nb"]
    assert text_of(mixed, joiner="") == "ab"
    assert list(parts_of("x")) == [Text(text="x")]
    assert list(parts_of(None)) == []
    assert parts_of(mixed) is mixed


def test_only_assistants_call_tools():
    """Calls are read from an assistant's parts, in order."""
    calls = (ToolCall(id="1"), ToolCall(id="2"))
    assert list(tool_calls(Assistant(content=(calls[0], Text(), calls[1])))) == list(calls)
    assert [list(tool_calls(m)) for m in (Assistant(content="x"), Assistant(), User(content=calls))] == [[], [], []]


def shown(message):
    """All of a message for comparison: NaN equals NaN, and the sign of a zero does not matter."""
    return repr(message).replace("=-0.0,", "=0,").replace("=0.0,", "=0,")


@settings(max_examples=120)
@given(messages)
@example({"role": "assistant", "usage": {"totalTokens": None}})
@example(
    {"role": "assistant", "usage": {"input": 1, "output": 1, "cacheRead": 1, "cacheWrite": 1, "cacheWrite1h": None}}
)
@example({"role": "assistant", "usage": {"input": None, "output": 1, "cacheRead": 1, "cacheWrite": 1}})
@example({"role": "user", "content": [{"type": "text", "text": "\ud83d"}]})
@example({"role": "user", "timestamp": 2**70})
@example({"role": "user", "timestamp": -0.0})
def test_both_readers_of_a_line_agree(plain):
    """A line that is decoded straight into structs gives what its decoded JSON gives."""
    raw = json.dumps({"type": "message", "message": plain}).encode()
    fast = Entry(id="", parent_id=None, type="message", raw=raw).message
    lenient = as_message(loads(raw)["message"])
    assert shown(fast) == shown(lenient)


@pytest.mark.parametrize(
    ("reason", "failed"),
    [("error", True), ("aborted", True), ("stop", False), ("length", False), ("toolUse", False), (None, False)],
)
def test_a_response_that_did_not_end_well_has_failed(reason, failed):
    """An error or an abort; the token cap is no failure, and neither is a reason that nobody gave."""
    assert Assistant(stop_reason=reason).failed is failed


@settings(max_examples=60)
@given(messages)
def test_the_plain_form_reads_the_same(plain):
    """Typed to plain and back is the same message, but for the time of an unknown one."""
    message = as_message(plain)
    if isinstance(message, Unknown):
        message = msgspec.structs.replace(message, timestamp=0)
    assert shown(as_message(as_dict(message))) == shown(message)
