"""What a cut would summarise and what it would keep."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts.pi_parity.engines import ENGINES
from scripts.pi_parity.sessions import random_case
from tests.compaction.build import assistant, call, compaction, entry, ids, mark, result, session, tokens, user
from tests.compaction.build import settings as cut_settings

from leafscar.compaction import (
    DEFAULT,
    PI_0821_AGENT_CORE,
    PI_0821_CODING_AGENT,
    PI_130,
    Item,
    Rules,
    derive_reserve,
    keep_recent,
    prepare,
    project_context,
)
from leafscar.model import Assistant, ToolResult
from leafscar.model.messages import tool_calls

CODING = [DEFAULT, PI_130, PI_0821_CODING_AGENT]
ALL_RULES = [*CODING, PI_0821_AGENT_CORE]
RULE_NAMES = ["ours", "pi-130", "coding-agent", "agent-core"]


def _submissions(*, marked: bool) -> list:
    first = [user("one"), assistant(call("c1")), result("c1", tokens(50)), assistant("done")]
    second = [user("two"), assistant(call("c2")), result("c2", tokens(50)), assistant("done")]
    marks = [mark()] if marked else []
    return session(*marks, *first, *marks, *second)


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_54_a_marked_prompt_makes_the_previous_submission_the_prefix(rules: Rules) -> None:
    """With a mark the cut is a split turn whose prefix is the whole previous submission."""
    prepared = prepare(_submissions(marked=True), cut_settings(keep=54), rules)
    assert prepared is not None
    assert prepared.is_split_turn
    assert (ids(prepared.history), ids(prepared.turn_prefix)) == ([], ["e2", "e3", "e4", "e5"])
    assert prepared.first_kept_entry_id == "e6"


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_55_without_a_mark_the_previous_submission_is_history(rules: Rules) -> None:
    """Without a mark nothing is split."""
    prepared = prepare(_submissions(marked=False), cut_settings(keep=54), rules)
    assert prepared is not None
    assert not prepared.is_split_turn
    assert (ids(prepared.history), ids(prepared.turn_prefix)) == (["e1", "e2", "e3", "e4"], [])


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_58_a_second_cut_in_a_turn_goes_on_from_the_first(rules: Rules) -> None:
    """Where the first cut fell in mid-turn, the second finds no turn to split and has a previous summary."""
    path = session(
        user("one"), assistant(call("c1")), result("c1"), assistant(call("c2")), result("c2"),
        compaction("e4", "first"), assistant(call("c3")), result("c3"), assistant(tokens(30)),
    )  # fmt: skip
    prepared = prepare(path, cut_settings(keep=20), rules)
    assert prepared is not None
    assert not prepared.is_split_turn
    assert prepared.previous_summary == "first"
    assert ids(prepared.history) == ["e4", "e5", "e7", "e8"]


@pytest.mark.parametrize(
    ("rules", "nothing"), [*((rules, True) for rules in CODING), (PI_0821_AGENT_CORE, False)], ids=RULE_NAMES
)
def test_b10_61_nothing_to_summarise_is_nothing_to_cut(rules: Rules, nothing: bool) -> None:
    """When all fits the tail no model is asked; the core would ask about an empty conversation."""
    prepared = prepare(session(user("one"), assistant("two")), cut_settings(keep=500), rules)
    assert (prepared is None) is nothing
    assert prepared is None or prepared.is_empty


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param([], id="b10_63-empty-branch"),
        pytest.param(session(user("one"), compaction("e1")), id="b10_63-leaf-is-a-cut"),
    ],
)
def test_a_leaf_that_is_a_cut_or_no_leaf_has_nothing_to_cut(path: list, rules: Rules) -> None:
    """Neither is an error."""
    assert prepare(path, cut_settings(), rules) is None


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_an_entry_without_an_id_cannot_be_kept_from(rules: Rules) -> None:
    """A cut must be able to name its first kept entry."""
    path = session(user("one"), {"type": "message", "id": "", "message": user(tokens(30))})
    assert prepare(path, cut_settings(keep=20), rules) is None


def test_a_cut_with_nothing_after_it_has_nothing_to_cut() -> None:
    """1.3.0: where a projection holds only its cut there is no entry to keep from."""
    path = session(user("one"), compaction("e2"), entry("label", targetId="e1"))
    assert prepare(path, cut_settings()) is None
    assert prepare(path, cut_settings(), PI_0821_CODING_AGENT) is None


def test_b10_62_messages_kept_by_the_first_cut_are_summarised_by_the_second() -> None:
    """The search begins at the first kept entry of the newest cut, and its summary is no message of the history."""
    path = session(
        user("one"), assistant("two"), user("three"), assistant("four"), compaction("e3", "first"),
        user("five"), assistant(tokens(30)),
    )  # fmt: skip
    for rules in (DEFAULT, PI_130, PI_0821_CODING_AGENT):
        prepared = prepare(path, cut_settings(keep=30), rules)
        assert prepared is not None
        assert ids(prepared.history) == ["e3", "e4"]


def test_b10_65_a_stored_tail_hides_what_the_first_cut_kept() -> None:
    """With its tail on the entry the core neither summarises nor keeps that tail; with the first kept id it does."""
    first_kept = session(user("one"), user("kept"), compaction("e2"), user("three"), user(tokens(30)))
    stored = [{**e, "retainedTail": [user("kept")]} if e["type"] == "compaction" else e for e in first_kept][2:]
    with_id = prepare(first_kept, cut_settings(keep=20), PI_0821_AGENT_CORE)
    with_tail = prepare(stored, cut_settings(keep=20), PI_0821_AGENT_CORE)
    assert with_id is not None
    assert with_tail is not None
    assert ids(with_id.history) == ["e2", "e4"]
    assert ids(with_tail.history) == ["e4"]
    assert ids(with_id.retained_tail) == ["e5"]


@pytest.mark.parametrize(
    ("rules", "expected"), [(DEFAULT, 43), (PI_130, 43), (PI_0821_CODING_AGENT, 940)], ids=RULE_NAMES[:3]
)
def test_tokens_before_do_not_rest_on_usage_from_before_a_cut(rules: Rules, expected: int) -> None:
    """0.82.1 reports the stale usage of a kept response."""
    path = session(
        user("one"), assistant("two", total=900), compaction("e2", "first"), user(tokens(10)), user(tokens(30))
    )
    prepared = prepare(path, cut_settings(keep=20), rules)
    assert prepared is not None
    assert prepared.tokens_before == expected


def test_a_previous_cut_whose_kept_entry_is_gone_starts_after_it() -> None:
    """0.82.1 searches from the entry after the cut, 1.3.0 from its projection: the same."""
    path = session(user("one"), user("two"), compaction("nowhere"), user("three"), user(tokens(30)))
    for rules in ALL_RULES:
        prepared = prepare(path, cut_settings(keep=20), rules)
        assert prepared is not None
        assert ids(prepared.history) == ["e4"]


def test_an_omitted_cut_is_no_previous_cut() -> None:
    """1.3.0: an edit may omit the summary itself; then there is none to go on from."""
    path = session(
        user("one"), compaction("e1", "gone"), entry("context_edit", targetId="e2", replacement=None),
        user("three"), user(tokens(30)),
    )  # fmt: skip
    prepared = prepare(path, cut_settings(keep=20))
    assert prepared is not None
    assert prepared.previous_summary is None


def test_system_messages_are_no_conversation() -> None:
    """1.3.0: they are prompt state and never summarised."""
    path = session({"role": "system", "content": "be good"}, user("one"), assistant("two"), user(tokens(30)))
    prepared = prepare(path, cut_settings(keep=20))
    assert prepared is not None
    assert ids(prepared.history) == ["e2", "e3"]
    before = prepare(path, cut_settings(keep=20), PI_0821_CODING_AGENT)
    assert before is not None
    assert ids(before.history) == ["e1", "e2", "e3"]


def test_the_core_summarises_an_empty_branch_summary() -> None:
    """It makes a message of it; the others see nothing."""
    path = session(user("one"), entry("branch_summary", fromId="f", summary=""), user("two"), user(tokens(30)))
    core = prepare(path, cut_settings(keep=20), PI_0821_AGENT_CORE)
    ours = prepare(path, cut_settings(keep=20))
    assert core is not None
    assert ours is not None
    assert ids(core.history) == ["e1", "e2", "e3"]
    assert ids(ours.history) == ["e1", "e3"]


def test_a_recovered_overflow_summarises_the_prompt_that_caused_it() -> None:
    """1.3.0: after omitted attempts alone, an over-budget prompt is not kept."""
    attempts = [assistant("x", stop="error"), entry("context_edit", targetId="e3", replacement=None)]
    path = session(user("one"), user(tokens(50)), *attempts)
    for rules, first in ((DEFAULT, "e3"), (PI_0821_CODING_AGENT, "e2")):
        prepared = prepare(path, cut_settings(keep=20), rules)
        assert prepared is not None
        assert prepared.first_kept_entry_id == first


@pytest.mark.parametrize(
    "rest",
    [
        pytest.param(
            [entry("context_edit", targetId="e1", replacement={"content": "y"})], id="another-entry-was-replaced"
        ),
        pytest.param([assistant("y")], id="a-visible-answer"),
    ],
)
def test_a_suffix_that_is_more_than_omitted_attempts_is_kept(rest: list) -> None:
    """Only a closed suffix of omissions moves the cut."""
    attempts = [assistant("x", stop="error"), entry("context_edit", targetId="e3", replacement=None)]
    prepared = prepare(session(user("one"), user(tokens(50)), *attempts, *rest), cut_settings(keep=20))
    assert prepared is not None
    assert prepared.first_kept_entry_id == "e2"


def test_b10_84_a_cut_shrinks_a_small_window() -> None:
    """With half the threshold kept, a cut of a full 16,384 window leaves less than the threshold."""
    threshold = derive_reserve(16_384, 4096).threshold
    assert threshold == 10_923
    steps = [part for n in range(24) for part in (assistant(call(f"c{n}")), result(f"c{n}", tokens(500)))]
    path = session(user("one"), *steps)
    plain = {"reserveTokens": 5461, "keepRecentTokens": 20_000}
    assert prepare(path, plain) is None
    prepared = prepare(path, {**plain, "keepRecentTokens": keep_recent(threshold)})
    assert prepared is not None
    after = project_context([*path, {**compaction(prepared.first_kept_entry_id), "id": "cut"}])
    assert 0 < sum(len(str(m)) for m in after.messages) // 4 < threshold


def _pairs(items: tuple[Item, ...]) -> set[tuple[str, str]]:
    calls: dict[str, str] = {}
    found: set[tuple[str, str]] = set()
    for item in items:
        if isinstance(item.message, ToolResult) and item.message.tool_call_id in calls:
            found.add((calls[item.message.tool_call_id], item.entry.id))
        if isinstance(item.message, Assistant):
            calls.update({one.id: item.entry.id for one in tool_calls(item.message)})
    return found


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 10**6), engine=st.sampled_from(ENGINES), keep=st.integers(0, 300))
def test_no_cut_breaks_a_tool_pair(seed: int, engine: object, keep: int) -> None:
    """Whatever the session and the tokens kept: a call and its result stay together or go together."""
    path = random_case(f"pairs-{seed}", engine)["entries"]
    path = [{**e, "parentId": None} for e in path if e["type"] != "leaf"]
    prepared = prepare(path, cut_settings(keep=keep))
    if prepared is None:
        return
    before = _pairs(project_context(path).items)
    cut = {"id": "cut", **compaction(prepared.first_kept_entry_id), "timestamp": "2026-05-01T00:00:00Z"}
    kept = set(ids(project_context([*path, cut]).items))
    assert all((a in kept) == (b in kept) for a, b in before)
