"""What requests cost: bills of simulated and of recorded requests.

Money that is not known is None, never 0; docs/cost-model.md has the rules.
"""

from __future__ import annotations

import math

from msgspec import Struct
from msgspec.structs import replace

from leafscar.model import Usage
from leafscar.replay.cache import CacheModel, CacheUse
from leafscar.replay.prices import Prices

__all__ = ["OUTPUT_RATIO", "Bill", "Rates", "bill", "dollar_rates", "recorded_bill", "unit_rates"]

OUTPUT_RATIO = 5.0
"""Input tokens that an output token is taken to be worth where prices are unknown (an assumption)."""


class Bill(Struct, frozen=True, kw_only=True):
    """Tokens by class and what they cost; bills add up, ``sum(bills, Bill())``."""

    requests: int = 0
    """How many requests it covers."""
    uncached: float = 0
    """Input tokens outside the cache."""
    read: float = 0
    """Input tokens read from the cache."""
    written: float = 0
    """Input tokens written to the cache, with either lifetime."""
    written_long: float = 0
    """The part of ``written`` with the one-hour lifetime."""
    output: float = 0
    """Output tokens."""
    cost: float | None = 0.0
    """Dollars; None when a price or a number of tokens is unknown."""
    units: float = 0.0
    """Input-token equivalents: every class times its multiple of the input price; unreported tokens add nothing."""
    stated: int = 0
    """Requests whose dollars are the recording host's own figure."""
    unknown: frozenset[str] = frozenset()
    """What stands against a complete bill: ``price``, or the token classes that a report left out."""

    @property
    def input(self) -> float:
        """All input tokens."""
        return self.uncached + self.read + self.written

    def __add__(self, other: Bill) -> Bill:
        """Add class by class; an unknown cost stays unknown."""
        return Bill(
            requests=self.requests + other.requests,
            uncached=self.uncached + other.uncached,
            read=self.read + other.read,
            written=self.written + other.written,
            written_long=self.written_long + other.written_long,
            output=self.output + other.output,
            cost=None if self.cost is None or other.cost is None else self.cost + other.cost,
            units=self.units + other.units,
            stated=self.stated + other.stated,
            unknown=self.unknown | other.unknown,
        )


class Rates(Struct, frozen=True, kw_only=True):
    """What one token of each class costs in a simulated request; None where no price is listed."""

    uncached: float | None
    read: float | None
    written: float | None
    output: float | None


def dollar_rates(prices: Prices, model: CacheModel, input_tokens: float) -> Rates:
    """Dollars a token in a request of ``input_tokens``."""
    flat = prices.for_request(input_tokens)
    short, long = _write_prices(flat, model)
    listed = (flat.input, flat.cache_read, long if model.hour else short, flat.output)
    uncached, read, written, output = (None if price is None else price / 1e6 for price in listed)
    return Rates(uncached=uncached, read=read, written=written, output=output)


def unit_rates(prices: Prices | None, model: CacheModel) -> Rates:
    """Input-token equivalents a token."""
    return Rates(uncached=1.0, read=model.read, written=model.written, output=_output_ratio(prices))


def bill(use: CacheUse, output: float, prices: Prices | None, model: CacheModel) -> Bill:
    """Price one simulated request with its ``output`` tokens."""
    tokens = Bill(
        requests=1,
        uncached=use.uncached,
        read=use.read,
        written=use.written,
        written_long=use.written if model.hour else 0,
        output=output,
    )
    return _charged(tokens, prices, model)


def recorded_bill(usage: Usage, prices: Prices | None, model: CacheModel, *, stated: float | None = None) -> Bill:
    """Price one recorded provider report; ``stated`` is the host's own figure in dollars, which wins.

    A stated 0 for used tokens counts as unstated: that is how hosts write a price they do not know.
    """
    counts = {name: getattr(usage, name) for name in ("input", "cache_read", "cache_write", "output")}
    missing = frozenset(name for name, count in counts.items() if not _is_count(count))
    known = {name: 0 if name in missing else count for name, count in counts.items()}
    long = usage.cache_write_1h
    tokens = Bill(
        requests=1,
        uncached=known["input"],
        read=known["cache_read"],
        written=known["cache_write"],
        written_long=min(long, known["cache_write"]) if long is not None and _is_count(long) else 0,
        output=known["output"],
        unknown=missing,
    )
    if stated is not None and _is_count(stated) and (stated > 0 or not (missing or tokens.input or tokens.output)):
        return replace(tokens, cost=stated, stated=1, units=_units(tokens, prices, model))
    return _charged(tokens, prices, model)


def _is_count(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value >= 0


def _charged(tokens: Bill, prices: Prices | None, model: CacheModel) -> Bill:
    cost = None if prices is None else _dollars(tokens, prices.for_request(tokens.input), model)
    unknown = tokens.unknown if cost is not None else tokens.unknown | {"price"}
    units = _units(tokens, prices, model)
    return replace(tokens, cost=None if tokens.unknown else cost, unknown=unknown, units=units)


def _dollars(tokens: Bill, prices: Prices, model: CacheModel) -> float | None:
    """Dollars at flat prices; None when tokens were used whose price is unknown."""
    short, long = _write_prices(prices, model)
    classes = (
        (tokens.uncached, prices.input),
        (tokens.read, prices.cache_read),
        (tokens.written - tokens.written_long, short),
        (tokens.written_long, long),
        (tokens.output, prices.output),
    )
    total = 0.0
    for count, price in classes:
        if count and price is None:
            return None
        total += count * (price or 0)
    return total / 1e6


def _write_prices(prices: Prices, model: CacheModel) -> tuple[float | None, float | None]:
    """Listed prices of a written token, with the usual and with the one-hour lifetime."""
    if model.style == "automatic":  # fills its cache without a premium
        return prices.input, prices.input
    return prices.cache_write, prices.cache_write_long


def _output_ratio(prices: Prices | None) -> float:
    if prices is not None and prices.input and prices.output is not None:
        return prices.output / prices.input
    return OUTPUT_RATIO


def _units(tokens: Bill, prices: Prices | None, model: CacheModel) -> float:
    return (
        tokens.uncached
        + tokens.read * model.read
        + (tokens.written - tokens.written_long) * model.write
        + tokens.written_long * model.write_long
        + tokens.output * _output_ratio(prices)
    )
