"""One row of a replay: a policy's numbers over one session (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import structs

from leafscar.engine import Facts, Policy, parse_policy, resolve_lines
from leafscar.estimate import estimate_tokens
from leafscar.model import as_usage
from leafscar.model.shapes import as_mapping, as_number
from leafscar.replay.prices import Bill, recorded_bill
from leafscar.replay.recording import RecordedRequest
from leafscar.replay.result import CutMark, Moment, PolicyResult
from leafscar.replay.simulate import Run, Setup, simulate

__all__ = ["NEVER_CUT", "RECORDED", "lines_of", "modelled_row", "policy_of", "recorded_row", "virtual_row"]

RECORDED = "none"
"""The session as it was, in its own numbers."""
NEVER_CUT = "none:never-cut"
"""The session without its recorded cuts."""
_BREAK_SHARE = 0.05
_LEAST_CACHED = 1024


def policy_of(name: str) -> Policy:
    """Policy behind the name of a row. Raises :class:`PolicyError`."""
    return parse_policy("none" if name == NEVER_CUT else name)


def virtual_row(setup: Setup, name: str) -> PolicyResult:
    """Run one policy; ratio and saving are filled in where the rows are compared."""
    policy = policy_of(name)
    return _row(name, simulate(setup, policy), lines_of(setup.facts, policy), setup.facts.window or 0)


def modelled_row(setup: Setup) -> PolicyResult:
    """The session as it was, recorded cuts included, under the cache model: what all other rows are compared with."""
    run = simulate(setup, parse_policy("none"), keep_recorded_cuts=True)
    extra = sum((_recorded_summary(setup, at)[0] for at in setup.recording.cuts), Bill())
    run = structs.replace(run, bill=run.bill + extra, cuts=list(_recorded_cuts(setup)))
    return _row(RECORDED, run, {}, setup.facts.window or 0)


def recorded_row(setup: Setup) -> PolicyResult:
    """The recording's own numbers; the calls that wrote its summaries are not in them unless it holds their usage."""
    cuts = list(_recorded_cuts(setup))
    followed = {mark.request for mark in cuts}
    booked = [_recorded_moment(setup, request, cut=request.number in followed) for request in setup.recording.requests]
    summaries = [_recorded_summary(setup, at) for at in setup.recording.cuts]
    total = sum([spent for _, spent in booked] + [spent for spent, stated in summaries if stated], Bill())
    notes = [f"{sum(not stated for _, stated in summaries)} summaries were written by calls that it does not record"]
    run = Run(
        moments=[moment for moment, _ in booked],
        cuts=cuts,
        bill=total,
        notes=notes if not all(stated for _, stated in summaries) else [],
    )
    lines = lines_of(setup.facts, parse_policy("classic")) if cuts else {}
    row = _row(RECORDED, run, {name: at for name, at in lines.items() if name == "threshold"}, setup.facts.window or 0)
    known = all(moment.read is not None for moment in run.moments)
    return structs.replace(row, recorded=True, units=row.units if known else None)


def lines_of(facts: Facts, policy: Policy) -> dict[str, float]:
    """Lines of a policy that a chart can draw, in tokens."""
    lines = resolve_lines(facts, policy)
    if lines.off or (policy.sheds == "never" and policy.cuts == "never"):
        return {}
    drawn: dict[str, float] = {"threshold": lines.threshold}
    if policy.sheds == "batch":
        drawn |= {"shed": lines.shed, "goal": lines.goal}
    if policy.cuts == "gate":
        drawn["gate"] = lines.gate
    if policy.cuts == "above-line":
        drawn["cut"] = lines.cut
    return drawn


def _row(name: str, run: Run, lines: dict[str, float], window: int) -> PolicyResult:
    moments = run.moments
    sent = sum(moment.context for moment in moments if moment.read is not None)
    read = sum(moment.read or 0 for moment in moments)
    return PolicyResult(
        policy=name,
        recorded=False,
        moments=moments,
        cuts=run.cuts,
        lines=lines,
        cost=run.bill.cost,
        units=run.bill.units,
        ratio=None,
        saving=None,
        hit_ratio=read / sent if sent else None,
        breaks=sum(moment.break_cause is not None for moment in moments),
        moves=sum(moment.shed > 0 for moment in moments),
        peak=max((moment.context for moment in moments), default=0),
        over_window=sum(moment.context > window for moment in moments) if window else 0,
        notes=run.notes,
    )


def _recorded_moment(setup: Setup, request: RecordedRequest, *, cut: bool) -> tuple[Moment, Bill]:
    usage = request.usage
    if usage is None:
        spent = Bill(requests=1, cost=None)
    else:
        spent = recorded_bill(usage, setup.prices, setup.cache, stated=request.stated_cost)
    told = usage is not None and not spent.unknown & {"input", "cache_read", "cache_write"}
    missed, cause = _recorded_miss(setup, request, cut=cut) if told else (0.0, None)
    moment = Moment(
        request=request.number,
        entry_id=request.entry.id,
        at=request.at,
        context=request.prompt or 0,
        output=spent.output,
        read=spent.read if told else None,
        written=spent.written if told else None,
        uncached=spent.uncached if told else None,
        cost=spent.cost,
        units=spent.units,
        inferred=False,
        cut=cut,
        break_cause=cause,
        missed=missed,
    )
    return moment, spent


def _recorded_miss(setup: Setup, request: RecordedRequest, *, cut: bool) -> tuple[float, str | None]:
    """Tokens of the request before that were not read again, and why, as far as the recording shows."""
    number = request.number
    before = setup.recording.requests[number - 2] if number > 1 else None
    usage, earlier = request.usage, before.usage if before else None
    if before is None or usage is None or earlier is None or before.prompt is None:
        return 0.0, None
    was_cached = (earlier.cache_read or 0) + (earlier.cache_write or 0)
    missed = was_cached - (usage.cache_read or 0)
    if was_cached < _LEAST_CACHED or missed <= max(_LEAST_CACHED, _BREAK_SHARE * was_cached):
        return 0.0, None
    if cut:
        return missed, "cut"
    gap = None if request.at is None or before.at is None else request.at - before.at
    if before.message.model != request.message.model:
        return missed, "model"
    return missed, "expired" if gap is not None and gap > setup.cache.ttl else "shape"


def _recorded_cuts(setup: Setup) -> Iterable[CutMark]:
    recording = setup.recording
    for at in recording.cuts:
        entry = recording.path[at]
        after = next((request for request in recording.requests if request.position > at), None)
        spent, stated = _recorded_summary(setup, at)
        size = estimate_tokens(entry.message) * setup.sizes.k if entry.message else 0
        before = entry.get("tokensBefore")
        yield CutMark(
            request=after.number if after else len(recording.requests) + 1,
            before=before if isinstance(before, int | float) else 0,
            after=after.prompt if after else None,
            summary_tokens=size,
            summariser_input=spent.input,
            cost=spent.cost if stated else None,
            reason="recorded",
        )


def _recorded_summary(setup: Setup, at: int) -> tuple[Bill, bool]:
    """What the summary of a recorded cut cost, and whether the recording says so itself."""
    fields = as_mapping(setup.recording.path[at].get("usage"))
    usage = as_usage(fields)
    if fields is None or usage is None:
        return Bill(), False
    stated = as_number((as_mapping(fields.get("cost")) or {}).get("total"))
    return recorded_bill(usage, setup.prices, setup.cache, stated=stated), True
