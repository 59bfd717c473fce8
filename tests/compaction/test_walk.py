"""The agent core's walk along a branch."""

from __future__ import annotations

import pytest
from tests.compaction.build import compaction, session, user

from leafscar.compaction import DEFAULT, PI_0821_AGENT_CORE, branch_walk
from leafscar.errors import SessionError


def _ids(entries: list, leaf: str | None, rules: object = PI_0821_AGENT_CORE) -> list[str]:
    return [entry.id for entry in branch_walk(entries, leaf, rules)]


def test_a_walk_ends_at_the_root() -> None:
    """Without a cut the whole path is given, oldest first; without a leaf nothing."""
    path = session(user("one"), user("two"), user("three"))
    assert _ids(path, "e2") == ["e1", "e2"]
    assert _ids(path, None) == []


def test_b10_65_a_stored_tail_ends_the_walk() -> None:
    """Under the core's rules nothing before such a cut is reached; under ours its first kept entry is."""
    path = session(user("one"), user("two"), compaction("e2", retainedTail=[]), user("three"))
    assert _ids(path, "e4") == ["e3", "e4"]
    assert _ids(path, "e4", DEFAULT) == ["e2", "e3", "e4"]


def test_an_older_cut_moves_the_end_further_up() -> None:
    """The walk meets the older cut before the newer one's first kept entry, and goes on to the older one's."""
    path = session(user("one"), user("two"), compaction("e2"), user("three"), compaction("e2"), user("four"))
    assert _ids(path, "e6") == ["e2", "e3", "e4", "e5", "e6"]
    far = session(user("one"), user("two"), user("three"), compaction("e1"), compaction("e3"))
    assert _ids(far, "e5") == ["e1", "e2", "e3", "e4", "e5"]


def test_a_missing_entry_is_an_error() -> None:
    """Neither the leaf nor a parent may be missing."""
    with pytest.raises(SessionError, match="Entry nowhere not found"):
        branch_walk([], "nowhere")
    orphan = [{**session(user("one"))[0], "parentId": "gone"}]
    with pytest.raises(SessionError, match="Entry gone not found"):
        branch_walk(orphan, "e1")


@pytest.mark.parametrize("circle", [{"e1": "e1"}, {"e1": "e3"}])
def test_parents_that_form_a_circle(circle: dict) -> None:
    """A walk that would never end is refused with the entry that it came back to."""
    path = [{**item, "parentId": circle.get(item["id"], item["parentId"])} for item in session(*[user("x")] * 3)]
    with pytest.raises(SessionError, match=r"Entry e[13] is its own ancestor"):
        _ids(path, "e3")
