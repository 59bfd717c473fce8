"""How far the cache model is from a recording: the session as it was, recorded and modelled (docs/cost-model.md)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from leafscar.errors import SessionError
from leafscar.replay.cache import CacheModel
from leafscar.replay.recording import Recording, read_recording
from leafscar.replay.result import Moment, PolicyResult
from leafscar.replay.rows import modelled_row, recorded_row
from leafscar.replay.run import Options, bill_error, setup_of
from leafscar.replay.simulate import Setup
from leafscar.replay.sizes import measure_sizes
from leafscar.session import Session

__all__ = ["ModelCheck", "check_model"]

_ANY_WINDOW = 10_000_000
"""Tokens; nothing is cut in a session as it was, so the window does not matter."""


class ModelCheck(Struct, frozen=True, kw_only=True):
    """One recording against the cache model."""

    model: str | None
    """The newest request's."""
    requests: int
    read_share: float | None
    """Share of the recorded input that was read from the cache; None when it was not reported."""
    modelled_share: float | None
    cost: float | None
    """Dollars as recorded; None when unknown."""
    modelled_cost: float | None
    units: float | None
    """Input-token equivalents as recorded; None when a class of tokens was not reported."""
    modelled_units: float
    error: float | None
    """Share by which the model misses the recorded bill; None when the recording cannot tell."""
    losses: int
    """Requests for which the cache was lost though nothing that the recording shows would have lost it."""
    rest: float | None
    """The error that is left when those losses are put into the model."""


def check_model(session: Session) -> ModelCheck:
    """Compare the cache model with what a session recorded. Raises :class:`SessionError` when it holds no request."""
    recording = read_recording(session)
    if not recording.requests:
        raise SessionError(session.path or "session", "holds no request to check")
    setup, _ = setup_of(recording, measure_sizes(recording), Options(window=_ANY_WINDOW))
    recorded, modelled = recorded_row(setup), modelled_row(setup)
    units, error = modelled.units or 0.0, bill_error(recorded, modelled)
    lost = list(_losses(setup, recorded, modelled))
    known = error is not None and recorded.units
    return ModelCheck(
        model=recording.model,
        requests=len(recording.requests),
        read_share=_read_share(recording),
        modelled_share=modelled.hit_ratio,
        cost=recorded.cost,
        modelled_cost=modelled.cost,
        units=recorded.units,
        modelled_units=units,
        error=error,
        losses=len(lost),
        rest=abs((units + sum(lost)) / recorded.units - 1) if known and recorded.units else None,
    )


def _read_share(recording: Recording) -> float | None:
    usages = [request.usage for request in recording.requests if request.usage is not None]
    told = [usage for usage in usages if usage.cache_read is not None and usage.prompt > 0]
    sent = sum(usage.prompt for usage in told)
    return sum(usage.cache_read or 0 for usage in told) / sent if sent else None


def _losses(setup: Setup, recorded: PolicyResult, modelled: PolicyResult) -> Iterable[float]:
    """Units that each loss cost which the model does not show."""
    for request, was, told in zip(setup.recording.requests, recorded.moments, modelled.moments, strict=True):
        beyond = was.missed - told.missed
        if was.break_cause is not None and beyond > was.missed / 2 and not _only_cut(was, told):
            yield beyond * _premium(setup.tariffs.of(request.message).cache)


def _only_cut(was: Moment, told: Moment) -> bool:
    """Whether both lost what a cut took away: they differ about the size of what was kept, no more."""
    return was.cut and told.missed > 0


def _premium(cache: CacheModel) -> float:
    """Multiple of the input price that a token costs more when it is sent again than when it is read."""
    return (cache.written if cache.style == "explicit" else 1.0) - cache.read
