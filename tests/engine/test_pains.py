"""Faults that other tools are known for, as small cases: each is ruled out, or bounded, here."""

from __future__ import annotations

import pytest
from tests.engine.build import Host, assistant, call, facts, result, text, user

from leafscar.compaction import SummaryResponse
from leafscar.engine import Facts, Send, parse_policy, resolve_lines
from leafscar.model import Usage


def counted(host: Host, kind: str) -> int:
    """How many events of a kind there were."""
    return [event.kind for event in host.events].count(kind)


def test_1_22_28_back_to_back_cuts_stop():
    """A base that no cut gets below the line: two fruitless cuts, then requests go out and the events say why."""
    host = Host("compaction", facts=facts(60_000, reserve_tokens=6_000), overhead=56_000)
    host.add(user())
    for _ in range(20):
        host.request()
        host.respond(call(f"c{len(host.path)}"))
        host.add(result(f"c{len(host.path) - 1}", 40))
    assert counted(host, "cut") <= 2
    assert counted(host, "over-threshold") >= 10


def test_2_a_base_that_cannot_be_cut_costs_no_calls():
    """Right after a cut, with nothing but the kept tail, no summariser is asked."""
    host = Host("compaction")
    host.add(user())
    for _ in range(9):
        host.step(10_100)
    host.request()
    assert len(host.asked) == 1
    for _ in range(5):
        host.respond("ok", total=95_000)
        host.request()
        assert host.asked == []
        assert host.kinds()[-2:] == ["nothing-to-cut", "over-threshold"]


def test_21_a_summary_that_is_no_smaller_happens_twice_at_most():
    """Before and after stand in the event; a cut that did not help counts against the next one."""
    host = Host("compaction")
    host.add(user(100))
    host.request()
    host.respond("ok")
    host.add(user(91_000))
    host.summariser = lambda request: SummaryResponse(texts=(text(4_000),))
    host.request()
    event = next(event for event in host.events if event.kind == "cut")
    assert event.after > event.estimate
    host.respond("ok")
    host.request()
    assert host.controller.state.fruitless == 1


def test_29_46_unknown_output_limits_and_small_windows_leave_room():
    """No stated output limit is no reserve of the whole window; an 8k window has a threshold of its own."""
    for window in (8_192, 16_384, 32_768):
        drawn = resolve_lines(Facts(window=window, max_output=0), parse_policy("balanced"))
        assert drawn.threshold > window // 2
        assert 0 < drawn.keep <= drawn.threshold // 2


@pytest.mark.parametrize("policy", ["balanced", "fewest-cuts", "thrifty", "compaction"])
@pytest.mark.parametrize("window", [4_096, 8_192, 16_384])
def test_46_small_windows_do_not_cut_at_every_step(policy, window):
    """A useless cut never repeats: keep-recent is at most half the threshold."""
    host = Host(policy, facts=Facts(window=window))
    host.add(user(20))
    for _ in range(60):
        host.step(window // 40)
    assert counted(host, "cut") <= 12
    assert host.size() <= window


def test_42_a_long_tool_loop_is_checked_before_every_request():
    """Inside one turn of fifty calls no request is over the window."""
    host = Host()
    host.add(user())
    for _ in range(50):
        host.step(9_000)
        assert host.size() <= 90_000
    assert counted(host, "keep") + counted(host, "shed") + counted(host, "cut") == 50


def test_47_zero_usage_falls_back_to_the_estimate():
    """A local server that reports nothing: sizes are estimated, moves and the first cut still come."""
    for policy, kind in (("balanced", "shed"), ("compaction", "cut")):
        host = Host(policy)
        host.add(user())
        for _ in range(10):
            host.request()
            host.respond(call(f"c{len(host.path)}"), total=0)
            host.add(result(f"c{len(host.path) - 1}", 10_000))
        host.request()
        assert host.controller.anchor is None
        assert counted(host, kind) >= 1


def test_48_requested_output_counts():
    """Input below our line and input + output above the window is not sent as it is."""
    host = Host("compaction", facts=facts(100_000, reserve_tokens=0))
    host.add(user(200))
    for _ in range(4):
        host.step(10_000)
    outcome = host.request(output=70_000)
    assert isinstance(outcome, Send)
    assert outcome.plan.estimate + 70_000 <= 100_000


def test_50_of_several_calls_the_last_one_counts():
    """Cache reads summed over calls would be 931,000; the last call's own report is the context."""
    host = Host(trust_entries=False)
    host.add(user())
    host.request()
    for total in (300_000, 467_000, 64_000):
        host.controller.after_response(Usage(total_tokens=total))
    host.add(assistant("ok"))
    host.request()
    assert host.controller.anchor.tokens == 64_000


def test_57_one_turn_of_tool_output_can_be_cut():
    """A session that is one prompt and outputs only is shed and, where it must be, cut as a split turn."""
    host = Host("compaction")
    host.add(user())
    for _ in range(12):
        host.step(9_000)
    assert counted(host, "cut") == 1
    assert counted(host, "nothing-to-cut") == 0
