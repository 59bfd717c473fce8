import pytest
from tests.session.build import answered, bash, cut, entry, result, said

from leafscar.model import as_entry
from leafscar.session.texts import entry_text, pieces_of

CALL = {"type": "toolCall", "id": "c1", "name": "write", "arguments": {"path": "a.py", "content": "x\ny", "n": 1}}


def told(item):
    """Kind, tool, first line and text of each piece of an entry."""
    return [(it.kind, it.tool, it.first_line, it.text) for it in pieces_of(as_entry(item))]


@pytest.mark.parametrize(
    ("item", "kind"),
    [
        (said("a", None, "hello"), "user"),
        (answered("a", None, "hello"), "assistant"),
        (cut("a", None, "b", "hello"), "summary"),
        (entry("a", None, "branch_summary", summary="hello", fromId="b"), "summary"),
        (entry("a", None, "custom_message", customType="x", content="hello"), "note"),
        (said("a", None, "hello", "system"), "system"),
    ],
)
def test_who_said_it(item, kind):
    """Every message with words gives them under the name of who said them."""
    assert told(item) == [(kind, "", 1, "hello")]
    assert entry_text(as_entry(item)) == "hello"


def test_an_answer_piece_by_piece():
    """Thinking, words and calls of an answer are pieces whose first lines count in its whole text."""
    parts = [{"type": "thinking", "thinking": "hm\nso"}, {"type": "text", "text": "now"}, CALL, {"type": "image"}]
    item = said("a", None, parts, "assistant")
    call = "write\npath: a.py\ncontent: x\ny\nn: 1"
    assert told(item) == [
        ("thinking", "", 1, "hm\nso"),
        ("assistant", "", 4, "now"),
        ("call", "write", 6, call),
    ]
    lines = entry_text(as_entry(item)).split("\n")
    assert [lines[number - 1] for number in (1, 4, 6)] == ["hm", "now", "write"]


def test_arguments_that_are_no_object():
    """Free text as arguments is text."""
    item = said("a", None, [{**CALL, "arguments": "*** patch\n+x"}], "assistant")
    assert told(item) == [("call", "write", 1, "write\n*** patch\n+x")]


def test_arguments_within_arguments():
    """Text inside of lists and objects keeps its lines; what lies deeper is JSON, or dots."""
    deep = [[]]
    for _ in range(100_000):
        deep = [deep]
    edits = {"edits": [{"old": "a\nb", "new": {"x": {"y": 1}}}], "none": {}, "deep": deep}
    item = said("a", None, [{**CALL, "name": "edit", "arguments": edits}], "assistant")
    assert told(item)[0][3] == 'edit\nedits.1.old: a\nb\nedits.1.new: {"x": {"y": 1}}\ndeep.1.1: ...'


def test_outputs_are_what_recall_gives():
    """A tool's output is its whole text; the command that a user ran is found but not counted."""
    assert told(result("a", None, "one\ntwo")) == [("result", "read", 1, "one\ntwo")]
    assert told(bash("a", None, "out")) == [("result", "bash", 1, "out"), ("command", "", None, "ls")]
    assert entry_text(as_entry(bash("a", None, "out"))) == "out"
    assert entry_text(as_entry(result("a", None, ""))) == ""


@pytest.mark.parametrize("item", [entry("a", None), said("a", None, "x", "strange"), said("a", None, []), {}])
def test_entries_without_words(item):
    """What projects no message, or one without text, has no pieces and no text."""
    assert told(item) == []
    assert entry_text(as_entry(item)) is None
