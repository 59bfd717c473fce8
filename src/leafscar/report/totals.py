"""Several sessions as one: the table that stands above the single ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from leafscar.replay.needed import joint_needed
from leafscar.replay.numbers import is_told, joint_error, margin_of
from leafscar.replay.result import Moment, PolicyResult, ReplayResult, SessionResult
from leafscar.report.numbers import known
from leafscar.report.words import policies_of

__all__ = ["Total", "total_of"]

_Bill = Callable[[PolicyResult], float | None]
"""Reads what a policy costs, in dollars or in units."""


class Total(Struct, frozen=True, kw_only=True):
    """A session that stands for many."""

    session: SessionResult
    """Sums, without moments; its error is the single errors weighted by their baselines' bills, an upper bound."""
    scope: str
    """A sentence: which sessions were summed."""


def total_of(result: ReplayResult) -> Total | None:
    """Sum up the sessions; None when there are fewer than two or when they have no common baseline.

    A policy whose cost is unknown in one session would look cheap beside the others: only sessions whose cost is known
    under every policy count, and the scope says how many those are.
    """
    baselines = {session.baseline for session in result.sessions}
    if len(result.sessions) <= 1 or len(baselines) > 1:
        return None
    names = policies_of(result)
    chosen, read, what = _comparable(result.sessions, names)
    if not chosen:
        return None
    return Total(session=_sum(chosen, names, read), scope=_scope(len(chosen), len(result.sessions), what))


def _scope(chosen: int, every: int, what: str) -> str:
    return f"Sums over all {every} sessions." if chosen == every else f"Sums over {chosen} of {every} sessions: {what}."


def _comparable(sessions: Sequence[SessionResult], names: Sequence[str]) -> tuple[list[SessionResult], _Bill, str]:
    """Sessions that can be summed, what to sum, and in words what they share."""
    for read, what in ((_cost, "those whose cost is known"), (_units, "those whose cache use is known")):
        found = [session for session in sessions if _knows(session, names, read)]
        if found:
            return found, read, f"{what} under every policy"
    alike = [session for session in sessions if _named(session).keys() >= set(names)]
    return alike, _cost, "those with every policy"


def _knows(session: SessionResult, names: Sequence[str], read: _Bill) -> bool:
    named = _named(session)
    return all(name in named and known(read(named[name])) for name in names)


def _named(session: SessionResult) -> dict[str, PolicyResult]:
    return {policy.policy: policy for policy in session.policies}


def _cost(policy: PolicyResult) -> float | None:
    return policy.cost


def _units(policy: PolicyResult) -> float | None:
    return policy.units


def _sum(sessions: Sequence[SessionResult], names: Sequence[str], read: _Bill) -> SessionResult:
    first = sessions[0]
    error = _error(sessions, read)
    return replace(
        first,
        path="",
        session_id="",
        requests=sum(session.requests for session in sessions),
        messages=sum(session.messages for session in sessions),
        error=error,
        money=None,
        equal_cuts=[],
        held=None,
        policies=[_total([_named(session)[name] for session in sessions], read, error) for name in names],
    )


def _total(parts: Sequence[PolicyResult], read: _Bill, error: float | None) -> PolicyResult:
    """Sum a policy up and compare it with what each session compared it with, which need not be a row."""
    policy = _sum_policy(parts, priced=read is _cost)
    bill, base = read(policy), _add([_divided(read(part), part.ratio) for part in parts])
    if bill is None or not base:
        return policy
    told = is_told(bill / base, margin_of(error))
    return replace(policy, ratio=bill / base, saving=base - bill if told and policy.cost is not None else None)


def _sum_policy(parts: Sequence[PolicyResult], *, priced: bool) -> PolicyResult:
    return PolicyResult(
        policy=parts[0].policy,
        recorded=all(part.recorded for part in parts),
        moments=[],
        cuts=[cut for part in parts for cut in part.cuts],
        lines={},
        cost=_add([part.cost for part in parts]) if priced else None,
        units=_add([part.units for part in parts]),
        ratio=None,
        saving=None,
        hit_ratio=_hit_ratio([moment for part in parts for moment in part.moments]),
        breaks=sum(part.breaks for part in parts),
        shape_breaks=sum(part.shape_breaks for part in parts),
        moves=sum(part.moves for part in parts),
        peak=max((part.peak for part in parts if known(part.peak)), default=None),
        over_window=sum(part.over_window for part in parts),
        notes=[],
        needed_later=joint_needed([part.needed_later for part in parts]),
        rule=parts[0].rule,
    )


def _add(values: Sequence[float | None]) -> float | None:
    numbers = [value for value in values if known(value)]
    return sum(numbers) if len(numbers) == len(values) else None


def _hit_ratio(moments: Sequence[Moment]) -> float | None:
    read = _add([moment.read for moment in moments])
    rest = _add([part for moment in moments for part in (moment.written, moment.uncached)])
    if read is None or rest is None or not read + rest:
        return None
    return read / (read + rest)


def _error(sessions: Sequence[SessionResult], read: _Bill) -> float | None:
    """Error of the sum; each session weighs as much as what it is compared with."""
    return joint_error((session.error for session in sessions), (_baseline_bill(session, read) for session in sessions))


def _baseline_bill(session: SessionResult, read: _Bill) -> float | None:
    bills = (_divided(read(policy), policy.ratio) for policy in session.policies)
    return next((bill for bill in bills if bill is not None), None)


def _divided(bill: float | None, ratio: float | None) -> float | None:
    return bill / ratio if known(bill) and known(ratio) and ratio else None
