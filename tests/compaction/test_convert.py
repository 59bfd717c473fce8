"""From session messages to model messages."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, bash, result, user

from leafscar.compaction import DEFAULT, OWN, PI_0821_CODING_AGENT, bash_text, to_model_messages
from leafscar.model import BashExecution, Custom, Text, User, as_message


def test_what_a_model_knows_is_given_back_as_it_is() -> None:
    """The very same objects, dicts and structs."""
    messages = [user("one"), assistant("two"), result("c"), as_message(user("three"))]
    assert all(a is b for a, b in zip(to_model_messages(messages), messages, strict=True))


@pytest.mark.parametrize(
    ("fields", "tail"),
    [
        ({"exitCode": 0}, ""),
        ({"exitCode": None}, ""),
        ({"exitCode": 2}, "\n\nCommand exited with code 2"),
        ({"exitCode": -1}, "\n\nCommand exited with code -1"),
        ({"exitCode": 2, "cancelled": True}, "\n\n(command cancelled)"),
        ({"truncated": True, "fullOutputPath": "/o"}, "\n\n[Output truncated. Full output: /o]"),
        ({"truncated": True}, ""),
        ({"truncated": True, "fullOutputPath": ""}, ""),
        (
            {"exitCode": 1, "truncated": True, "fullOutputPath": "/o"},
            "\n\nCommand exited with code 1\n\n[Output truncated. Full output: /o]",
        ),
    ],
)
def test_a_command_reads_as_what_the_user_did(fields: dict, tail: str) -> None:
    """Command, output and how it ended, in a user message."""
    [message] = to_model_messages([bash("ls", "out", **fields)])
    assert message == {
        "role": "user",
        "content": [{"type": "text", "text": f"Ran `ls`\n```\nout\n```{tail}"}],
        "timestamp": 4,
    }


def test_a_command_without_output_says_so() -> None:
    """Not an empty fence."""
    assert bash_text(BashExecution(command="ls")) == "Ran `ls`\n(no output)"


def test_what_is_not_for_the_model_falls_away() -> None:
    """Excluded commands and unknown roles; system messages before 1.3.0."""
    system = {"role": "system", "content": "x"}
    messages = [bash(excludeFromContext=True), {"role": "mystery"}, system]
    assert to_model_messages(messages, rules=DEFAULT) == [system]
    assert to_model_messages(messages, rules=PI_0821_CODING_AGENT) == []


def test_summaries_are_introduced() -> None:
    """Each kind between its opening and its closing."""
    messages = [{"role": "compactionSummary", "summary": "S"}, {"role": "branchSummary", "summary": "B"}]
    first, second = (m["content"][0]["text"] for m in to_model_messages(messages))
    assert first == f"{OWN.summary_opening}S\n</summary>"
    assert second == f"{OWN.branch_opening}B</summary>"
    assert first.endswith("<summary>\nS\n</summary>")


def test_custom_messages_become_user_messages() -> None:
    """Text becomes a part, parts stay; a dict stays a dict and a struct a struct."""
    parts = [{"type": "text", "text": "a"}]
    assert to_model_messages([{"role": "custom", "content": "a", "timestamp": 7}]) == [
        {"role": "user", "content": parts, "timestamp": 7}
    ]
    assert to_model_messages([{"role": "custom", "content": parts}]) == [{"role": "user", "content": parts}]
    text = (Text(text="a"),)
    structs = [Custom(content="a", timestamp=7), Custom(content=text, timestamp=7)]
    assert to_model_messages(structs) == [User(content=text, timestamp=7)] * 2
