import json
from pathlib import Path

import pytest

from leafscar.estimate import estimate_tokens
from leafscar.estimate.chars import message_chars
from leafscar.model import Assistant, BashExecution, Custom, System, Text, ToolCall, User

IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}
PI = Path(__file__).parent.parent / "data" / "pi"


def text(value):
    """A text part."""
    return {"type": "text", "text": value}


@pytest.mark.parametrize(
    ("message", "units"),
    [
        ({"role": "user", "content": "abcde"}, 5),
        ({"role": "user", "content": "😀😀😀"}, 6),
        ({"role": "user", "content": [text("abc"), text("de"), IMAGE]}, 4805),
        ({"role": "user", "content": [{"type": "audio", "text": "ignored"}, {"type": "thinking", "thinking": "x"}]}, 0),
        ({"role": "user", "content": None}, 0),
        ({"role": "toolResult", "content": [text("out"), IMAGE], "toolName": "bash", "details": {"x": "y"}}, 4803),
        ({"role": "custom", "content": "note"}, 4),
        ({"role": "assistant", "content": [text("hello"), {"type": "thinking", "thinking": "think"}]}, 10),
        ({"role": "assistant", "content": "plain"}, 5),
        ({"role": "assistant", "content": [{"type": "toolCall", "name": "read", "arguments": {"p": 2.0}}]}, 11),
        ({"role": "assistant", "content": [IMAGE]}, 0),
        ({"role": "bashExecution", "command": "ls", "output": "abc", "excludeFromContext": True}, 5),
        ({"role": "branchSummary", "summary": "sum"}, 3),
        ({"role": "compactionSummary", "summary": "summary"}, 7),
        ({"role": "system", "content": [text("be"), IMAGE]}, 4802),
        ({"role": "system", "content": "be", "sections": {"name": "abc", "none": None}}, 5),
        ({"role": "system", "sections": ["x"], "toolsAdded": []}, 2),
        ({"role": "hookMessage", "content": "x"}, 0),
    ],
)
def test_units_of_a_message(message, units):
    """Text, images, calls and sections count as pi counts them, other things not at all."""
    assert message_chars(message) == units
    assert estimate_tokens(message) == -(-units // 4)


def test_rounds_up_once_a_message():
    """Parts are summed before the division."""
    assert estimate_tokens({"role": "user", "content": [text("a"), text("b"), text("c"), text("d")]}) == 1
    assert estimate_tokens({"role": "user", "content": "abcde"}) == 2


def test_typed_and_plain_count_the_same():
    """A typed message counts what its dict counts."""
    assert estimate_tokens(User(content=(Text(text="abcde"),))) == 2
    assert estimate_tokens(Assistant(content=(ToolCall(name="t", arguments={"a": 1}),))) == 2
    assert estimate_tokens(BashExecution(command="a", output="b")) == estimate_tokens(Custom(content="ab")) == 1
    assert estimate_tokens(System()) == 0


@pytest.mark.skipif(not PI.is_dir(), reason="the recorded answers of pi are not in this checkout")
@pytest.mark.parametrize("engine", ["agent-core-0.82.1", "coding-agent-0.82.1", "coding-agent-1.3.0"])
def test_pi_answers(engine):
    """Every recorded message counts as each version of pi counts it; only 1.3.0 knows system messages."""
    messages = json.loads((PI / "p01_tokens.case.json").read_bytes())["messages"]
    expected = json.loads((PI / f"p01_tokens.{engine}.json").read_bytes())["messages"]
    ours = [0 if m["role"] == "system" and "1.3.0" not in engine else estimate_tokens(m) for m in messages]
    assert ours == expected
