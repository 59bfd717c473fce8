"""Make a list sendable."""

from __future__ import annotations

import copy

import pytest
from tests.compaction.build import assistant, bash, call, result, user

from leafscar.compaction import answer_orphans, check_pairs, gather_results, settle, settle_abandoned
from leafscar.errors import BrokenPair
from leafscar.model import Assistant, Text, ToolCall, ToolResult, User, as_message

EMPTY_THOUGHT = {"type": "thinking", "thinking": ""}
THOUGHT = {"type": "thinking", "thinking": "hmm"}


@pytest.mark.parametrize(
    "message",
    [
        pytest.param(assistant("", stop="aborted"), id="b10_41-empty-text"),
        pytest.param(assistant(stop="aborted"), id="nothing-at-all"),
        pytest.param(assistant("said", stop="error"), id="b10_44-error"),
        pytest.param(assistant("said"), id="finished"),
        pytest.param(user("said"), id="not-a-response"),
    ],
)
def test_what_needs_no_settling_is_given_back(message: dict) -> None:
    """The very same object."""
    assert settle_abandoned(message) is message
    typed = as_message(message)
    assert settle_abandoned(typed) is typed


@pytest.mark.parametrize(
    ("parts", "kept", "reason"),
    [
        pytest.param(["said", call("c"), EMPTY_THOUGHT], ["text", "toolCall"], "toolUse", id="b10_42-text-and-call"),
        pytest.param([THOUGHT], ["thinking"], "stop", id="b10_43-thinking-only"),
        pytest.param(["said", {"type": "image", "data": "", "mimeType": ""}], ["text"], "stop", id="text"),
    ],
)
def test_an_abandoned_response_keeps_what_it_said(parts: list, kept: list[str], reason: str) -> None:
    """Calls always, text and thinking when there is any, in their order; b10_47: the original stays as it was."""
    message = assistant(*parts, stop="aborted", api="x")
    before = copy.deepcopy(message)
    settled = settle_abandoned(message)
    assert message == before
    assert [part["type"] for part in settled["content"]] == kept
    assert settled == {**message, "content": settled["content"], "stopReason": reason}
    typed = settle_abandoned(as_message(message))
    assert typed == as_message(settled)


def test_plain_text_of_an_abandoned_response_is_kept() -> None:
    """A foreign file may hold text without parts."""
    message = {"role": "assistant", "content": "said", "stopReason": "aborted"}
    assert settle_abandoned(message) == {**message, "stopReason": "stop"}


@pytest.mark.parametrize("follow", [user("next"), assistant("next"), bash()], ids=["user", "assistant", "bash"])
def test_b10_45_an_unanswered_call_gets_an_error_result(follow: dict) -> None:
    """After the results that are there, before whatever comes next."""
    given = [user("one"), assistant(call("a"), call("b", "ls")), result("a"), follow, user("end")]
    settled = settle(given)
    assert settled[3] == {
        "role": "toolResult", "toolCallId": "b", "toolName": "ls", "isError": True, "timestamp": 0,
        "content": [{"type": "text", "text": "No result provided"}],
    }  # fmt: skip
    assert settled[:3] + settled[4:] == given
    check_pairs(settled)


def test_b10_45_a_call_at_the_end_is_answered_at_the_end() -> None:
    """Structs get a struct."""
    given = [Assistant(content=(ToolCall(id="a", name="ls"),), stop_reason="aborted")]
    settled = settle(given)
    assert settled[1] == ToolResult(
        content=(Text(text="No result provided"),), tool_call_id="a", tool_name="ls", is_error=True
    )
    check_pairs(settled)
    assert settle([]) == []


def test_calls_that_are_never_sent_need_no_answer() -> None:
    """A failed response never reaches the provider."""
    given = [assistant(call("a"), stop="error"), user("next")]
    assert answer_orphans(given) == given
    check_pairs(given)
    assert settle(given) == [user("next")]


@pytest.mark.parametrize(
    ("messages", "broken"),
    [
        ([assistant(call("a")), user("next")], ("a",)),
        ([result("a")], ("a",)),
        ([assistant(call("a")), result("a"), result("a")], ("a",)),
        ([assistant(call("a"), stop="aborted"), result("a")], ("a",)),
        ([assistant(call("a"), call("b")), result("b")], ("a",)),
        ([assistant(call("a")), user("next"), result("a")], ("a",)),
    ],
    ids=["no-result", "no-call", "two-results", "call-never-sent", "one-of-two", "late-result"],
)  # fmt: skip
def test_a_broken_pair_is_named(messages: list, broken: tuple[str, ...]) -> None:
    """The request is not built."""
    with pytest.raises(BrokenPair) as caught:
        check_pairs(messages)
    assert caught.value.call_ids == broken


def test_a_late_result_is_brought_to_its_call() -> None:
    """What came in between follows; an id that is used again belongs to the nearest call before."""
    given = [
        assistant(call("a"), call("b")),
        result("b"),
        user("wait"),
        result("a"),
        assistant(call("a")),
        result("a", "2"),
    ]
    settled = settle(given)
    assert settled == [given[0], given[1], given[3], given[2], given[4], given[5]]
    check_pairs(settled)


@pytest.mark.parametrize(
    ("messages", "left"),
    [
        pytest.param([result("x"), user()], [1], id="no-call"),
        pytest.param([assistant(call("a")), result("a", "1"), user(), result("a", "2")], [0, 1, 2], id="second-result"),
        pytest.param([assistant(call("a"), stop="error"), result("a"), user()], [0, 2], id="failed-response"),
        pytest.param([assistant(stop="aborted"), result("a"), user()], [0, 2], id="abandoned-with-nothing"),
    ],
)
def test_a_result_that_nothing_waits_for_stays_out(messages: list, left: list[int]) -> None:
    """Of two results the first is the answer."""
    assert gather_results(messages) == [messages[position] for position in left]
    check_pairs(settle(messages))


@pytest.mark.parametrize("typed", [False, True], ids=["dicts", "structs"])
def test_what_is_whole_is_given_back(typed: bool) -> None:
    """The very same objects, whatever their form."""
    given = [user(), assistant(call("a"), call("b")), result("b"), result("a"), bash(), assistant("done")]
    given = list(map(as_message, given)) if typed else given
    assert all(mine is its for mine, its in zip(settle(given), given, strict=True))


def test_whole_pairs_pass() -> None:
    """Parallel calls in any order of their results."""
    check_pairs(
        [User(content="one"), *map(as_message, [assistant(call("a"), call("b")), result("b"), result("a"), user("x")])]
    )
