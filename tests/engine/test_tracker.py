"""What an estimate rests on when the path was left, messages went astray, or facts changed."""

from __future__ import annotations

import pytest
from tests.engine.build import Host, assistant, call, facts, result, user

from leafscar.engine import POLICIES, Controller, Send, materialise
from leafscar.estimate import estimate_tokens


def test_going_back_twice_counts_no_saving_twice():
    """Behind markers that a left branch measured, the readings of each new branch count them once."""
    host = Host("balanced", facts=facts(20_000, reserve_tokens=2_000))
    host.add(user(10))
    for _ in range(8):
        host.step(2_000)
    newest = max(int(id_[1:]) for id_ in host.shed)
    host.rewind(next(at for at, entry in enumerate(host.path) if entry["id"] == f"e{newest}") + 1)
    host.add(user(5))
    host.request()
    host.respond("ok")
    length = len(host.path)
    for back in (None, length):
        host.rewind(back or length)
        host.add(user(5))
        host.request()
        assert host.shed
        assert host.outcome.plan.estimate == host.size()
        host.respond("ok")


def test_going_back_before_a_cut_rests_on_no_reading_with_markers():
    """Its markers are void there, so a reading of a request that held some says too little."""
    host = Host("balanced", facts=facts(20_000, reserve_tokens=2_000))
    host.add(user(10))
    while not any(event.kind == "cut" for event in host.events):
        host.step(2_000)
        host.add(user(300))
    assert any(event.kind == "shed" for event in host.events)
    cut = next(at for at, entry in enumerate(host.path) if entry["type"] == "compaction")
    host.rewind(cut)
    plan = host.controller.observe(host.path)
    assert plan.replacements == {}
    sent = materialise(host.controller.items, plan)
    assert plan.estimate == sum(estimate_tokens(message) for message in sent)


def test_a_reading_smaller_than_what_went_out_of_it_is_not_believed():
    """A provider that leaves cached tokens out of its report does not make an estimate negative."""
    host = Host("fewest-cuts", facts=facts(20_000, reserve_tokens=2_000))
    host.add(user(10))
    for _ in range(4):
        host.step(2_000)
    host.request()
    host.respond("ok", total=41)
    length = len(host.path)
    host.add(user(15_000))
    host.request()
    assert host.shed
    host.rewind(length)
    host.request()
    assert host.outcome.plan.estimate > host.size() / 2


def test_another_model_that_does_not_bind_thinking_changes_the_prefix():
    """What was sent without thinking goes out with it again, so no more than what stands before is kept."""
    thought = {"type": "thinking", "thinking": "t", "thinkingSignature": "s"}
    path = [
        {"type": "message", "id": "u", "message": user(5)},
        {"type": "message", "id": "a", "parentId": "u", "message": assistant(thought, "x")},
        {"type": "compaction", "id": "k", "parentId": "a", "summary": "s", "firstKeptEntryId": "u"},
    ]
    controller = Controller(facts=facts(bound_thinking=True, thinking_way="strip"))
    assert controller.observe(path).strip_thinking == (0, 3)
    controller.facts = facts()
    plan = controller.observe(path)
    assert (plan.strip_thinking, plan.kept) == (None, 0)


@pytest.mark.parametrize("stop", ["error", "stop"])
def test_what_is_never_sent_weighs_nothing(stop):
    """The result of a call that failed, or a second answer, is neither counted nor shed."""
    host = Host("balanced", facts=facts(20_000, reserve_tokens=2_000))
    host.add(user(10))
    host.request(now=1)
    host.respond(call("c", "read", path="a"), stop=stop)
    if stop == "stop":
        host.add(result("c", 10, "read"))
    host.add(result("c", 9_000, "read"))
    for _ in range(3):
        host.add(user(900))
        host.request(now=2)
        host.respond("ok")
    host.add(user(5))
    host.request(now=9_999)
    assert host.shed == set()
    assert host.outcome.plan.estimate == host.size()


def test_a_late_result_keeps_only_what_stands_before_it():
    """It is sent right behind its response, in the place of the stand-in that went out before."""
    host = Host("balanced", facts=facts(20_000, reserve_tokens=2_000))
    host.add(user(10))
    host.request()
    host.respond(call("c", "read", path="a"))
    host.add(user(10))
    host.request()
    host.respond("ok")
    host.add(result("c", 50, "read"))
    host.request()
    assert host.outcome.plan.kept == 2
    host.respond("ok")
    host.add(user(10))
    host.request()
    assert host.outcome.plan.kept == 5


@pytest.mark.parametrize("window", [1, 7, 60, 399])
@pytest.mark.parametrize("policy", [*POLICIES])
def test_a_move_takes_something_out_of_the_smallest_window(window, policy):
    """Without anything to shed there is no move, cold or under pressure."""
    entry = {"type": "message", "id": "u", "message": user(2_000)}
    controller = Controller(facts=facts(window, reserve_tokens=0), policy=policy)
    for now in (0, 9_999):
        outcome = controller.before_request([entry], now=now)
        assert isinstance(outcome, Send)
        assert outcome.plan.replacements == {}
