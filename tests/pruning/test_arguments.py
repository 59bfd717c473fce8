"""Long arguments of write and edit calls."""

from __future__ import annotations

import pytest

from leafscar.model import Assistant, as_dict, as_message
from leafscar.pruning import Never
from leafscar.pruning.arguments import argument_marker, argument_tokens, with_marked_arguments, with_marked_dict
from leafscar.pruning.eligible import NOTHING
from leafscar.pruning.prune import replaced

LONG = "x" * 2_000
MARKER = argument_marker(500, "ab12")


def response(*calls: tuple[str, object]):
    """A response as a plain dict, with a text and these calls."""
    parts = [
        {"type": "toolCall", "id": f"c{at}", "name": name, "arguments": value} for at, (name, value) in enumerate(calls)
    ]
    return {"role": "assistant", "content": [{"type": "text", "text": "I write it."}, *parts], "stopReason": "toolUse"}


def arguments_of(message):
    """Arguments of each call of a message, typed or plain."""
    plain = message if isinstance(message, dict) else as_dict(message)
    return [part["arguments"] for part in plain["content"] if part["type"] == "toolCall"]


CASES = [
    (("write", {"path": "a.py", "content": LONG}), {"path": "a.py", "content": MARKER}, 500),
    (
        ("edit", {"path": "a.py", "oldText": "x = 1", "newText": LONG}),
        {"path": "a.py", "oldText": "x = 1", "newText": MARKER},
        500,
    ),
    (
        ("MultiEdit", {"file_path": "a", "edits": [{"old_string": LONG, "new_string": LONG, "replace_all": True}]}),
        {"file_path": "a", "edits": [{"old_string": MARKER, "new_string": MARKER, "replace_all": True}]},
        1_000,
    ),
    (("apply_patch", LONG), MARKER, 500),
    (("write", {"path": LONG, "content": "short"}), {"path": LONG, "content": "short"}, 0),
    (("bash", {"command": LONG}), {"command": LONG}, 0),
    (("write", {"path": "a", "content": None}), {"path": "a", "content": None}, 0),
    (("write", None), None, 0),
]


@pytest.mark.parametrize(("call", "expected", "tokens"), CASES)
def test_long_texts_go_and_the_call_keeps_its_shape(call, expected, tokens):
    """Same keys, texts for texts; the path and what is short stay, other tools stay whole; typed and plain agree."""
    plain = response(call)
    typed = as_message(plain)
    assert isinstance(typed, Assistant)
    assert argument_tokens(typed, never=NOTHING, entry_id="ab12") == tokens
    assert arguments_of(with_marked_arguments(typed, MARKER)) == [expected]
    assert arguments_of(with_marked_dict(plain, MARKER)) == [expected]
    assert replaced(plain, MARKER) == with_marked_dict(plain, MARKER)
    assert replaced(typed, MARKER) == with_marked_arguments(typed, MARKER)


def test_the_other_calls_of_a_response_stay():
    """Text, ids and calls of other tools are as before, and nothing that came in is changed."""
    plain = response(("read", {"path": LONG}), ("write", {"path": "a", "content": LONG}))
    after = with_marked_dict(plain, MARKER)
    assert after["content"][:2] == plain["content"][:2]
    assert plain["content"][2]["arguments"]["content"] == LONG
    assert after["content"][2] | {"arguments": None} == plain["content"][2] | {"arguments": None}


def test_the_marker_names_size_and_reference():
    """One short line, the same for each text of a response."""
    assert argument_marker(1_234, "#77") == "[argument pruned: ~1.2k tokens in #77]"


@pytest.mark.parametrize(
    "never", [Never(tools=("wri*",)), Never(paths=("*.py",)), Never(ids=frozenset({"c0"})), Never(ids=frozenset({"e"}))]
)
def test_what_is_never_pruned_keeps_its_arguments(never):
    """One call that must stay raw keeps the whole response raw."""
    typed = as_message(response(("write", {"path": "a.py", "content": LONG}), ("edit", {"path": "b", "newText": LONG})))
    assert isinstance(typed, Assistant)
    assert argument_tokens(typed, never=never, entry_id="e") == 0
