"""Prices of models per million tokens. A price that is not known is None, never 0 (docs/cost-model.md)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["PriceTier", "Prices", "find_prices"]

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
