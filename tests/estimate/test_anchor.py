import json
import math
from pathlib import Path

import pytest

from leafscar.estimate import ContextEstimate, anchor_tokens, context_tokens, estimate_context, estimate_tokens
from leafscar.model import Assistant, Usage, User

PI = Path(__file__).parent.parent / "data" / "pi"
ANCHORS = sorted(PI.glob("p03_anchor_*.case.json"))
FOUR = {"input": 1, "output": 2, "cacheRead": 3, "cacheWrite": 4}


def user(units):
    """A user message of so many units."""
    return {"role": "user", "content": "x" * units}


def answer(usage, stop="stop", units=40):
    """An assistant message with usage."""
    return {"role": "assistant", "content": [{"type": "text", "text": "y" * units}], "usage": usage, "stopReason": stop}


def test_without_an_anchor_everything_is_estimated():
    """No usage: the sum of all estimates, resting on nothing."""
    assert estimate_context([user(4), user(5)]) == ContextEstimate(
        tokens=3, usage_tokens=0, trailing_tokens=3, last_usage_index=None
    )
    assert estimate_context([]).tokens == 0


def test_only_what_follows_the_anchor_is_estimated():
    """The report counts everything up to its message."""
    found = estimate_context([user(4000), answer({"totalTokens": 500}), user(8), user(1)])
    assert found == ContextEstimate(tokens=503, usage_tokens=500, trailing_tokens=3, last_usage_index=1)


def test_b10_69_zero_total_rests_on_the_parts():
    """A total of 0 with parts present is their sum."""
    assert estimate_context([answer(FOUR | {"totalTokens": 0}), user(4)]).tokens == 11


@pytest.mark.parametrize("stop", ["aborted", "error"])
def test_b10_70_failed_responses_are_no_anchor(stop):
    """An earlier valid report counts, and the failed response is estimated with what follows it."""
    found = estimate_context([answer({"totalTokens": 500}), user(8), answer({"totalTokens": 900}, stop, 40), user(4)])
    assert found == ContextEstimate(tokens=513, usage_tokens=500, trailing_tokens=13, last_usage_index=0)


@pytest.mark.parametrize("stop", ["length", "toolUse", "stop", None])
def test_b10_71_finished_responses_are_anchors(stop):
    """A response that ended by its length, for a tool or by itself anchors."""
    assert estimate_context([user(4), answer({"totalTokens": 500}, stop)]).last_usage_index == 1


@pytest.mark.parametrize(
    "usage", [None, {}, {"input": 5, "output": 6}, dict.fromkeys(FOUR, 0), {"totalTokens": math.nan}]
)
def test_reports_of_nothing_are_no_anchor(usage):
    """Absent, incomplete, zero and broken reports say nothing."""
    assert estimate_context([answer(usage, units=8)]) == ContextEstimate(
        tokens=2, usage_tokens=0, trailing_tokens=2, last_usage_index=None
    )


def test_anchor_tokens_of_a_message():
    """Only an assistant's report above 0 gives tokens."""
    assert anchor_tokens(Assistant(usage=Usage(total_tokens=7))) == 7
    assert anchor_tokens(Assistant()) is None
    assert anchor_tokens(User(content="x")) is None


def test_any_estimate_can_be_used():
    """What follows the anchor is measured by the given function, typed."""
    seen = []
    found = estimate_context([answer({"totalTokens": 5}), user(4)], estimate=lambda m: seen.append(m) or 0.5)
    assert (found.tokens, seen) == (5.5, [User(content="xxxx")])


def test_context_tokens_of_any_report():
    """A typed or plain report gives its total; an incomplete one or none gives NaN."""
    assert context_tokens(Usage(total_tokens=7)) == context_tokens({"totalTokens": 7}) == 7
    assert math.isnan(context_tokens({"input": 5, "output": 6}))
    assert math.isnan(context_tokens(None))


@pytest.mark.skipif(not PI.is_dir(), reason="the recorded answers of pi are not in this checkout")
def test_pi_reads_usage_the_same():
    """Every recorded usage report has the total that pi gave."""
    usages = json.loads((PI / "p02_usage.case.json").read_bytes())["usages"]
    expected = json.loads((PI / "p02_usage.coding-agent-1.3.0.json").read_bytes())["usages"]
    assert [context_tokens(usage) for usage in usages] == pytest.approx(list(map(float, expected)), nan_ok=True)


@pytest.mark.skipif(not ANCHORS, reason="the recorded answers of pi are not in this checkout")
@pytest.mark.parametrize("case", [pytest.param(path, id=path.name.split(".")[0]) for path in ANCHORS])
def test_pi_rests_on_the_same_anchor(case):
    """Every recorded list has the estimate and the anchor that pi gave."""
    messages = json.loads(case.read_bytes())["messages"]
    expected = json.loads(case.with_name(case.name.replace("case", "coding-agent-1.3.0")).read_bytes())
    found = estimate_context(messages)
    assert list(map(estimate_tokens, messages)) == expected["messages"]
    assert {
        "tokens": found.tokens,
        "usageTokens": found.usage_tokens,
        "trailingTokens": found.trailing_tokens,
        "lastUsageIndex": found.last_usage_index,
    } == expected["estimate"]
