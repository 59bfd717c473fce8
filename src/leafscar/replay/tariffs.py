"""Prices and cache model of each model that a session used."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from leafscar.model import Assistant
from leafscar.replay.cache import CacheModel, cache_model_for
from leafscar.replay.prices import Prices, find_prices
from leafscar.replay.recording import Recording

__all__ = ["Tariff", "Tariffs", "prices_of", "tariffs_of"]


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
    """Look the models of a recording up, at the prices of its time; ``model`` stands for all."""
    prices = prices_of(recording, model)
    cache = cache_model_for(recording.provider, recording.api, model or recording.model, prices)
    main = Tariff(prices=prices, cache=cache)
    if model is not None:
        return Tariffs(main=main)
    answers = (request.message for request in recording.requests)
    used = {(answer.provider, answer.model): answer.api for answer in answers}
    used.pop((recording.provider, recording.model), None)
    return Tariffs(main=main, others={key: _tariff(*key, api, recording.started) for key, api in used.items()})


def _tariff(provider: str | None, model: str | None, api: str | None, at: float | None) -> Tariff:
    prices = find_prices(provider, model, at=at)
    return Tariff(prices=prices, cache=cache_model_for(provider, api, model, prices))
