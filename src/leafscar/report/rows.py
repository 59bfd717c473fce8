"""The table of one session: the same cells for the terminal and for the page."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from leafscar.replay.numbers import is_within
from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.report.numbers import UNKNOWN, dollars, inferred, known, percent, places, signed, tokens
from leafscar.report.spending import needed_cell

__all__ = ["WITHIN_ERROR", "Column", "Row", "columns_of", "is_priced", "rows_of", "trend_of"]

WITHIN_ERROR = "within model error"
"""Stands for a saving that the cache model's own error on the session could explain."""


class Column(Struct, frozen=True, kw_only=True):
    """Head of one column."""

    short: str
    """For the terminal."""
    long: str
    """For the page."""
    meaning: str


class Row(Struct, frozen=True, kw_only=True):
    """One policy, printed."""

    policy: PolicyResult
    cells: tuple[str, ...]
    """One text for each column."""


def is_priced(session: SessionResult) -> bool:
    """Whether any policy has a cost in dollars; else the table shows input-token equivalents."""
    return any(known(policy.cost) for policy in session.policies)


def columns_of(session: SessionResult) -> tuple[Column, ...]:
    """Heads in order; the second is dollars or units."""
    cost = (
        Column(short="cost", long="Cost", meaning="dollars of all requests and of the summariser")
        if is_priced(session)
        else Column(short="units", long="Input-token equivalents", meaning="no price is known")
    )
    return (
        Column(short="policy", long="Policy", meaning="rule that decides when to shed and when to cut"),
        cost,
        Column(short="delta", long="Delta", meaning=f"difference to {session.baseline}"),
        Column(short="hit", long="Hit ratio", meaning="share of input tokens read from the cache"),
        Column(short="breaks", long="Breaks", meaning="requests that sent cached tokens again"),
        Column(short="moves", long="Moves", meaning="requests in which outputs were newly replaced by markers"),
        Column(short="cuts", long="Cuts", meaning="compactions"),
        Column(short="peak", long="Peak", meaning="largest context in tokens"),
        Column(short="over", long="Over window", meaning="requests larger than the window"),
        Column(short="needed", long="Needed later", meaning="outputs taken out, and how many were used again later"),
    )


def rows_of(session: SessionResult) -> list[Row]:
    """Every policy as cells, in the given order."""
    decimals = places(policy.cost for policy in session.policies)
    return [Row(policy=policy, cells=_cells(policy, session, decimals)) for policy in session.policies]


def _cells(policy: PolicyResult, session: SessionResult, decimals: int) -> tuple[str, ...]:
    simulated = not policy.recorded
    cost = dollars(policy.cost, decimals) if is_priced(session) else tokens(policy.units)
    return (
        policy.policy,
        inferred(cost, when=simulated),
        _delta(policy, session, decimals),
        inferred(percent(policy.hit_ratio), when=simulated),
        f"{policy.breaks:,}",
        f"{policy.moves:,}",
        f"{len(policy.cuts):,}",
        inferred(tokens(policy.peak), when=simulated or _peak_is_inferred(policy)),
        f"{policy.over_window:,}",
        needed_cell(policy.needed_later),
    )


def _peak_is_inferred(policy: PolicyResult) -> bool:
    sized = [(moment.context, moment.inferred) for moment in policy.moments if known(moment.context)]
    return bool(sized) and max(sized, key=lambda each: each[0])[1]


def _delta(policy: PolicyResult, session: SessionResult, decimals: int) -> str:
    if policy.policy == session.baseline:
        return "baseline"
    if is_within(policy.ratio, session.margin):
        return WITHIN_ERROR
    parts = _difference(policy, decimals)
    text = parts[0] if len(parts) == 1 else f"{parts[0]} ({parts[1]})" if parts else UNKNOWN
    measured = policy.recorded and _baseline_is_recorded(session.policies, session.baseline)
    return inferred(text, when=not measured)


def _difference(policy: PolicyResult, decimals: int) -> list[str]:
    found: list[str] = []
    if known(policy.saving):
        found.append(signed(dollars(-policy.saving, decimals), -policy.saving))
    if known(policy.ratio):
        found.append(signed(percent(policy.ratio - 1), policy.ratio - 1))
    return found


def _baseline_is_recorded(policies: Sequence[PolicyResult], baseline: str) -> bool:
    return any(policy.recorded for policy in policies if policy.policy == baseline)


def trend_of(policy: PolicyResult, session: SessionResult) -> str:
    """``cheaper``, ``dearer``, or nothing where no difference may be claimed."""
    if policy.policy == session.baseline or not known(policy.ratio) or is_within(policy.ratio, session.margin):
        return ""
    return "cheaper" if policy.ratio < 1 else "dearer"
