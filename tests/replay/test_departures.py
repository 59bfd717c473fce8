from __future__ import annotations

import pytest
from tests.replay.sessions import autonomous, interactive
from tests.replay.test_simulate import EXAMPLES, setup_of

from leafscar.replay.departures import DepartureWatch
from leafscar.replay.rows import modelled_row, virtual_row
from leafscar.session import load


def gone(story, name, **options):
    """What left under a policy, and the row."""
    watch = DepartureWatch()
    return watch.gone, virtual_row(setup_of(story, **options), name, (watch,))


@pytest.mark.parametrize("name", ["balanced", "classic", "fewest-cuts"])
def test_every_output_that_was_shed_departs_once(name):
    """Moves name their outputs by entry and by the first request without them."""
    departed, row = gone(interactive(10), name)
    shed = {moment.request: moment.shed for moment in row.moments if moment.shed}
    by_request = {number: [one for one in departed.values() if one.request == number] for number in shed}
    assert shed
    assert not row.cuts
    assert {number: len(ones) for number, ones in by_request.items()} == shed
    assert all(one.tokens == 1_500 for one in departed.values())


def test_what_a_cut_takes_departs_with_it():
    """Outputs before the kept tail go with the cut; those that it keeps stay."""
    departed, row = gone(autonomous(45), "compaction")
    assert {one.request for one in departed.values()} == {cut.request for cut in row.cuts}
    assert 0 < len(departed) < 45
    position = min(departed.values(), key=lambda one: one.request)
    assert setup_of(autonomous(45)).recording.requests[position.request - 1].position == position.position


def test_an_output_departs_only_once():
    """What a move replaced is not counted again when a cut takes its marker away."""
    long = next(path for path in EXAMPLES if path.stem == "long-autonomous")
    departed, row = gone(load(long), "balanced", window=100_000)
    assert row.cuts
    shed = {
        one for one in departed.values() if one.request in {moment.request for moment in row.moments if moment.shed}
    }
    assert len(shed) == sum(moment.shed for moment in row.moments)
    assert len(shed) < len(departed)


def test_recorded_cuts_take_outputs_away():
    """In the session as it was the host's own cut is what took outputs out."""
    story = autonomous(10)
    story.cut(story.entries[-4]["id"]).user().calls(2).reply()
    watch = DepartureWatch()
    modelled_row(setup_of(story), (watch,))
    assert len(watch.gone) == 8
    assert {one.request for one in watch.gone.values()} == {12}


def test_an_edit_is_no_cut():
    """What an edit of the context leaves out was nobody's decision here."""
    story = autonomous(5)
    story.add("context_edit", targetId=story.entries[2]["id"], replacement=None)
    watch = DepartureWatch()
    modelled_row(setup_of(story.user().reply()), (watch,))
    assert watch.gone == {}
