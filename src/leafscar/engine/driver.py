"""Thin drivers: they ask for the summaries that a controller wants, wait between retries, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from leafscar.compaction import RetryPolicy, SummaryRequest, SummaryResponse, next_retry
from leafscar.engine.controller import Controller
from leafscar.engine.plan import Fallback, Outcome, Send, Summarise

__all__ = ["Ask", "AskAsync", "drive", "drive_async"]

Ask: TypeAlias = Callable[[SummaryRequest], SummaryResponse]
"""Sends one summary request and gives what came back, failures included."""

AskAsync: TypeAlias = Callable[[SummaryRequest], Awaitable[SummaryResponse]]
"""The same, awaited."""

_TWO_RETRIES = RetryPolicy()


def drive(
    controller: Controller,
    outcome: Outcome,
    ask: Ask,
    *,
    sleep: Callable[[float], None],
    retries: RetryPolicy = _TWO_RETRIES,
) -> Send | Fallback:
    """Follow an outcome until there is a request to send; ``sleep`` takes seconds.

    Raises :class:`SummaryFailed` as :meth:`Controller.summarised` does.
    """
    while isinstance(outcome, Summarise):
        response, attempt = ask(outcome.request), 0
        while (retry := next_retry(retries, attempt, response.stop_reason, response.error_message)) is not None:
            sleep(retry.delay_ms / 1000)
            response, attempt = ask(outcome.request), retry.attempt
        outcome = controller.summarised(response)
    return outcome


async def drive_async(
    controller: Controller,
    outcome: Outcome,
    ask: AskAsync,
    *,
    sleep: Callable[[float], Awaitable[None]],
    retries: RetryPolicy = _TWO_RETRIES,
) -> Send | Fallback:
    """Do what :func:`drive` does, awaiting the model and the pauses."""
    while isinstance(outcome, Summarise):
        response, attempt = await ask(outcome.request), 0
        while (retry := next_retry(retries, attempt, response.stop_reason, response.error_message)) is not None:
            await sleep(retry.delay_ms / 1000)
            response, attempt = await ask(outcome.request), retry.attempt
        outcome = controller.summarised(response)
    return outcome
