"""Prices and cache model of each model that a session used."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from leafscar.model import Assistant
from leafscar.replay.cache import CacheModel, cache_model_for
from leafscar.replay.prices import Prices, find_prices
from leafscar.replay.recording import Recording

__all__ = ["Tariff", "Tariffs", "asks_for_hours", "prices_of", "tariffs_of"]


class Tariff(Struct, frozen=True, kw_only=True):
    """What the requests of one model cost."""

    prices: Prices | None
    cache: CacheModel


class Tariffs(Struct, frozen=True, kw_only=True):
    """The tariffs of one session."""

    main: Tariff
    """That of the newest request's model, or of the model that was asked for."""
    others: Mapping[tuple[str | None, str | None], Tariff] = {}
    """Those of earlier models, by provider and model."""

    def of(self, response: Assistant) -> Tariff:
        """Tariff of the request that ``response`` answered."""
        return self.others.get((response.provider, response.model), self.main)


def prices_of(recording: Recording, model: str | None) -> Prices | None:
    """Prices of the recorded model, or of ``model``, which another provider than the recorded one may sell.

    They are those of the session's own time.
    """
    at = recording.started
    found = find_prices(recording.provider, model or recording.model, at=at)
    return found if found is not None or model is None else find_prices(None, model, at=at)


def tariffs_of(recording: Recording, model: str | None) -> Tariffs:
    """Look the models of a recording up, at the prices of its time; ``model`` stands for all.

    Lifetimes are those that its host asked for, as far as its reports tell.
    """
    prices, hour = prices_of(recording, model), asks_for_hours(recording)
    cache = cache_model_for(recording.provider, recording.api, model or recording.model, prices, hour=hour)
    main = Tariff(prices=prices, cache=cache)
    if model is not None:
        return Tariffs(main=main)
    answers = (request.message for request in recording.requests)
    used = {(answer.provider, answer.model): answer.api for answer in answers}
    used.pop((recording.provider, recording.model), None)
    others = {key: _tariff(*key, api, recording.started, hour=hour) for key, api in used.items()}
    return Tariffs(main=main, others=others)


def asks_for_hours(recording: Recording) -> bool:
    """Whether most of what the recording reports as written to the cache was written for an hour."""
    usages = [request.usage for request in recording.requests if request.usage is not None]
    split = [usage for usage in usages if usage.cache_write_1h is not None]
    long, written = sum(usage.cache_write_1h or 0 for usage in split), sum(usage.cache_write or 0 for usage in split)
    return long > 0 and long >= written / 2


def _tariff(provider: str | None, model: str | None, api: str | None, at: float | None, *, hour: bool) -> Tariff:
    prices = find_prices(provider, model, at=at)
    return Tariff(prices=prices, cache=cache_model_for(provider, api, model, prices, hour=hour))
