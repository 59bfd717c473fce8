from __future__ import annotations

import json

import pytest
from tests.session.build import answered, cut, entry, header, ids, kinds, result, said, written

from leafscar.session import append, load, save

LEVELS = (129, 400, 900, 5_000)


def deep(id_, parent, levels):
    """Line of a response with a call whose arguments make the line so many levels deep."""
    call = '{"type":"toolCall","id":"c1","name":"write","arguments":%s}'
    line = json.dumps(said(id_, parent, [5], "assistant"), separators=(",", ":"))
    nest = '{"a":' * (levels - 4) + "1" + "}" * (levels - 4)
    return line.replace("[5]", f"[{call % nest}]").encode()


@pytest.mark.parametrize("levels", LEVELS)
def test_a_deep_line_is_kept_and_gives_no_message(tmp_path, levels):
    """A line beyond 128 levels stays an entry of the tree with its bytes, is named, and is copied as it is."""
    path = written(tmp_path / "s.jsonl", header(), said("a", None), deep("b", "a", levels), result("c", "b"))
    session = load(path)
    assert ids(session.context().entries) == ["a", "c"]
    assert ids(load(path).branch()) == ["a", "b", "c"]
    assert kinds(session) == [("too-deep", 3)]
    assert session.problems[0].message == "nested deeper than 128 levels; the entry is kept and gives no message"
    assert session.entry("b").raw == path.read_bytes().splitlines()[2]
    save(session, tmp_path / "copy")
    assert (tmp_path / "copy").read_bytes().splitlines()[1:] == path.read_bytes().splitlines()[1:]
    before = path.read_bytes()
    append(session, "label", {"targetId": "b"})
    assert path.read_bytes().startswith(before)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("version", [1, 2])
def test_old_versions_keep_it_too(tmp_path, version, levels):
    """Versions 1 and 2 are read around a deep line in the same way, and saved without losing it."""
    path = written(tmp_path / "s.jsonl", header(version), said("a", None), deep("b", "a", levels), said("c", "b"))
    session = load(path)
    assert [message.content for message in session.context()] == ["hello", "hello"]
    assert kinds(session) == [("too-deep", 3)]
    save(session, tmp_path / "copy")
    assert path.read_bytes().splitlines()[2] in (tmp_path / "copy").read_bytes().splitlines()
    assert len(load(tmp_path / "copy").entries) == 3


@pytest.mark.parametrize("levels", LEVELS)
def test_a_deep_leaf_and_a_deep_cut(tmp_path, levels):
    """A session may end in a deep line; a cut that is too deep keeps what a cut without fields keeps: nothing."""
    path = written(tmp_path / "s.jsonl", header(), said("a", None), deep("b", "a", levels))
    assert load(path).leaf_id == "b"
    assert ids(load(path).context().entries) == ["a"]
    nest = b"[" * (levels - 1) + b"]" * (levels - 1)
    line = json.dumps(cut("k", "a", "a", details=5), separators=(",", ":")).encode().replace(b":5", b":" + nest)
    path = written(tmp_path / "t.jsonl", header(), said("a", None), line, answered("b", "k"))
    quick, whole = load(path), load(path)
    assert whole.entries
    assert ids(quick.context().entries) == ids(whole.context().entries)


def test_a_deep_line_that_is_no_entry(tmp_path):
    """A deep line without a type, or one that is torn, is skipped and named as any other."""
    nest = b"[" * 5_000 + b"]" * 5_000
    path = written(tmp_path / "s.jsonl", header(), said("a", None), b'{"id":"b","x":' + nest + b"}", nest, nest[:-1])
    path.write_bytes(path.read_bytes() + b'{"type":"message","x":' + nest)
    assert kinds(load(path)) == [("broken-line", 3), ("broken-line", 4), ("broken-line", 5), ("torn-tail", 6)]
    assert ids(load(path).context().entries) == ["a"]


def test_a_deep_entry_of_another_kind(tmp_path):
    """A deep label hides nothing else."""
    label = json.dumps(entry("b", "a", x=5), separators=(",", ":")).encode()
    label = label.replace(b":5", b":" + b"[" * 700 + b"]" * 700)
    path = written(tmp_path / "s.jsonl", header(), said("a", None), label, said("c", "b"))
    assert ids(load(path).context().entries) == ["a", "c"]
    assert load(path).entry("b").type == "label"
