"""Level 2 on entries in which any field may be missing or of any type."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.session.strategies import odd_entries

from leafscar.compaction import (
    DEFAULT,
    PI_0821_AGENT_CORE,
    PI_0821_CODING_AGENT,
    PI_130,
    CompactionSettings,
    Rules,
    SummaryOptions,
    SummaryResponse,
    branch_walk,
    check_pairs,
    compact,
    find_cut,
    pins_of,
    prepare,
    project_context,
    settle,
)
from leafscar.errors import SessionError, SummaryFailed

ALL_RULES = [DEFAULT, PI_130, PI_0821_AGENT_CORE, PI_0821_CODING_AGENT]
RULE_NAMES = ["ours", "pi-130", "agent-core", "coding-agent"]
KEEP = CompactionSettings(keep_recent_tokens=1)


def _answered(prepared: object, rules: Rules) -> None:
    asking = compact(prepared, SummaryOptions(), rules)
    next(asking)
    with suppress(StopIteration, SummaryFailed):
        while True:
            asking.send(SummaryResponse(texts=("summary",), usage={"input": "x", "output": None, "cost": 5}))


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
@given(path=st.lists(odd_entries, max_size=4))
@settings(max_examples=25, deadline=None)
def test_whatever_entries_hold_is_read(rules: Rules, path: list) -> None:
    """A path is projected, searched, cut and made sendable however odd its values are."""
    items = project_context(path, rules).items
    check_pairs(settle([item.as_dict() for item in items]))
    find_cut(path, 0, len(path), 1, rules)
    pins_of(path)
    prepared = prepare(path, KEEP, rules)
    if prepared is not None:
        _answered(prepared, rules)
    for entry in path:
        with suppress(SessionError):
            branch_walk(path, entry.get("id") if isinstance(entry.get("id"), str) else None, rules)


def _message(id_: str, role: str = "user", **fields: object) -> dict:
    return {"type": "message", "id": id_, "message": {"role": role, "content": "text", **fields}}


@pytest.mark.parametrize("target", [["a"], {}, None, 5, True])
def test_a_target_that_is_no_text_names_nothing(target: object) -> None:
    """An edit or a label that points at no id edits and pins nothing, not even an entry that is called None."""
    name = str(target)
    edit = {"type": "context_edit", "id": "x", "targetId": target, "replacement": {"content": "changed"}}
    label = {"type": "label", "id": "y", "targetId": target, "label": "pin"}
    path = [_message(name), edit, label]
    assert [message.content for message in project_context(path).messages] == ["text"]
    assert pins_of(path) == ()


def test_a_recovery_is_not_confused_by_an_odd_target() -> None:
    """An edit of nothing after the attempts that were omitted is not an edit of theirs."""
    omit = {"type": "context_edit", "id": "o", "targetId": "b", "replacement": None}
    failed = _message("b", "assistant", stopReason="error")
    odd = {"type": "context_edit", "id": "z", "targetId": ["b"], "replacement": {"content": "x"}}
    plain, confused = ([_message("a"), _message("c"), failed, omit, *more] for more in ([], [odd]))
    for path in (plain, confused):
        assert find_cut(path, 0, len(path), 1, PI_130).first_kept_index >= 0


@pytest.mark.parametrize("tail", [[5], [None, "x", []], [5, {"role": "user", "content": "kept"}]])
def test_a_stored_tail_gives_the_messages_that_it_holds(tail: list) -> None:
    """Members of a stored tail that are no objects give no message, and hide none."""
    path = [_message("a"), {"type": "compaction", "id": "k", "summary": "s", "retainedTail": tail}, _message("b")]
    items = project_context(path, PI_0821_AGENT_CORE).items
    kept = [member for member in tail if isinstance(member, dict)]
    assert [item.as_dict() for item in items[1:-1]] == kept
    assert json.dumps([item.as_dict() for item in items])


@pytest.mark.parametrize("tail", ["text", 5, {"0": 1}])
def test_a_stored_tail_that_is_no_list_is_none(tail: object) -> None:
    """Where the tail is no list, what the cut keeps is kept from the entries, and the walk goes on to them."""
    cut = {"type": "compaction", "id": "k", "parentId": "a", "summary": "s", "firstKeptEntryId": "a"}
    path = [_message("a"), {**cut, "retainedTail": tail}, {**_message("b"), "parentId": "k"}]
    assert [item.entry.id for item in project_context(path, PI_0821_AGENT_CORE).items] == ["k", "a", "b"]
    assert [entry.id for entry in branch_walk(path, "b", PI_0821_AGENT_CORE)] == ["a", "k", "b"]
