from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leafscar.estimate.chars import message_chars
from leafscar.model import Assistant, BashExecution, Custom, Text, Thinking, ToolCall, as_message
from leafscar.model.messages import Unknown
from leafscar.replay.content import Label, labels_of, output_labels

REMINDER = "<system-reminder>be brief</system-reminder>"


def text(words):
    """A text part."""
    return {"type": "text", "text": words}


@pytest.mark.parametrize(
    ("message", "labels"),
    [
        ({"role": "user", "content": "hello"}, {Label("user"): 5}),
        ({"role": "user", "content": f"hi{REMINDER}"}, {Label("user"): 2, Label("injected"): len(REMINDER)}),
        ({"role": "user", "content": [{"type": "image", "data": ""}]}, {Label("images"): 4800}),
        ({"role": "user", "content": [{"type": "odd"}]}, {}),
        ({"role": "custom", "customType": "x", "content": [text("abc")]}, {Label("injected"): 3}),
        ({"role": "toolResult", "toolName": "read", "content": [text("abcd")]}, {Label("results", "read"): 4}),
        ({"role": "bashExecution", "command": "ls", "output": "a"}, {Label("results", "bash (by the user)"): 3}),
        ({"role": "compactionSummary", "summary": "was"}, {Label("summaries"): 3}),
        ({"role": "branchSummary", "summary": "was"}, {Label("summaries"): 3}),
        ({"role": "system", "content": "be", "sections": {"a": "good"}}, {Label("overhead"): 6}),
        (
            {"role": "assistant", "content": [
                text("so"), {"type": "thinking", "thinking": "hmm"}, {"type": "odd"},
                {"type": "toolCall", "id": "1", "name": "ls", "arguments": {"p": 1}},
            ]},
            {Label("text"): 2, Label("thinking"): 3, Label("arguments", "ls"): 9},
        ),
    ],
)  # fmt: skip
def test_a_message_is_weighed_by_class(message, labels):
    """Each part counts for its class, in the units that its size is measured in."""
    assert labels_of(as_message(message)) == labels
    assert sum(labels.values()) == message_chars(message)


def test_an_unknown_role_holds_nothing():
    """What no request holds has no class."""
    assert labels_of(Unknown(role="odd")) == {}


@settings(max_examples=60)
@given(st.lists(st.sampled_from(["<system-reminder>", "</system-reminder>", "word", "\U0001f600", "<"])))
def test_reminders_are_told_apart_without_loss(pieces):
    """However tags are nested or left open, user and injected units add up to the text."""
    message = as_message({"role": "user", "content": "".join(pieces)})
    weights = labels_of(message)
    assert sum(weights.values()) == message_chars(message)
    assert all(weight > 0 for weight in weights.values())


def test_an_open_reminder_is_not_searched_again_and_again():
    """A text full of opening tags that nothing closes is the user's, and one pass decides it."""
    assert labels_of(as_message({"role": "user", "content": "<system-reminder>" * 200_000})) == {
        Label("user"): 3_400_000
    }


def test_output_is_shared_out_by_words():
    """Without thinking the output tokens go to text and arguments by their length."""
    message = Assistant(content=(Text(text="abcd"), ToolCall(name="ls", arguments={})))
    assert output_labels(message, 16, 1.0) == {Label("text"): 8, Label("arguments", "ls"): 8}


def test_what_words_do_not_account_for_was_thought():
    """Where a response thought, thinking is billed beyond what the host kept of it."""
    message = Assistant(content=(Text(text="abcd" * 10), Thinking(thinking="hm")))
    assert output_labels(message, 100, 1.0) == {Label("text"): 10, Label("thinking"): 90}
    assert output_labels(message, 21, 4.0) == {Label("text"): pytest.approx(20), Label("thinking"): pytest.approx(1)}


def test_an_answer_without_words_is_text():
    """Output of a response that holds nothing is billed as text."""
    assert output_labels(Assistant(content=None), 7, 1.0) == {Label("text"): 7}


def test_parts_that_hold_no_text_weigh_nothing():
    """Custom messages and executions without text have no class."""
    assert labels_of(Custom(content=None)) == {}
    assert labels_of(BashExecution()) == {}
