"""Where a cut goes."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripts.pi_parity.engines import ENGINES
from scripts.pi_parity.sessions import random_case
from tests.compaction.build import assistant, bash, call, compaction, entry, mark, result, session, tokens, user

from leafscar.compaction import DEFAULT, PI_0821_AGENT_CORE, PI_0821_CODING_AGENT, PI_130, Rules, find_cut

ALL_RULES = [DEFAULT, PI_130, PI_0821_AGENT_CORE, PI_0821_CODING_AGENT]
RULE_NAMES = ["ours", "pi-130", "agent-core", "coding-agent"]

TURNS = session(
    user("one"),
    assistant(call("c1")),
    result("c1", tokens(100)),
    assistant(tokens(10)),
    user("two"),
    assistant(call("c2")),
    result("c2", tokens(100)),
    assistant(tokens(10)),
)


def _cut(path: list, keep: float, rules: Rules = DEFAULT) -> tuple[int, int, bool]:
    cut = find_cut(path, 0, len(path), keep, rules)
    return cut.first_kept_index, cut.turn_start_index, cut.is_split_turn


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
@pytest.mark.parametrize(
    ("keep", "expected"),
    [
        pytest.param(10, (7, 4, True), id="last-answer"),
        pytest.param(11, (7, 4, True), id="b10_64-inside-a-result-moves-forward"),
        pytest.param(111, (5, 4, True), id="call-with-its-result"),
        pytest.param(113, (4, -1, False), id="b10_55-at-a-prompt"),
        pytest.param(10_000, (0, -1, False), id="everything-fits"),
    ],
)
def test_the_cut_keeps_about_the_recent_tokens(rules: Rules, keep: int, expected: tuple[int, int, bool]) -> None:
    """The cut is the first valid point at or after the entry where the recent tokens are reached."""
    assert _cut(TURNS, keep, rules) == expected


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_54_a_mark_before_a_prompt_splits_the_previous_submission(rules: Rules) -> None:
    """A cut at a marked prompt takes the mark along and has the previous submission as its prefix."""
    marked = session(mark(), *(e["message"] for e in TURNS[:4]), mark(), *(e["message"] for e in TURNS[4:]))
    assert _cut(marked, 113, rules) == (5, 1, True)


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_56_the_first_mark_splits_nothing(rules: Rules) -> None:
    """Before the first submission there is no turn to split."""
    marked = session(mark(), *(e["message"] for e in TURNS[:4]))
    assert _cut(marked, 113, rules) == (0, -1, False)


@pytest.mark.parametrize("rules", ALL_RULES, ids=RULE_NAMES)
def test_b10_57_a_cut_inside_the_first_submission_splits_it(rules: Rules) -> None:
    """The prefix of a mid-turn cut begins at the prompt."""
    marked = session(mark(), *(e["message"] for e in TURNS[:4]))
    assert _cut(marked, 10, rules) == (4, 1, True)


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (DEFAULT, (5, 4, True)),
        (PI_130, (5, 4, True)),
        (PI_0821_CODING_AGENT, (0, -1, False)),
        (PI_0821_AGENT_CORE, (0, -1, False)),
    ],
    ids=RULE_NAMES,
)
def test_b10_60_results_larger_than_keep_are_kept_with_their_call(
    rules: Rules, expected: tuple[int, int, bool]
) -> None:
    """0.82.1 cuts nothing there; the last valid point is the call that the results belong to."""
    assert _cut(TURNS[:7], 50, rules) == expected


def test_nothing_but_results_has_no_cut_point() -> None:
    """Without a valid point the range is kept whole."""
    assert _cut(session(result("c1", tokens(9))), 1) == (0, -1, False)
    assert _cut([], 1) == (0, -1, False)


@pytest.mark.parametrize(
    ("rules", "expected"), [(DEFAULT, (1, 0, True)), (PI_130, (2, -1, False))], ids=["ours", "pi-130"]
)
def test_a_message_between_call_and_result_is_no_cut_point(rules: Rules, expected: tuple[int, int, bool]) -> None:
    """The source would keep the result without its call; leafscar cuts before the call."""
    inside = session(
        user("one"),
        assistant(call("c1")),
        entry("custom_message", customType="k", content=tokens(60), display=True),
        result("c1"),
    )
    assert _cut(inside, 50, rules) == expected


def test_a_reused_call_id_belongs_to_the_nearest_call() -> None:
    """Providers that number calls anew in each turn do not bind distant turns together."""
    path = session(assistant(call("c0")), result("c0"), user(tokens(50)), assistant(call("c0")), result("c0"))
    assert _cut(path, 40) == (2, -1, False)


def test_agent_core_counts_messages_only_and_goes_by_entry_type() -> None:
    """The core passes over custom messages when it counts and slides back across them."""
    path = session(
        user("one"),
        assistant(tokens(10)),
        entry("custom_message", customType="k", content=tokens(500), display=True),
        user(tokens(10)),
    )
    assert _cut(path, 10, PI_0821_AGENT_CORE) == (2, 2, True)
    assert _cut(path, 11, PI_0821_CODING_AGENT) == (2, -1, False)
    assert _cut(path, 10, PI_0821_CODING_AGENT) == (3, -1, False)


def test_agent_core_stops_at_a_message_worth_nothing() -> None:
    """With 0 to keep the walk stops at the last message in the core, at the last one with tokens elsewhere."""
    path = session(user("one"), assistant("two"), assistant(""))
    assert _cut(path, 0, PI_0821_AGENT_CORE) == (2, 0, True)
    assert _cut(path, 0, PI_0821_CODING_AGENT) == (1, 0, True)


def test_agent_core_takes_a_command_as_the_turn_it_starts() -> None:
    """A cut at a command splits an empty prefix in the core, nothing elsewhere."""
    path = session(user("one"), assistant("two"), bash("ls", tokens(20)))
    assert _cut(path, 5, PI_0821_AGENT_CORE) == (2, 2, True)
    assert _cut(path, 5, DEFAULT) == (2, -1, False)


def test_an_empty_branch_summary_is_a_cut_point_of_the_core_alone() -> None:
    """The core looks at the entry's type, the others at what it projects."""
    path = session(user("one"), entry("branch_summary", fromId="f", summary=""), result("c9", tokens(20)))
    assert _cut(path, 5, PI_0821_AGENT_CORE)[0] == 0
    assert find_cut(path, 1, 3, 5, PI_0821_AGENT_CORE).first_kept_index == 1
    assert find_cut(path, 1, 3, 5, PI_0821_CODING_AGENT).is_split_turn is False


def test_a_cut_never_slides_over_a_compaction() -> None:
    """Entries before a compaction stay where they are."""
    path = session(user("one"), compaction("e1"), mark(), user(tokens(20)))
    assert _cut(path, 5, PI_0821_CODING_AGENT)[0] == 2


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    which=st.integers(0, 3),
    keep=st.integers(-1, 400),
    ends=st.tuples(st.integers(-2, 60), st.integers(-2, 60)),
)
def test_a_cut_stays_inside_the_range(seed: int, which: int, keep: int, ends: tuple[int, int]) -> None:
    """Whatever the session, the first kept entry lies in the range that was searched."""
    entries = random_case(f"cut-{seed}", ENGINES[2])["entries"]
    start, end = min(ends), max(ends)
    cut = find_cut(entries, start, end, keep, ALL_RULES[which])
    low = max(0, start)
    assert low <= cut.first_kept_index <= max(low, min(end, len(entries)))
    assert cut.is_split_turn == (cut.turn_start_index != -1)
    assert cut.turn_start_index == -1 or low <= cut.turn_start_index <= cut.first_kept_index
