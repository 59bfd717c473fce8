from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.replay.sessions import Story, autonomous, interactive, text_of
from tests.replay.test_simulate import EXAMPLES, PRICES, setup_of

from leafscar.engine import parse_policy
from leafscar.replay.bills import bill, dollar_rates, unit_rates
from leafscar.replay.cache import ANTHROPIC, AUTOMATIC, OPENAI, UNCACHED, CacheUse
from leafscar.replay.money import MoneyWatch
from leafscar.replay.prices import PriceTier
from leafscar.replay.rows import modelled_row
from leafscar.replay.simulate import simulate
from leafscar.session import load

TIERED = msgspec.structs.replace(
    PRICES, tiers=(PriceTier(above=20_000, input=6, output=30, cache_read=0.6, cache_write=7.5),)
)


def watched(story, **options):
    """The tallies of a session as it was, and its row."""
    setup = setup_of(story, **options)
    watch = MoneyWatch(setup)
    row = modelled_row(setup, (watch,))
    watch.settle()
    return watch, row


def whole(watch):
    """Dollars and units of all tallies."""
    parts = [(tally.dollars, tally.units) for tally in watch.tallies.values()]
    parts += [(dollars, units) for _, dollars, units in watch.output.values()]
    return tuple(map(sum, zip(*parts, strict=True)))


def told(steps):
    """A session from steps: how many tokens an output has, a pause, a cut, a change of model."""
    story = Story(overhead=1_000).user()
    for kind, size in steps:
        match kind:
            case "call":
                story.call(text_of(size))
            case "pause":
                story.wait(size)
            case "user":
                story.user("go on " * (size // 10)).reply()
            case _:
                story.cut(story.entries[-1 - size % min(3, len(story.entries))]["id"])
    return story.reply()


STEPS = st.lists(
    st.tuples(st.sampled_from(["call", "call", "call", "user", "pause", "cut"]), st.integers(1, 4_000)), max_size=25
)


@settings(max_examples=40, deadline=None)
@given(STEPS, st.sampled_from([ANTHROPIC, AUTOMATIC, OPENAI, UNCACHED]), st.sampled_from([PRICES, TIERED]))
def test_the_tallies_add_up_to_the_bill(steps, cache, prices):
    """Whatever the cache does and wherever cuts fall, every dollar and every unit is somebody's."""
    watch, row = watched(told(steps), cache=cache, prices=prices)
    dollars, units = whole(watch)
    assert dollars == pytest.approx(row.cost, rel=1e-9)
    assert units == pytest.approx(row.units, rel=1e-9)
    assert sum(tally.sent for tally in watch.tallies.values()) == pytest.approx(watch.sent)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_real_sessions_add_up(path):
    """The same over recorded sessions; the calls that wrote summaries are a bill of their own."""
    watch, row = watched(load(path))
    dollars, units = whole(watch)
    assert dollars == pytest.approx(sum(moment.cost for moment in row.moments))
    assert units == pytest.approx(sum(moment.units for moment in row.moments))


def test_the_front_of_a_request_is_read():
    """A message is dear in the request that writes it and cheap in those that read it."""
    watch, _ = watched(autonomous(2), cache=msgspec.structs.replace(ANTHROPIC, min_prefix=0))
    by_size = [tally for tally in watch.tallies.values() if tally.tokens == 1_500]
    first, second = by_size
    assert (first.requests, second.requests) == (2, 1)
    assert first.units == pytest.approx(1_500 * (1.25 + 0.1))
    assert second.units == pytest.approx(1_500 * 1.25)
    assert second.dollars == pytest.approx(1_500 * 3.75e-6)


def test_a_message_that_stays_over_a_cut_has_one_tally():
    """What a cut keeps goes on being counted; what it drops is not sent any more."""
    story = autonomous(10)
    story.cut(story.entries[-5]["id"]).user().calls(2).reply()
    watch, row = watched(story)
    kept = [tally for tally in watch.tallies.values() if tally.entry is not None and tally.tokens == 1_500]
    assert len(kept) == 12
    assert sum(tally.requests for tally in kept) == sum(range(1, 11)) + 2 * 3 + 2 + 1
    assert watch.peak == row.peak


def test_an_edited_message_counts_as_it_went_out():
    """An edit of the context changes what the later requests are billed for."""
    story = autonomous(4)
    last = story.entries[3]["id"]
    story.add("context_edit", targetId=last, replacement={"content": [{"type": "text", "text": "gone"}]})
    watch, row = watched(story.user().reply())
    assert whole(watch)[0] == pytest.approx(row.cost)


def test_without_prices_there_are_units():
    """Unknown prices leave the units, and no dollars are made up."""
    watch, row = watched(autonomous(5), prices=None)
    dollars, units = whole(watch)
    assert (dollars, row.cost) == (0, None)
    assert units == pytest.approx(row.units)


def test_what_could_go_never_exceeds_what_was_sent():
    """The sheddable share is one of what was sent, at the peak as well."""
    watch, _ = watched(interactive(8))
    assert 0 < watch.sheddable < watch.sent
    assert 0 < watch.sheddable_at_peak < watch.peak


def test_watching_changes_nothing():
    """A run that is watched is the run that is not."""
    setup = setup_of(interactive(10, pause=400))
    for name in ("balanced", "classic", "compaction"):
        policy = parse_policy(name)
        assert simulate(setup, policy, watches=(MoneyWatch(setup),)) == simulate(setup, policy)


@pytest.mark.parametrize("cache", [ANTHROPIC, AUTOMATIC, msgspec.structs.replace(ANTHROPIC, hour=True)])
def test_rates_are_those_of_a_bill(cache):
    """Tokens times rates are the bill of a request, in dollars and in units."""
    prices = msgspec.structs.replace(TIERED, cache_write_long=6.0)
    use = CacheUse(read=10_000, written=700, uncached=300, miss=0, cause=None, assumed_warm=False)
    spent = bill(use, 50, prices, cache)
    for rates, total in (
        (dollar_rates(prices, cache, use.total), spent.cost),
        (unit_rates(prices, cache), spent.units),
    ):
        parts = (10_000 * rates.read, 700 * rates.written, 300 * rates.uncached, 50 * rates.output)
        assert sum(parts) == pytest.approx(total)
