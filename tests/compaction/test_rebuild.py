"""What the model still sees of a path."""

from __future__ import annotations

import pytest
from tests.compaction.build import assistant, compaction, entry, ids, result, session, user

from leafscar.compaction import (
    DEFAULT,
    PI_0821_AGENT_CORE,
    PI_0821_CODING_AGENT,
    PI_130,
    ModelRef,
    Rules,
    entry_messages,
    newest_cut,
    project_context,
)
from leafscar.model import Assistant, CompactionSummary, System, ToolResult, User, as_entry

ALL_RULES = [DEFAULT, PI_130, PI_0821_CODING_AGENT, PI_0821_AGENT_CORE]
RULE_NAMES = ["ours", "pi-130", "coding-agent", "agent-core"]


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_without_a_cut_the_whole_path_is_seen(rules: Rules) -> None:
    """Entries that project nothing leave none; every item knows its entry."""
    path = session(user("one"), entry("label", targetId="e1"), assistant("two"))
    projection = project_context(path, rules)
    assert ids(projection.items) == ["e1", "e3"]
    assert [type(message) for message in projection.messages] == [User, Assistant]


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_a_cut_stands_before_what_it_kept(rules: Rules) -> None:
    """The summary comes first, then the entries from the first kept one, then the later ones."""
    path = session(user("one"), user("two"), compaction("e2", "sum"), user("three"))
    assert ids(project_context(path, rules).items) == ["e3", "e2", "e4"]


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
@pytest.mark.parametrize("first", ["nowhere", "e2", None], ids=["unknown", "itself", "absent"])
def test_a_cut_may_keep_nothing(rules: Rules, first: str | None) -> None:
    """A first kept entry that is not before the cut keeps nothing."""
    path = session(user("one"), compaction(first, "sum"), user("two"))
    assert ids(project_context(path, rules).items) == ["e2", "e3"]


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (DEFAULT, ["e4", "e1", "e3"]),
        (PI_130, ["e4", "e1", "e3"]),
        (PI_0821_CODING_AGENT, ["e4", "e1", "e2", "e3"]),
        (PI_0821_AGENT_CORE, ["e4", "e1", "e2", "e3"]),
    ],
    ids=RULE_NAMES,
)
def test_b10_62_an_older_summary_does_not_come_back(rules: Rules, expected: list[str]) -> None:
    """0.82.1 sends the older summary again when the kept range reaches over its cut."""
    path = session(user("one"), compaction("e1", "first"), user("two"), compaction("e1", "second"))
    assert ids(project_context(path, rules).items) == expected


def test_b10_65_a_stored_tail_is_the_cores_alone() -> None:
    """The core rebuilds from the tail on the entry; everyone else from the first kept entry."""
    path = session(user("one"), compaction("e1", "sum", retainedTail=[assistant("kept")]), user("two"))
    core = project_context(path, PI_0821_AGENT_CORE)
    assert ids(core.items) == ["e2", "e2", "e3"]
    assert core.items[1].as_dict() == assistant("kept")
    assert ids(project_context(path).items) == ["e2", "e1", "e3"]


def test_a_context_edit_omits_or_replaces() -> None:
    """Null omits the target; content replaces its own, text becomes a part where parts are needed."""
    path = session(
        user("one"),
        assistant("two"),
        result("c", "three"),
        user("four"),
        entry("context_edit", targetId="e1", replacement=None),
        entry("context_edit", targetId="e2", replacement={"content": "new"}),
        entry("context_edit", targetId="e4", replacement={"content": "newer"}),
    )
    items = project_context(path).items
    assert ids(items) == ["e2", "e3", "e4"]
    assert items[0].as_dict() == {**assistant("two"), "content": [{"type": "text", "text": "new"}]}
    assert items[1].as_dict() == result("c", "three")
    assert items[2].as_dict() == user("newer")
    assert isinstance(items[2].message, User)
    assert items[2].message.content == "newer"
    assert len(project_context(path, PI_0821_CODING_AGENT).items) == 4


def test_the_newest_edit_of_an_entry_counts() -> None:
    """A later edit takes the place of an earlier one."""
    path = session(
        user("one"),
        entry("context_edit", targetId="e1", replacement=None),
        entry("context_edit", targetId="e1", replacement={"content": "back"}),
    )
    assert [item.as_dict()["content"] for item in project_context(path).items] == ["back"]


def test_an_edit_leaves_other_kinds_of_messages_alone() -> None:
    """Commands and summaries cannot be edited, only omitted."""
    path = session(compaction(None, "sum"), entry("context_edit", targetId="e1", replacement={"content": "x"}))
    assert project_context(path).items[0].as_dict()["summary"] == "sum"


def test_a_cut_carries_the_system_message_it_replays() -> None:
    """1.3.0: the replay stands first and system messages fall out of the kept range."""
    system = {"role": "system", "content": "now"}
    path = session({"role": "system", "content": "then"}, user("one"), compaction("e1", "sum", systemMessage=system))
    items = project_context(path).items
    assert [type(item.message) for item in items] == [System, CompactionSummary, User]
    assert items[0].as_dict() == system
    assert ids(project_context(path, PI_0821_CODING_AGENT).items) == ["e3", "e1", "e2"]


@pytest.mark.parametrize(
    ("message", "content"),
    [(user(None), []), (assistant(), []), ({"role": "toolResult"}, []), ({"role": "system"}, "")],
    ids=["user", "assistant", "tool-result", "system"],
)
def test_absent_content_is_mended(message: dict, content: object) -> None:
    """A hand-made file may hold null; the context holds an empty content."""
    [item] = project_context(session(message)).items
    assert item.as_dict()["content"] == content


def test_messages_of_other_entries_are_given_in_pis_shape() -> None:
    """Custom messages and summaries exist only as projections; every field of their entry is kept."""
    path = session(
        entry("custom_message", customType="k", content="hi", display=False, details={"a": 1}),
        entry("custom_message", customType="k", content=None, display=True),
        entry("branch_summary", summary="left", fromId="f"),
        entry("branch_summary", summary="", fromId="f"),
        compaction(None, "sum"),
    )
    when = as_entry(path[0]).timestamp_ms
    shown = [item.as_dict() for item in project_context(path[:4]).items]
    assert shown == [
        {
            "role": "custom",
            "customType": "k",
            "content": "hi",
            "display": False,
            "details": {"a": 1},
            "timestamp": when,
        },
        {"role": "custom", "customType": "k", "content": [], "display": True, "timestamp": when},
        {"role": "branchSummary", "summary": "left", "fromId": "f", "timestamp": when},
    ]
    [summary] = project_context(path).items
    assert summary.as_dict() == {"role": "compactionSummary", "summary": "sum", "tokensBefore": 5, "timestamp": when}


def test_an_unknown_role_is_seen_but_says_nothing() -> None:
    """Roles of a newer pi stay in their place."""
    [item] = project_context(session({"role": "mystery", "x": 1})).items
    assert item.as_dict() == {"role": "mystery", "x": 1}


def test_an_item_of_no_entry_data_falls_back_to_its_struct() -> None:
    """A message whose entry holds no message gives what the struct knows."""
    from leafscar.compaction import Item  # noqa: PLC0415 - the only test that makes one

    item = Item(entry=as_entry({"type": "other", "id": "x"}), message=ToolResult(content="out", tool_call_id="c"))
    assert item.as_dict()["role"] == "toolResult"


def test_thinking_level_and_model_are_the_last_on_the_path() -> None:
    """A change counts until the next; a response says which model gave it."""
    path = session(
        entry("thinking_level_change", thinkingLevel="low"),
        assistant("one", provider="p", model="m"),
        entry("thinking_level_change", thinkingLevel="high"),
    )
    projection = project_context(path)
    assert (projection.thinking_level, projection.model) == ("high", ModelRef(provider="p", model_id="m"))
    changed = project_context([*path, *session(entry("model_change", provider="q", modelId="n"))])
    assert changed.model == ModelRef(provider="q", model_id="n")
    empty = project_context([])
    assert (empty.thinking_level, empty.model, empty.items) == ("off", None, ())


def test_the_newest_cut_is_found_from_the_end() -> None:
    """Its position in the path; None without one."""
    path = [as_entry(e) for e in session(user("one"), compaction("e1"), compaction("e1"), user("two"))]
    assert newest_cut(path) == 2
    assert newest_cut(path[:1]) is None


def test_one_entry_gives_its_messages_under_the_rules() -> None:
    """A cut with a replay gives two messages under 1.3.0's rules, one before."""
    cut = as_entry(session(compaction(None, "sum", systemMessage={"role": "system", "content": "x"}))[0])
    assert len(entry_messages(cut, DEFAULT)) == 2
    assert len(entry_messages(cut, PI_0821_CODING_AGENT)) == 1
