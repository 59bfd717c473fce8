"""What requests cost: prices per million tokens, and bills of simulated and of recorded requests.

Money that is not known is None, never 0; docs/cost-model.md has the rules.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from leafscar.model import Usage
    from leafscar.replay.cache import CacheModel, CacheUse

__all__ = ["OUTPUT_RATIO", "Bill", "PriceTier", "Prices", "bill", "find_prices", "recorded_bill"]

OUTPUT_RATIO = 5.0
"""Input tokens that an output token is taken to be worth where prices are unknown (an assumption)."""

_NEWEST = datetime(9999, 12, 31, 12, tzinfo=UTC)
_SELLERS = {"z-ai": "zai", "bedrock": "aws", "vertex": "google"}
_PASS_THROUGH = frozenset({"openrouter", "litellm"})
_SUFFIX = re.compile(r"(\[\w+\]|[@-]20\d{2}-?[01]\d-?[0-3]\d|:beta|:thinking)$")
_SOLD_BY_MAKER = re.compile(r"^(claude|gemini|grok|gpt-\d|o\d)")
_MILLION = "[1m]"
_KEYS = {
    "input": "input_mtok",
    "output": "output_mtok",
    "cache_read": "cache_read_mtok",
    "cache_write": "cache_write_mtok",
    "cache_write_long": "cache_write_1h_mtok",
}


class PriceTier(Struct, frozen=True, kw_only=True):
    """The prices of requests above a size; $ per million tokens, None when unknown."""

    above: int
    """Input tokens: a larger request is billed at this tier as a whole."""
    input: float | None = None
    output: float | None = None
    cache_read: float | None = None
    cache_write: float | None = None
    cache_write_long: float | None = None


class Prices(Struct, frozen=True, kw_only=True):
    """Prices of one model, $ per million tokens; None when unknown."""

    source: str
    """Where they come from, in words for a report."""
    input: float | None = None
    """Uncached input."""
    output: float | None = None
    """Output, thinking included."""
    cache_read: float | None = None
    """Input read from the prompt cache."""
    cache_write: float | None = None
    """Input written to the prompt cache with the usual lifetime."""
    cache_write_long: float | None = None
    """Input written to the prompt cache with the one-hour lifetime."""
    window: int | None = None
    """Context window in tokens."""
    tiers: tuple[PriceTier, ...] = ()
    """Prices of large requests, by rising size."""

    def for_request(self, input_tokens: float) -> Prices:
        """Flat prices of a request of this size; read and written tokens count as input."""
        tier = next((tier for tier in reversed(self.tiers) if input_tokens > tier.above), None)
        if tier is None:
            return replace(self, tiers=())
        return replace(self, tiers=(), **{name: getattr(tier, name) for name in _KEYS})


def find_prices(provider: str | None, model: str | None, *, at: float | None = None) -> Prices | None:
    """Look the model up in the table that genai-prices ships; None when it is not there. Nothing is fetched.

    ``at`` (seconds since 1970) picks the price of that moment, without it the newest listed one counts.
    """
    # 0.4 s to import, and not every command needs money
    from genai_prices import __version__  # noqa: PLC0415
    from genai_prices.data_snapshot import get_snapshot  # noqa: PLC0415

    snapshot = get_snapshot()
    when = _NEWEST if at is None else datetime.fromtimestamp(at, UTC)
    for seller, name in _spellings((provider or "").lower(), (model or "").lower().strip(), snapshot):
        try:
            found_seller, found = snapshot.find_provider_model(name, None, seller, None)
        except LookupError:
            continue
        source = f"genai-prices {__version__}: {found_seller.id}/{found.id}"
        window = 1_000_000 if _MILLION in (model or "") else found.context_window
        return _read(found.get_prices(when), source, window)
    return None


def _spellings(provider: str, model: str, snapshot: Any) -> Iterator[tuple[str | None, str]]:
    """Seller and model name as the table may know them, the most literal first; a None seller is the maker."""
    seller = _SELLERS.get(provider, provider)
    for name in _names(model):
        if seller:
            yield seller, name
        path = name.split("/")
        for cut in range(1, len(path)):
            yield _SELLERS.get(bare := path[cut - 1].lstrip("~"), bare), "/".join(path[cut:])
        if not seller or (_SOLD_BY_MAKER.match(path[-1]) and _is_relay(seller, snapshot)):
            yield None, path[-1]


def _is_relay(seller: str, snapshot: Any) -> bool:
    """Whether the seller passes on other makers' models at their price, or is no listed seller (a proxy)."""
    if seller in _PASS_THROUGH:
        return True
    try:
        snapshot.find_provider(None, seller, None)
    except LookupError:
        return True
    return False


def _names(model: str) -> Iterator[str]:
    while model:
        yield model
        shorter = _SUFFIX.sub("", model)
        if shorter == model:
            return
        model = shorter


def _read(listed: Any, source: str, window: int | None) -> Prices:
    values = {name: getattr(listed, key) for name, key in _KEYS.items()}
    starts = sorted({tier.start for value in values.values() for tier in getattr(value, "tiers", ())})
    tiers = tuple(
        PriceTier(above=start, **{name: _above(value, start) for name, value in values.items()}) for start in starts
    )
    return Prices(
        source=source, window=window, tiers=tiers, **{name: _above(value, 0) for name, value in values.items()}
    )


def _above(value: Any, size: int) -> float | None:
    """Price of a request just larger than ``size``, or of a small one for 0."""
    if value is None:
        return None
    reached = [tier.price for tier in getattr(value, "tiers", ()) if 0 < tier.start <= size]
    return float(reached[-1] if reached else getattr(value, "base", value))


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
    plain = model.style == "automatic"  # fills its cache without a premium
    classes = (
        (tokens.uncached, prices.input),
        (tokens.read, prices.cache_read),
        (tokens.written - tokens.written_long, prices.input if plain else prices.cache_write),
        (tokens.written_long, prices.input if plain else prices.cache_write_long),
        (tokens.output, prices.output),
    )
    total = 0.0
    for count, price in classes:
        if count and price is None:
            return None
        total += count * (price or 0)
    return total / 1e6


def _units(tokens: Bill, prices: Prices | None, model: CacheModel) -> float:
    ratio = OUTPUT_RATIO
    if prices is not None and prices.input and prices.output is not None:
        ratio = prices.output / prices.input
    return (
        tokens.uncached
        + tokens.read * model.read
        + (tokens.written - tokens.written_long) * model.write
        + tokens.written_long * model.write_long
        + tokens.output * ratio
    )
