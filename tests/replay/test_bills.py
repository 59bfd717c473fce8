"""Bills: of simulated and of recorded requests, and what stays unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from leafscar.model.usage import Usage
from leafscar.replay.bills import OUTPUT_RATIO, Bill, bill, recorded_bill
from leafscar.replay.cache import ANTHROPIC, OPENAI, UNCACHED, CacheUse
from leafscar.replay.prices import Prices, PriceTier

SONNET = Prices(
    source="test",
    input=3.0,
    output=15.0,
    cache_read=0.3,
    cache_write=3.75,
    cache_write_long=6.0,
    tiers=(PriceTier(above=200_000, input=6.0, output=22.5, cache_read=0.6, cache_write=7.5, cache_write_long=12.0),),
)
USE = CacheUse(read=100_000, written=2_000, uncached=500, miss=0, cause=None, assumed_warm=False)


def test_a_simulated_request_is_billed_by_class():
    """Every class at its own price, dollars per million tokens."""
    found = bill(USE, 1_000, SONNET, ANTHROPIC)
    assert found.cost == pytest.approx((500 * 3 + 100_000 * 0.3 + 2_000 * 3.75 + 1_000 * 15) / 1e6)
    assert found.units == pytest.approx(500 + 10_000 + 2_500 + 5_000)
    assert (found.requests, found.input, found.output, found.unknown) == (1, 102_500, 1_000, frozenset())


def test_one_hour_writes_have_their_own_price():
    """Under the one-hour lifetime every written token is billed at its price."""
    found = bill(USE, 0, SONNET, replace(ANTHROPIC, hour=True))
    assert found.cost == pytest.approx((500 * 3 + 100_000 * 0.3 + 2_000 * 6) / 1e6)
    assert (found.written, found.written_long) == (2_000, 2_000)
    assert found.units == pytest.approx(500 + 10_000 + 4_000)


def test_a_large_request_is_billed_at_its_tier_as_a_whole():
    """Above 200,000 input tokens every token costs the higher price; the output does not count to the size."""
    sizes = (200_000, 200_001)
    use = (replace(USE, read=0, written=0, uncached=size) for size in sizes)
    costs = [bill(one, 10, SONNET, ANTHROPIC).cost for one in use]
    assert costs == pytest.approx([(200_000 * 3 + 10 * 15) / 1e6, (200_001 * 6 + 10 * 22.5) / 1e6])


def test_writes_of_an_automatic_cache_are_plain_input():
    """Where filling the cache has no premium, a missing write price is no gap."""
    prices = Prices(source="test", input=2.5, output=10, cache_read=1.25)
    assert bill(USE, 0, prices, OPENAI).cost == pytest.approx((2_500 * 2.5 + 100_000 * 1.25) / 1e6)
    assert bill(USE, 0, prices, ANTHROPIC).cost is None


@pytest.mark.parametrize("missing", ["input", "output", "cache_read", "cache_write"])
def test_an_unknown_price_makes_the_cost_unknown_when_it_is_needed(missing):
    """A class without a price spoils the dollars only if tokens of that class were used; units stay."""
    prices = replace(SONNET, **{missing: None}, tiers=())
    found = bill(USE, 1_000, prices, ANTHROPIC)
    assert (found.cost, found.unknown) == (None, {"price"})
    assert found.units == 500 + 10_000 + 2_500 + 5_000
    assert bill(replace(USE, read=0, written=0, uncached=0), 0, prices, ANTHROPIC).cost == 0


def test_without_prices_units_rest_on_the_stated_output_ratio():
    """No list at all: no dollars, and an output token counts as five input tokens."""
    found = bill(USE, 100, None, UNCACHED)
    assert (found.cost, found.unknown) == (None, {"price"})
    assert found.units == 102_500 + 100 * OUTPUT_RATIO


def test_a_recorded_report_is_billed_by_class():
    """The part of the writes with the one-hour lifetime is billed apart."""
    usage = Usage(input=10, cache_read=1_000, cache_write=300, cache_write_1h=100, output=50)
    found = recorded_bill(usage, SONNET, ANTHROPIC)
    assert found.cost == pytest.approx((10 * 3 + 1_000 * 0.3 + 200 * 3.75 + 100 * 6 + 50 * 15) / 1e6)
    assert found.units == pytest.approx(10 + 100 + 250 + 200 + 250)
    assert (found.written, found.written_long, found.stated) == (300, 100, 0)


@pytest.mark.parametrize("part", ["input", "cache_read", "cache_write", "output"])
@pytest.mark.parametrize("value", [None, float("nan"), -1])
def test_a_part_that_was_not_reported_makes_the_cost_unknown(part, value):
    """What a report leaves out, or states as nonsense, is named and never billed as nothing."""
    usage = replace(Usage(input=10, cache_read=20, cache_write=30, output=40), **{part: value})
    found = recorded_bill(usage, SONNET, ANTHROPIC)
    assert found.cost is None
    assert found.unknown == {part}
    assert found.input + found.output == 100 - {"input": 10, "cache_read": 20, "cache_write": 30, "output": 40}[part]


def test_unknown_parts_and_unknown_prices_are_both_named():
    """Two gaps, two words."""
    usage = Usage(input=10, cache_read=0, cache_write=0)
    assert recorded_bill(usage, None, ANTHROPIC).unknown == {"price", "output"}


def test_a_stated_cost_wins():
    """The host's own figure is the recorded cost, even where parts or prices are unknown."""
    found = recorded_bill(Usage(input=10), None, ANTHROPIC, stated=0.25)
    assert (found.cost, found.stated) == (0.25, 1)
    assert found.unknown == {"cache_read", "cache_write", "output"}


@pytest.mark.parametrize("stated", [0, float("nan"), -1, float("inf")])
def test_a_stated_nothing_for_used_tokens_is_no_statement(stated):
    """Hosts write 0 for a price that they do not know; the list decides, and without one the cost is unknown."""
    usage = Usage(input=1_000_000, cache_read=0, cache_write=0, output=0)
    assert recorded_bill(usage, replace(SONNET, tiers=()), ANTHROPIC, stated=stated).cost == 3
    assert recorded_bill(usage, None, ANTHROPIC, stated=stated).cost is None


def test_nothing_used_and_nothing_paid_is_zero():
    """An aborted request with an all-zero report costs 0, known."""
    usage = Usage(input=0, cache_read=0, cache_write=0, output=0)
    assert recorded_bill(usage, None, ANTHROPIC, stated=0).cost == 0


BILLS = st.builds(
    Bill,
    requests=st.integers(0, 9),
    uncached=st.integers(0, 99),
    read=st.integers(0, 99),
    written=st.integers(0, 99),
    written_long=st.integers(0, 99),
    output=st.integers(0, 99),
    cost=st.none() | st.integers(0, 99),
    units=st.integers(0, 99),
    stated=st.integers(0, 9),
    unknown=st.frozensets(st.sampled_from(["price", "output"])),
)


@given(bills=st.lists(BILLS, max_size=5))
def test_bills_add_up_class_by_class(bills):
    """A sum holds every field's sum; one unknown cost makes the sum's cost unknown."""
    total = sum(bills, Bill())
    for name in ("requests", "uncached", "read", "written", "written_long", "output", "units", "stated"):
        assert getattr(total, name) == sum(getattr(one, name) for one in bills)
    costs = [one.cost for one in bills]
    assert total.cost == (None if None in costs else sum(costs))
    assert total.unknown == frozenset().union(*(one.unknown for one in bills))
