from __future__ import annotations

import pytest

from leafscar.engine import Policy, parse_policy
from leafscar.errors import PolicyError
from leafscar.replay.choices import RIVALS, changed, choice_of, converted, keys_of, rival_of
from leafscar.replay.rivals import ClearToolUses, MaskLastN, SummarizeAt


def test_every_rule_has_a_name_with_and_without_a_breakpoint():
    """Each rule can be asked for in two forms, which differ in the breakpoint alone."""
    for name, rule in RIVALS.items():
        bare, marked = choice_of(name), choice_of(f"{name}+breakpoint")
        assert (bare.name, bare.tool, bare.rule, bare.breakpoint) == (name, name, rule, False)
        assert (marked.tool, marked.rule, marked.breakpoint) == (name, rule, True)


def test_two_rules_take_a_parameter_in_their_name():
    """mask-last-n takes the newest outputs to keep, summarize-at a fraction of the window."""
    assert choice_of("mask-last-n:3").rule == MaskLastN(keep=3)
    found = choice_of("summarize-at:0.70+breakpoint")
    assert (found.name, found.rule) == ("summarize-at:0.70+breakpoint", SummarizeAt(fraction=0.7))
    assert found.breakpoint


def test_policies_of_ours_are_as_before():
    """A name that is no rule is a policy, and its errors are the engine's."""
    assert choice_of("compaction:0.70") == parse_policy("compaction:0.70")
    with pytest.raises(PolicyError, match="only compaction has a part after the colon"):
        choice_of("balanced:0.5")
    with pytest.raises(PolicyError, match="and rules of other tools: mask-last-n, clear-tool-uses"):
        choice_of("best")


@pytest.mark.parametrize(
    "name",
    [
        "mask-last-n:0", "mask-last-n:-1", "mask-last-n:1.5", "mask-last-n:\u0663", "mask-last-n:9999999999",
        "mask-last-n:" + "9" * 5_000, "mask-last-n:", "mask-last-n+break", "mask-last-n:3+breakpoint+breakpoint",
        "mask-last-n+breakpoint:3", "summarize-at:0", "summarize-at:1.5", "summarize-at:nan", "clear-tool-uses:5",
        "opencode-prune:x", "balanced+breakpoint", "+breakpoint", "", ":",
    ],
)  # fmt: skip
def test_names_that_say_nothing(name):
    """Anything else is refused in one line."""
    with pytest.raises(PolicyError) as caught:
        choice_of(name)
    assert "\n" not in str(caught.value)


def test_a_rule_that_is_not_known():
    """rival_of is for rules alone."""
    with pytest.raises(PolicyError, match="'balanced' is no rule; known: mask-last-n"):
        rival_of("balanced")


def test_keys_are_what_a_policy_uses():
    """A number that would change nothing is no key of a policy."""
    assert list(keys_of(parse_policy("compaction"))) == ["cutFraction"]
    assert list(keys_of(parse_policy("classic"))) == ["minResultTokens", "absoluteTurn"]
    assert keys_of(parse_policy("none")) == {}
    balanced, fewest = keys_of(parse_policy("balanced")), keys_of(parse_policy("fewest-cuts"))
    assert {"shedFraction", "goalFraction", "batchTokens", "coldTokens", "protectTokens"} <= balanced.keys()
    assert "cutFraction" not in balanced
    assert fewest.keys() - balanced.keys() == {"cutFraction"}
    assert not {"name", "sheds", "cuts", "ownRules"} & balanced.keys()


def test_every_number_of_a_policy_is_a_key_of_some_policy():
    """Nothing that a policy is made of but its kind is out of reach."""
    keys = {
        key.field for name in ("balanced", "fewest-cuts", "classic") for key in keys_of(parse_policy(name)).values()
    }
    assert set(Policy.__struct_fields__) - keys == {"name", "sheds", "cuts", "own_rules", "source_defects"}


def test_keys_of_rules():
    """A rule's parameters and its breakpoint can be changed."""
    assert list(keys_of(choice_of("clear-tool-uses"))) == [
        "trigger", "triggerToolUses", "keep", "clearAtLeast", "excludeTools", "clearToolInputs", "breakpoint",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("balanced", "shedFraction", 0),
        ("balanced", "shedFraction", 1.01),
        ("balanced", "shedFraction", "0.5"),
        ("balanced", "shedFraction", None),
        ("balanced", "goalMargin", -0.1),
        ("balanced", "batchTokens", 1.5),
        ("balanced", "batchTokens", True),
        ("balanced", "batchTokens", -1),
        ("balanced", "batchTokens", 10**10),
        ("balanced", "batchDivisor", 0),
        ("balanced", "movesWhenCold", 1),
        ("balanced", "payback", 1001),
        ("balanced", "paybackFraction", 1.01),
        ("mask-last-n", "keep", 0),
        ("mask-last-n", "polling", 0),
        ("opencode-prune", "turns", 0),
        ("clear-tool-uses", "triggerToolUses", 0),
        ("clear-tool-uses", "excludeTools", "bash"),
        ("clear-tool-uses", "excludeTools", [""]),
        ("clear-tool-uses", "excludeTools", ["x"] * 101),
        ("clear-tool-uses", "excludeTools", [3]),
        ("clear-tool-uses", "breakpoint", "yes"),
        ("summarize-at", "keepFraction", 0),
    ],
)
def test_values_out_of_range(name, key, value):
    """A wrong type and a value out of range are refused; the line begins with where it stands."""
    with pytest.raises(PolicyError) as caught:
        converted(keys_of(choice_of(name))[key], value, "here", "x")
    assert str(caught.value).startswith("here: Expected `")
    assert "\n" not in str(caught.value)


def test_changed():
    """A change gives the same policy, or rule, with another name and other numbers."""
    policy = changed(parse_policy("balanced"), "mine", {"shed_fraction": 0.5})
    assert (policy.name, policy.sheds, policy.shed_fraction, policy.batch_tokens) == ("mine", "batch", 0.5, 40_000)
    rival = changed(choice_of("clear-tool-uses"), "mine", {"keep": 9, "breakpoint": True})
    assert (rival.name, rival.tool, rival.rule, rival.breakpoint) == (
        "mine",
        "clear-tool-uses",
        ClearToolUses(keep=9),
        True,
    )
    assert changed(rival, "again", {}).breakpoint
