"""One row of a replay: a policy's numbers over one session (docs/replay.md)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from msgspec import structs

from leafscar.engine import Facts, Policy, parse_policy, resolve_lines
from leafscar.estimate import estimate_tokens
from leafscar.model import as_usage
from leafscar.model.shapes import as_mapping
from leafscar.replay.bills import Bill, recorded_bill
from leafscar.replay.choices import Choice, choice_of
from leafscar.replay.recording import RecordedRequest
from leafscar.replay.reported import likely_number, likely_usage, stated_cost
from leafscar.replay.result import CutMark, Moment, PolicyResult
from leafscar.replay.rival_run import Rival, simulate_rival
from leafscar.replay.rivals import Rule, SummarizeAt, line_of, trigger_of
from leafscar.replay.simulate import Run, Setup, Watch, simulate

__all__ = [
    "NEVER_CUT",
    "RECORDED",
    "lines_of",
    "modelled_row",
    "policy_of",
    "recorded_row",
    "summaries_bill",
    "virtual_row",
]

RECORDED = "none"
"""The session as it was, in its own numbers."""
NEVER_CUT = "none:never-cut"
"""The session without its recorded cuts."""
_BREAK_SHARE = 0.05
_LEAST_CACHED = 1024
_UNREPORTED = Bill(requests=1, cost=None, unknown=frozenset({"input", "output", "cache_read", "cache_write"}))

_Summary: TypeAlias = tuple[int, Bill, bool]


def policy_of(name: str) -> Policy:
    """Policy behind the name of a row. Raises :class:`PolicyError`."""
    return parse_policy("none" if name == NEVER_CUT else name)


def virtual_row(setup: Setup, chosen: str | Choice, watches: Sequence[Watch] = ()) -> PolicyResult:
    """Run one policy; ratio and saving are filled in where the rows are compared."""
    name = chosen if isinstance(chosen, str) else chosen.name
    policy = policy_of(name) if name == NEVER_CUT else choice_of(chosen) if isinstance(chosen, str) else chosen
    if isinstance(policy, Rival):
        return _rival_row(setup, policy, watches)
    row = _row(name, simulate(setup, policy, watches=watches), lines_of(setup.facts, policy), setup.facts.window or 0)
    return structs.replace(row, off=list(_switched_off(setup.facts, policy)))


def _rival_row(setup: Setup, rival: Rival, watches: Sequence[Watch]) -> PolicyResult:
    facts = setup.facts
    row = _row(rival.name, simulate_rival(setup, rival, watches), _rival_lines(facts, rival.rule), facts.window or 0)
    off = [] if facts.compaction_enabled else ["nothing was cut: compaction.enabled is false"]
    return structs.replace(row, rule=rival.tool, off=off, notes=[*row.notes, *_rival_notes(row, facts)])


def _rival_notes(row: PolicyResult, facts: Facts) -> Iterable[str]:
    if row.shape_breaks:
        yield f"{row.shape_breaks:,} of {row.breaks:,} cache breaks come from its own changes (shape)"
    if facts.bound_thinking and row.moves:
        yield "this model binds its thinking; what its provider makes of changed outputs is not modelled"


def _rival_lines(facts: Facts, rule: Rule) -> dict[str, float]:
    lines, trigger = resolve_lines(facts, parse_policy("compaction")), trigger_of(rule)
    drawn: dict[str, float] = {} if lines.off else {"threshold": lines.threshold}
    if isinstance(rule, SummarizeAt) and not lines.off:
        drawn["cut"] = line_of(rule, lines.window, lines.threshold)
    return drawn if trigger is None else {**drawn, "trigger": trigger}


def _switched_off(facts: Facts, policy: Policy) -> Iterable[str]:
    """What of a policy the settings, or the model, do not let happen."""
    if policy.sheds != "never" and not facts.pruning_enabled:
        yield "nothing was shed: pruning.enabled is false"
    elif policy.sheds != "never" and facts.bound_thinking and facts.thinking_way == "off":
        yield "nothing was shed: this model binds its thinking, and leafscar.boundThinking is off"
    if policy.cuts != "never" and not facts.compaction_enabled:
        yield "nothing was cut: compaction.enabled is false"


def modelled_row(setup: Setup, watches: Sequence[Watch] = ()) -> PolicyResult:
    """The session as it was, recorded cuts included, under the cache model: what all other rows are compared with."""
    run = simulate(setup, parse_policy("none"), keep_recorded_cuts=True, watches=watches)
    summaries = _recorded_summaries(setup)
    run = structs.replace(run, bill=run.bill + summaries_bill(setup), cuts=list(_recorded_cuts(setup, summaries)))
    return _row(RECORDED, run, {}, setup.facts.window or 0)


def summaries_bill(setup: Setup) -> Bill:
    """What the recorded summaries cost, as far as the recording says."""
    return sum((spent for _, spent, _ in _recorded_summaries(setup)), Bill())


def recorded_row(setup: Setup) -> PolicyResult:
    """The recording's own numbers; the calls that wrote its summaries are not in them unless it holds their usage."""
    summaries = _recorded_summaries(setup)
    before: dict[int, list[Bill]] = {}
    for number, spent, _ in summaries:
        before.setdefault(number, []).append(spent)
    booked = [_recorded_moment(setup, each, before.get(each.number, ())) for each in setup.recording.requests]
    last = len(setup.recording.requests)
    trailing = [spent for number, spent, _ in summaries if number > last]
    run = Run(
        moments=[moment for moment, _ in booked],
        cuts=list(_recorded_cuts(setup, summaries)),
        bill=sum([*(spent for _, spent in booked), *trailing], Bill()),
        notes=list(_unrecorded(summaries)),
    )
    cuts = run.cuts
    lines = lines_of(setup.facts, parse_policy("classic")) if cuts else {}
    row = _row(RECORDED, run, {name: at for name, at in lines.items() if name == "threshold"}, setup.facts.window or 0)
    known = all(moment.read is not None for moment in run.moments)  # else unreported tokens would count as free
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
    sent = sum(moment.context or 0 for moment in moments if moment.read is not None)
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
        shape_breaks=sum(moment.break_cause == "shape" for moment in moments),
        moves=sum(moment.shed > 0 for moment in moments),
        peak=max((moment.context for moment in moments if moment.context is not None), default=None),
        over_window=sum((moment.context or 0) > window for moment in moments) if window else 0,
        notes=run.notes,
    )


def _recorded_moment(setup: Setup, request: RecordedRequest, before: Sequence[Bill]) -> tuple[Moment, Bill]:
    spent = _recorded_request(setup, request)
    told = not spent.unknown & {"input", "cache_read", "cache_write"}
    missed, cause = _recorded_miss(setup, request, cut=bool(before)) if told else (0.0, None)
    total = sum(before, spent)
    moment = Moment(
        request=request.number,
        entry_id=request.entry.id,
        at=request.at,
        context=request.prompt,
        output=spent.output,
        read=spent.read if told else None,
        written=spent.written if told else None,
        uncached=spent.uncached if told else None,
        cost=total.cost,
        units=total.units,
        inferred=False,
        cut=bool(before),
        break_cause=cause,
        missed=missed,
    )
    return moment, total


def _recorded_request(setup: Setup, request: RecordedRequest) -> Bill:
    if request.usage is None or request.prompt is None:
        return _UNREPORTED
    tariff = setup.tariffs.of(request.message)
    return recorded_bill(request.usage, tariff.prices, tariff.cache, stated=request.stated_cost)


def _recorded_miss(setup: Setup, request: RecordedRequest, *, cut: bool) -> tuple[float, str | None]:
    """Tokens of the request before that were sent again, and why, as far as the recording shows."""
    number = request.number
    before = setup.recording.requests[number - 2] if number > 1 else None
    usage, earlier = request.usage, before.usage if before else None
    if before is None or usage is None or earlier is None or before.prompt is None:
        return 0.0, None
    was_cached = (earlier.cache_read or 0) + (earlier.cache_write or 0)
    missed = min(was_cached - (usage.cache_read or 0), (usage.input or 0) + (usage.cache_write or 0))
    if was_cached < _LEAST_CACHED or missed <= max(_LEAST_CACHED, _BREAK_SHARE * was_cached):
        return 0.0, None
    gap = None if request.at is None or before.at is None else request.at - before.at
    if before.message.model != request.message.model:
        return missed, "model"
    if gap is not None and gap > setup.tariffs.of(request.message).cache.ttl:
        return missed, "expired"
    return missed, "cut" if cut else "shape"


def _recorded_cuts(setup: Setup, summaries: Sequence[_Summary]) -> Iterable[CutMark]:
    recording = setup.recording
    for at, (number, spent, stated) in zip(recording.cuts, summaries, strict=True):
        entry = recording.path[at]
        after = recording.requests[number - 1] if number <= len(recording.requests) else None
        size = estimate_tokens(entry.message) * setup.sizes.k if entry.message else 0
        before = likely_number(entry.get("tokensBefore"))
        yield CutMark(
            request=number,
            before=before or 0,
            after=after.prompt if after else None,
            summary_tokens=size,
            summariser_input=spent.input,
            cost=spent.cost if stated else None,
            reason="recorded",
        )


def _recorded_summaries(setup: Setup) -> list[_Summary]:
    """For each recorded cut: number of the next request, cost of the summary, and whether the recording says so."""
    positions = [request.position for request in setup.recording.requests]
    numbered = ((at, 1 + bisect_left(positions, at)) for at in setup.recording.cuts)
    return [(number, *_recorded_summary(setup, at, number)) for at, number in numbered]


def _recorded_summary(setup: Setup, at: int, number: int) -> tuple[Bill, bool]:
    fields = as_mapping(setup.recording.path[at].get("usage"))
    usage = likely_usage(as_usage(fields))
    if fields is None or usage is None:
        return Bill(), False
    tariff = setup.tariffs.of(setup.recording.requests[number - 2].message) if number > 1 else setup.tariffs.main
    return recorded_bill(usage, tariff.prices, tariff.cache, stated=stated_cost(fields)), True


def _unrecorded(summaries: Sequence[_Summary]) -> Iterable[str]:
    silent = sum(not stated for _, _, stated in summaries)
    if silent:
        yield f"{silent} {'summary was' if silent == 1 else 'summaries were'} written by calls that it does not record"
