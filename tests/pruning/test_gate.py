import pytest
from tests.pruning.build import vectors

from leafscar.pruning import PruneRecord, gate, new_savings


@pytest.mark.parametrize(("savings", "cancel"), [(5_000, True), (4_999, False)], ids=["a14_64_equal", "a14_64_over"])
def test_equal_to_the_window_less_two_reserves_cancels(savings, cancel):
    """The limit itself is still enough."""
    assert gate(61_000, savings, 64_000, 4_000, "threshold").cancel is cancel


@pytest.mark.parametrize("before", [56_001, 61_000, 250_000, 10**9], ids=lambda n: f"a14_65_{n}")
def test_only_the_difference_matters(before):
    """However large both numbers are."""
    assert gate(before, before - 56_000, 64_000, 4_000, "threshold").cancel
    assert not gate(before, before - 56_001, 64_000, 4_000, "threshold").cancel


@pytest.mark.parametrize(("before", "cancel"), [(56_001, False), (56_000, True)], ids=["a14_66_over", "a14_66_equal"])
def test_nothing_saved(before, cancel):
    """Without savings the size alone decides."""
    assert gate(before, 0, 64_000, 4_000, "threshold").cancel is cancel


def test_a14_67_the_decision_shows_its_numbers():
    """A reader can follow the decision without recomputing it."""
    decision = gate(61_000, 7_000, 64_000, 4_000, "threshold")
    assert (decision.threshold, decision.estimated_after) == (56_000, 54_000)
    assert (decision.reason, decision.tokens_before, decision.pruned_savings) == ("threshold", 61_000, 7_000)
    assert (decision.context_window, decision.reserve_tokens) == (64_000, 4_000)


@pytest.mark.parametrize("reason", ["manual", "overflow", "anything"], ids=lambda r: f"a14_68_{r}")
def test_other_reasons_are_never_cancelled(reason):
    """What was asked for, or what did not fit, is cut."""
    assert not gate(61_000, 60_000, 64_000, 4_000, reason).cancel


def test_a14_69_no_reserve():
    """A reserve of 0 makes the whole window the limit."""
    decision = gate(64_000, 1, 64_000, 0, "threshold")
    assert decision.threshold == 64_000
    assert decision.cancel


def test_a14_70_a_window_smaller_than_two_reserves():
    """The limit is negative and still compared."""
    assert gate(10, 20, 8_000, 5_000, "threshold").threshold == -2_000
    assert not gate(10, 20, 8_000, 5_000, "threshold").cancel


@pytest.mark.parametrize("case", vectors("gate"), ids=lambda c: f"{c['reason']}_{c['tokens_before']}_{c['cancel']}")
def test_golden_values(case):
    """Every case of the golden values."""
    asked = {key: case[key] for key in ("tokens_before", "pruned_savings", "context_window", "reserve_tokens")}
    decision = gate(**asked, reason=case["reason"])
    assert decision.cancel is case["cancel"]
    assert (decision.threshold, decision.estimated_after) == (case["threshold"], case["estimated_after"])


def record(reference, savings):
    """A record that saves so many tokens."""
    return PruneRecord(
        reference=reference,
        tool_name="bash",
        original_tokens=savings + 20,
        marker_tokens=20,
        savings_tokens=savings,
    )


def test_a14_122_source_counts_savings_that_the_usage_already_has():
    """The defect: all savings are subtracted from the usage of a request that was pruned already."""
    records = [record("#4", 30_000), record("#9", 26_000)]
    every = sum(item.savings_tokens for item in records)
    assert gate(184_000, every, 200_000, 16_384, "threshold").cancel


def test_a14_122_ours_counts_new_savings_only():
    """Nothing new to save: the cut runs."""
    records = [record("#4", 30_000), record("#9", 26_000)]
    assert new_savings(records, {"#4", "#9"}) == 0
    assert new_savings(records, {"#4"}) == 26_000
    assert not gate(184_000, new_savings(records, {"#4", "#9"}), 200_000, 16_384, "threshold").cancel
