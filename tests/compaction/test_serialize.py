"""The conversation as one text."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, bash, call, result, user

from leafscar.compaction import DEFAULT, PI_130, serialize
from leafscar.compaction.serialize import clip
from leafscar.model import as_message
from leafscar.model.jsjson import utf16_length

THINKING = {"type": "thinking", "thinking": "hmm"}


def test_each_message_is_a_labelled_block() -> None:
    """In message order, with a blank line between blocks; thinking, text and calls in that order."""
    messages = [
        user([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]),
        assistant(call("1", "read", path="x", n=2.0), "one", THINKING, call("2", "ls"), "two"),
        result("1", "out"),
        bash(),
    ]
    expected = (
        "[User]: ab\n\n[Assistant thinking]: hmm\n\n[Assistant]: one\ntwo\n\n"
        '[Assistant tool calls]: read(path="x", n=2); ls()\n\n[Tool result]: out\n\n[User]: Ran `ls`\n```\nout\n```'
    )
    assert serialize(messages) == expected
    assert serialize([as_message(message) for message in messages]) == expected


def test_130_leaves_thinking_out() -> None:
    """Only its rules do."""
    assert "hmm" in serialize([assistant(THINKING)], rules=DEFAULT)
    assert serialize([assistant(THINKING)], rules=PI_130) == ""


@pytest.mark.parametrize(
    "message",
    [
        user(""),
        user([{"type": "image", "data": "x", "mimeType": "image/png"}]),
        user(None),
        result("1", ""),
        assistant(),
        {"role": "system", "content": "x"},
    ],
    ids=["empty", "image-only", "null", "no-output", "no-parts", "system"],
)
def test_nothing_to_read_leaves_no_block(message: dict) -> None:
    """Images never reach a summariser."""
    assert serialize([message]) == ""


def test_an_empty_text_part_still_shows_that_there_was_a_response() -> None:
    """As in the sources."""
    assert serialize([assistant("", {"type": "thinking", "thinking": ""})]) == "[Assistant thinking]: \n\n[Assistant]: "


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"z": 1, "10": "ten", "2": [1, 1e21, -0.0, 1e-7]}, 't(2=[1,1e+21,0,1e-7], 10="ten", z=1)'),
        ({"a": {"b": None, "a": True}}, 't(a={"b":null,"a":true})'),
        ([1, "b"], 't(0=1, 1="b")'),
        (None, "t()"),
    ],
)
def test_arguments_are_written_as_javascript_writes_them(arguments: object, shown: str) -> None:
    """Integer-like names first, compact JSON."""
    part = {"type": "toolCall", "id": "1", "name": "t", "arguments": arguments}
    assert serialize([assistant(part)]) == f"[Assistant tool calls]: {shown}"


def test_a_long_result_is_clipped_at_2000_units() -> None:
    """Only results are, and the text says how much is gone; a pair at the edge is split as in the sources."""
    block = serialize([result("1", "e" * 1999 + "😀" + "f" * 9)])
    assert block == "[Tool result]: " + "e" * 1999 + "\ud83d\n\n[... 10 more characters truncated]"
    assert serialize([result("1", "e" * 2000)]) == "[Tool result]: " + "e" * 2000
    assert len(serialize([user("e" * 9000)])) == 9008
    assert utf16_length(clip("😀" * 3, 2)) == utf16_length("😀\n\n[... 4 more characters truncated]")
