from __future__ import annotations

import pytest
from tests.replay.sessions import Story, text_of
from tests.replay.test_run import by_name, replayed

from leafscar.hindsight import Use
from leafscar.replay.departures import Departure
from leafscar.replay.details import Needed
from leafscar.replay.needed import joint_needed, needed_of


def departure(position, tokens=100.0):
    """An output that went before the response at ``position``."""
    return Departure(request=1, position=position, tokens=tokens)


def uses(*positions):
    """Later uses at these places."""
    return tuple(Use(position=position, kind="re-read") for position in positions)


def test_only_what_was_used_after_it_went_was_needed():
    """A use before the output went cost nothing; one by the very response that no longer had it did."""
    gone = {"a": departure(10), "b": departure(10, 50.0), "c": departure(10), "d": departure(10)}
    found = needed_of(gone, {"a": uses(4, 9), "b": uses(4, 10), "c": (), "e": uses(50)})
    assert found == Needed(outputs=4, needed=1, tokens=350.0, needed_tokens=50.0)
    assert found.rate == 0.25


def test_nothing_gone_has_no_rate():
    """Where no output went there is no share of them."""
    assert needed_of({}, {"a": uses(1)}).rate is None


def test_several_sessions_are_added_up():
    """One unknown part makes the sum unknown."""
    part = Needed(outputs=4, needed=1, tokens=350.0, needed_tokens=50.0)
    assert joint_needed([part, part]) == Needed(outputs=8, needed=2, tokens=700.0, needed_tokens=100.0)
    assert joint_needed([part, None]) is None


def story():
    """A large file that is read, shed or cut away, and read again much later."""
    told = Story().user().call(text_of(6_000), path="plan.md").reply()
    for _ in range(3):
        told.user().calls(10).reply()
    return told.user().call(text_of(6_000), path="plan.md").reply()


def test_the_rate_stands_with_every_row():
    """A policy that took an output out which the agent read again later is told so; one that took nothing is not."""
    rows = by_name(replayed(story()))
    assert (rows["balanced"].needed_later.needed, rows["balanced"].needed_later.outputs > 1) == (1, True)
    assert rows["compaction"].needed_later.needed_tokens == pytest.approx(6_000, rel=0.1)
    assert rows["none:never-cut"].needed_later == Needed(outputs=0, needed=0, tokens=0, needed_tokens=0)
    assert rows["none"].needed_later.outputs == 0


def test_the_costliest_outputs_say_when_they_went_and_were_used():
    """Each output knows the first request without it, and the last one that used it."""
    result = replayed(story())
    first = next(one for one in result.money.outputs if one.path == "plan.md" and one.last_used)
    assert 1 < first.shed_at < first.last_used == result.requests - 1
    (alone,) = (one for one in replayed(story(), policies=("classic",)).money.outputs if one.last_used)
    assert alone.shed_at is None
