"""Prices: what is listed, and what stays unknown."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace
from tests.replay.test_bills import SONNET

from leafscar.replay.prices import find_prices


def moment(*date):
    """Seconds since 1970 of a day."""
    return datetime(*date, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("provider", "model", "listed"),
    [
        ("anthropic", "claude-opus-4-5-20251101", "anthropic/claude-opus-4-5"),
        ("anthropic", "anthropic/claude-opus-4-5", "anthropic/claude-opus-4-5"),
        (None, "claude-sonnet-4-5@20250929", "anthropic/claude-sonnet-4-5"),
        ("anthropic", "claude-sonnet-4-5[1m]", "anthropic/claude-sonnet-4-5"),
        ("openrouter", "~anthropic/claude-fable-latest", "openrouter/~anthropic/claude-fable-latest"),
        (None, "openrouter/~anthropic/claude-fable-latest", "openrouter/~anthropic/claude-fable-latest"),
        ("openrouter", "claude-opus-4-5", "anthropic/claude-opus-4-5"),
        ("some-proxy", "claude-opus-4-5", "anthropic/claude-opus-4-5"),
        ("zai", "glm-5.2", "zai/GLM-5.2"),
        (None, "zai/glm-5.2", "zai/GLM-5.2"),
        ("z-ai", "glm-5.2", "zai/GLM-5.2"),
        ("openai-codex", "gpt-5.4", "openai/gpt-5.4"),
        ("openai", "gpt-5-nano-2025-08-07", "openai/gpt-5-nano"),
        ("OpenAI", "GPT-4o", "openai/gpt-4o"),
    ],
)
def test_a_model_is_found_under_the_names_that_sessions_hold(provider, model, listed):
    """Dated, prefixed and suffixed names lead to the listed model, and the source names the table's entry."""
    prices = find_prices(provider, model)
    assert prices is not None
    assert prices.source.startswith("genai-prices ")
    assert prices.source.endswith(f": {listed}")
    assert prices.input
    assert prices.output


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("fake", "fake-1"),
        ("p", "m"),
        ("anthropic", "<synthetic>"),
        ("anthropic", "sonnet"),
        ("ollama", "deepseek-r1:8b"),
        ("github-copilot", "claude-sonnet-4.5"),
        ("openai", "gpt-9000-20260101"),
        (None, None),
        ("", ""),
    ],
)
def test_an_unknown_model_has_no_prices(provider, model):
    """Nothing is guessed from a similar name, from another seller's list or for a model that runs at home."""
    assert find_prices(provider, model) is None


def test_listed_prices_are_read_per_million_tokens():
    """Claude Sonnet 4.5 has every class, a tier above 200,000 tokens and a window."""
    prices = find_prices("anthropic", "claude-sonnet-4-5")
    assert prices is not None
    assert replace(prices, source="test", window=None) == SONNET
    assert prices.window == 200_000


def test_a_class_without_a_listed_price_is_none():
    """OpenAI lists no price for cache writes before GPT-5.6."""
    prices = find_prices("openai", "gpt-4o")
    assert prices is not None
    assert (prices.cache_read, prices.cache_write, prices.cache_write_long) == (1.25, None, None)


def test_the_million_token_suffix_states_the_window():
    """The table knows a model's usual window; a session that ran the long one says so in the model's name."""
    prices = find_prices("anthropic", "claude-sonnet-4-5[1m]")
    assert prices is not None
    assert prices.window == 1_000_000


def test_the_price_of_the_moment_counts():
    """Claude Opus 4.6 lost its large-request tier in March 2026; without a moment the newest list counts."""
    old, new, none = (
        find_prices("anthropic", "claude-opus-4-6", at=at) for at in (moment(2026, 2, 20), moment(2026, 6, 1), None)
    )
    assert old is not None
    assert [tier.above for tier in old.tiers] == [200_000]
    assert new == none
    assert new is not None
    assert new.tiers == ()


def test_tiers_of_one_class_alone_leave_the_other_prices_flat(monkeypatch):
    """A tier that lists one class keeps the base price of the others, and several tiers rise by size."""
    types = pytest.importorskip("genai_prices.types")
    tiers = [types.Tier(start=30, price=3), types.Tier(start=10, price=2)]
    price = types.ModelPrice(input_mtok=types.TieredPrices(base=1, tiers=tiers), output_mtok=5)
    monkeypatch.setattr(types.ModelInfo, "get_prices", lambda *_: price)
    prices = find_prices("anthropic", "claude-opus-4-5")
    assert prices is not None
    assert [prices.for_request(size).input for size in (10, 11, 30, 31)] == [1, 2, 2, 3]
    assert {prices.for_request(size).output for size in (0, 11, 31)} == {5}


def test_the_price_table_is_loaded_only_when_asked():
    """Importing the module does not import the table."""
    script = "import sys, leafscar.replay.prices; sys.exit('genai_prices' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_looking_up_prices_opens_no_connection(monkeypatch):
    """The shipped table is all that is read."""
    monkeypatch.setattr("socket.socket", None)
    assert find_prices("anthropic", "claude-opus-4-5") is not None
