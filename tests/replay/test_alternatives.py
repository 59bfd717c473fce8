from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from leafscar.engine import ControlState, Facts, parse_policy, resolve_lines
from leafscar.engine.decide import View
from leafscar.replay.alternatives import Situation, alternatives_of

FACTS = Facts(window=200_000)
NEW = ControlState()


def rejected(policy: str, *done: str, facts: Facts = FACTS, state: ControlState = NEW, **view: Any):
    """Sentences on what was not done."""
    chosen = parse_policy(policy)
    seen = View(**{"estimate": 151_000.0, "older": 0.0, "fullest": 0.0, **view})
    situation = Situation(policy=chosen, lines=resolve_lines(facts, chosen), facts=facts, view=seen, state=state)
    return list(alternatives_of(situation, done))


def test_control_that_is_off_has_no_alternatives():
    """Without a window nothing could have been done."""
    assert rejected("balanced", facts=Facts(window=None)) == []


def test_under_pressure_each_move_is_weighed():
    """A move that misses the goal, one that is too small, and the cut that was made instead."""
    assert rejected("balanced", "cut", older=19_999, fullest=29_000) == [
        "a move of older material: would save 19,999 tokens, the smallest move is 25,000",
        "a move of everything allowed: would save 29,000 tokens, the goal line of 120,000 needs 31,000",
    ]
    assert rejected("balanced", "cut", older=1_999, fullest=3_000, cold=True)[0].endswith("the smallest move is 2,000")


def test_a_policy_that_need_not_reach_the_goal_is_held_to_its_cut_line():
    """What a move of fewest-cuts had to reach is the line above which it cuts."""
    told = rejected("fewest-cuts", "cut", estimate=190_000, older=0, fullest=25_000)
    assert told[1] == "a move of everything allowed: would save 25,000 tokens, the cut line of 183,616 needs 6,384"


def test_the_move_that_was_not_made_is_named_beside_the_one_that_was():
    """Older material alone, or everything: both with what the goal needed."""
    assert rejected("balanced", "shed", older=10_000, fullest=32_000) == [
        (
            "the other move: older material alone would save 10,000 tokens, everything allowed 32,000; "
            "the goal line of 120,000 needs 31,000"
        ),
        "a cut: the move was enough",
    ]
    assert rejected("balanced", "shed", older=30_000, fullest=30_000) == ["a cut: the move was enough"]


@pytest.mark.parametrize(
    ("policy", "view", "words"),
    [
        ("balanced", {}, "a move while the cache is cold: it was warm"),
        (
            "balanced", {"cold": True, "older": 1_500},
            "a move while the cache is cold: older material would save 1,500 tokens, the smallest move is 2,000",
        ),
        (
            "thrifty", {"fullest": 26_000, "responses": 5, "suffix": 60_000},
            ("a move that pays back: would save 26,000 tokens (smallest move 25,000); reading them on is worth 13,000, "
            "sending the rest again costs 36,500"),
        ),
        (
            "thrifty", {"cold": True},
            ("a move that pays back: would save 0 tokens (smallest move 2,000); reading them on is worth 0, "
            "sending the rest again costs 0"),
        ),
        (
            "balanced", {"estimate": 90_000.0},
            "a move that pays back: 90,000 tokens are not above the payback line of 100,000",
        ),
        ("fewest-cuts", {}, "a cut: 101,000 tokens are not above the cut line of 183,616"),
    ],
)  # fmt: skip
def test_below_the_shed_line_cheap_moves_are_weighed(policy, view, words):
    """Distance to the line, the cold cache, and whether a move would have paid."""
    view = {"estimate": 101_000, **view}
    told = rejected(policy, "keep", **view)
    line = "150,000" if policy != "fewest-cuts" else "140,000"
    assert told[0] == f"a move under pressure: {view['estimate']:,.0f} tokens are not above the shed line of {line}"
    assert words in told


def test_classic_is_told_by_threshold_and_gate():
    """Not engaged, engaged with nothing to prune, and a cut that the moves made unnecessary."""
    assert rejected("classic", "keep") == [
        "a move: 151,000 tokens are not above the threshold line of 183,616",
        "a cut: 151,000 tokens are not above the threshold line of 183,616",
    ]
    assert rejected("classic", "cut", estimate=190_000, older=5.0)[0] == "a move: older material would save 5 tokens"
    assert rejected("classic", "shed", estimate=190_000, older=30_000) == ["a cut: the move was enough"]
    engaged = rejected("classic", "keep", estimate=184_000, engaged=True)
    assert engaged[1] == "a cut: with the moves the request stays at or below the gate of 167,232 tokens"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"facts": replace(FACTS, compaction_enabled=False)}, "compaction.enabled is false"),
        ({"state": ControlState(fruitless=2)}, "two cuts in a row freed less than a tenth of the window"),
        (
            {"state": ControlState(retry_above=160_000)},
            "the last summary failed; none is asked for up to 160,000 tokens",
        ),
        ({}, "no reading is newer than the newest cut"),
    ],
)
def test_a_cut_that_may_not_be_made_has_a_reason(changes, words):
    """Switched off, not helping, failed, or too soon."""
    assert f"a cut: {words}" in rejected("balanced", "keep", may_cut=False, **changes)


@pytest.mark.parametrize(
    ("policy", "facts", "words"),
    [
        ("none", FACTS, ["a move: none never sheds", "a cut: none never cuts"]),
        ("compaction", FACTS, ["a move: compaction never sheds"]),
        ("balanced", replace(FACTS, pruning_enabled=False), ["a move: pruning.enabled is false"]),
        (
            "balanced", replace(FACTS, bound_thinking=True),
            ["a move: this model binds its thinking, and leafscar.boundThinking is off"],
        ),
    ],
)  # fmt: skip
def test_what_never_happens_is_said(policy, facts, words):
    """A policy that does not shed or cut, and settings that do not let it."""
    allowed = facts.pruning_enabled and not facts.bound_thinking
    told = rejected(policy, "keep", facts=facts, may_shed=allowed)
    assert told[: len(words)] == words


def test_an_empty_history_is_named():
    """Above the line, allowed to cut, and still no cut: there was nothing before what must be kept."""
    assert rejected("compaction", "keep", estimate=190_000)[1] == "a cut: there was nothing to cut"
