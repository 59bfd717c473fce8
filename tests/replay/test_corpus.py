"""Many recordings under one policy, window and price after another."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.replay.sessions import Story, interactive

from leafscar.engine import parse_policy
from leafscar.errors import SessionError
from leafscar.replay.bills import OUTPUT_RATIO
from leafscar.replay.corpus import Rates, play, read_case
from leafscar.session import Session

USUAL = Rates()


def case_of(story: Story, name: str = "story"):
    """The story, read."""
    return read_case(story.memory(), name)


def test_a_case_knows_its_window_where_something_states_it():
    """Claude's window comes from the price list; a model that nothing is known of has none, and can be replayed."""
    known, unknown = case_of(interactive(3)), case_of(interactive(3, model="m", provider="p"))
    assert known.window in (200_000, 1_000_000)
    assert unknown.window is None
    assert play(unknown, parse_policy("compaction"), window=30_000, rates=USUAL).cuts > 0


def test_a_session_without_requests_is_no_case():
    """There is nothing to replay, and the error says what to name instead."""
    with pytest.raises(SessionError, match="holds no request"):
        read_case(Session.memory([{"type": "message", "id": "a", "message": {"role": "user", "content": "hi"}}]), "x")


def test_prices_change_the_bill_and_not_what_a_policy_without_prices_does():
    """One run serves all prices: units are a sum over classes of tokens."""
    case = case_of(interactive(12))
    cheap, dear = Rates(read=0.025, write=1.0), Rates(read=0.5, write=2.0)
    runs = [play(case, parse_policy("compaction"), window=40_000, rates=rates) for rates in (cheap, dear)]
    assert runs[0] == runs[1]
    run = runs[0]
    expected = run.uncached + 0.5 * run.read + 2.0 * run.written + OUTPUT_RATIO * run.output
    assert run.units(dear) == pytest.approx(expected)
    assert run.units(dear) > run.units(cheap)


def test_a_model_without_a_cache_is_given_one():
    """The rates ask what a cache would do, so that every recording can answer."""
    case = case_of(interactive(6, model="m", provider="p"))
    run = play(case, parse_policy("none"), window=200_000, rates=USUAL)
    assert run.read > run.written > 0


def test_without_breaks_is_a_lower_bound():
    """What moves and cuts had to write again while the cache was warm is taken off."""
    case = case_of(interactive(12))
    run = play(case, parse_policy("balanced"), window=40_000, rates=USUAL)
    assert run.moves + run.cuts > 0
    assert run.missed > 0
    assert run.without_breaks(USUAL) == pytest.approx(run.units(USUAL) - run.missed * 1.15)
    nothing = play(case, parse_policy("none"), window=400_000, rates=USUAL)
    assert nothing.without_breaks(USUAL) == nothing.units(USUAL)


def test_what_is_read_again_after_it_went_was_needed():
    """Only the outputs that were gone when the later call came count, and only those that a call needed."""
    story = Story().user()
    story.call("x\n" * 8_000, path="a.py").call("y\n" * 8_000, path="b.py").calls(12, 3_000)
    story.call("x\n" * 8_000, path="a.py").reply()
    run = play(case_of(story), parse_policy("compaction"), window=40_000, rates=USUAL)
    assert (run.cuts > 0, run.needed) == (True, 1)
    assert 0 < run.needed_tokens < run.lost_tokens
    assert run.lost > run.needed
    assert run.with_recalls(USUAL, 15) > run.units(USUAL)
    small = play(case_of(story), parse_policy("compaction"), window=400_000, rates=USUAL)
    assert (small.lost, small.needed) == (0, 0)


def test_what_does_not_fit_is_refused_and_not_sent():
    """A prompt larger than the window is refused under a policy that acts, and sent over it under none."""
    case = case_of(Story().user().calls(3).user("w " * 60_000).reply().user().reply())
    facts = structs.replace(case.setup.facts, compaction_enabled=False)
    case = structs.replace(case, setup=structs.replace(case.setup, facts=facts))
    acts = play(case, parse_policy("balanced"), window=30_000, rates=USUAL)
    lets = play(case, parse_policy("none"), window=30_000, rates=USUAL)
    assert (acts.refused > 0, acts.over) == (True, 0)
    assert (lets.refused, lets.over > 0) == (0, True)
