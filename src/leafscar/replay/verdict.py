"""The result in sentences: never a guess shown as measured, never a saving below the model's own error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from leafscar.engine import DEFAULT_POLICY
from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.replay.rows import NEVER_CUT, RECORDED

__all__ = ["compare", "cost_ratio", "not_helped", "run_verdict", "session_verdict"]

_LEAST_ERROR = 0.01


def compare(rows: Sequence[PolicyResult], baseline: PolicyResult, error: float | None) -> list[PolicyResult]:
    """Give each row its ratio to the baseline, and its saving where the model can tell it from its own error."""
    return [_compared(row, baseline, error) for row in rows]


def cost_ratio(one: PolicyResult, other: PolicyResult) -> float | None:
    """Bill of ``one`` over that of ``other``: in dollars where both are known, else in input-token equivalents."""
    if one.cost is not None and other.cost:
        return one.cost / other.cost
    return one.units / other.units if one.units is not None and other.units else None


def _compared(row: PolicyResult, baseline: PolicyResult, error: float | None) -> PolicyResult:
    ratio = cost_ratio(row, baseline)
    if row.recorded:
        return structs.replace(row, ratio=None if ratio is None else 1.0)
    told = ratio is not None and error is not None and abs(1 - ratio) > max(error, _LEAST_ERROR)
    saving = baseline.cost - row.cost if told and baseline.cost is not None and row.cost is not None else None
    return structs.replace(row, ratio=ratio, saving=saving)


def session_verdict(rows: Sequence[PolicyResult], baseline: PolicyResult, error: float | None, window: int) -> str:
    """One sentence on what the default policy, or the best of those asked for, would have changed."""
    chosen = _chosen(rows)
    if chosen is None:
        return (
            f"{len(baseline.moments)} requests, peak {baseline.peak:,.0f} of {window:,} tokens; no policy was compared"
        )
    if not chosen.moves and not chosen.cuts and not baseline.cuts:
        share = baseline.peak / window
        return (
            f"nothing to gain: the context peaked at {share:.0%} of the window, so {chosen.policy} would not have acted"
        )
    cuts = f"{len(chosen.cuts)} {_plural(len(chosen.cuts), 'cut')} instead of {len(baseline.cuts)}"
    return f"{chosen.policy} would have made {cuts} and {_money(chosen, baseline, error)}"


def _chosen(rows: Sequence[PolicyResult]) -> PolicyResult | None:
    virtual = [row for row in rows if not row.recorded and row.policy != NEVER_CUT]
    default = next((row for row in virtual if row.policy == DEFAULT_POLICY), None)
    return default or (virtual[0] if virtual else None)


def _money(row: PolicyResult, baseline: PolicyResult, error: float | None) -> str:
    if row.ratio is None:
        return "cost an unknown amount"
    change = abs(1 - row.ratio)
    if error is None:
        return f"cost about {row.ratio:.2f}x by the cache model, which this recording cannot check"
    if change <= max(error, _LEAST_ERROR):
        return f"cost the same within the model's own error here ({max(error, _LEAST_ERROR):.0%})"
    word = "less" if row.ratio < 1 else "more"
    dollars = (
        "" if row.saving is None or baseline.cost is None else f" (${abs(row.saving):.2f} of ${baseline.cost:.2f})"
    )
    return f"cost about {change:.0%} {word}{dollars}; the model is off by {error:.1%} here"


def not_helped(rows: Sequence[PolicyResult], window: int) -> Iterable[str]:
    """What would not help in this session, and why, one sentence each."""
    for row in rows:
        if row.recorded:
            continue
        if row.policy == NEVER_CUT:
            if row.over_window:
                count = f"{row.over_window} of {len(row.moments)} requests"
                yield f"{row.policy}: {count} would have been larger than the window; it is no way to run"
            continue
        if row.policy.startswith("compaction"):
            if not row.cuts:
                yield f"{row.policy}: its line was never crossed (peak {row.peak:,.0f} of {window:,} tokens)"
        elif not row.moves:
            yield f"{row.policy}: no output was shed, {_why_no_move(row)}"
        if row.ratio is not None and row.ratio > 1 + _LEAST_ERROR:
            yield f"{row.policy}: dearer, {row.ratio:.2f}x the session as it was"


def _why_no_move(row: PolicyResult) -> str:
    line = row.lines.get("shed", row.lines.get("threshold"))
    if line is None:
        return "control was off"
    if row.peak <= line and not row.cuts:
        return f"the context never passed its line ({row.peak:,.0f} of {line:,.0f} tokens)"
    if row.policy == "classic":
        return "what was large stood in the current turn, which stays raw"
    return "there was never a batch large enough to reach the goal"


def run_verdict(sessions: Sequence[SessionResult]) -> str:
    """The whole run in one sentence."""
    if not sessions:
        return "no session could be replayed"
    if len(sessions) == 1:
        return sessions[0].verdict
    rows = [(session, _chosen(session.policies)) for session in sessions]
    chosen = [(session, row) for session, row in rows if row is not None]
    if not chosen:
        return f"{len(sessions)} sessions, no policy was compared"
    name = chosen[0][1].policy
    made = sum(len(row.cuts) for _, row in chosen)
    were = sum(len(_as_it_was(session).cuts) for session, _ in chosen)
    dearer = sum(_is_told(session, row) and (row.ratio or 1) > 1 for session, row in chosen)
    cheaper = sum(_is_told(session, row) and (row.ratio or 1) < 1 for session, row in chosen)
    same = len(chosen) - dearer - cheaper
    return (
        f"{name} over {len(sessions)} sessions: {made} {_plural(made, 'cut')} instead of {were}; "
        f"{cheaper} cheaper, {dearer} dearer, {same} the same within the model's error or unknown"
    )


def _as_it_was(session: SessionResult) -> PolicyResult:
    return next((row for row in session.policies if row.policy == RECORDED), session.policies[0])


def _is_told(session: SessionResult, row: PolicyResult) -> bool:
    return row.ratio is not None and session.error is not None and abs(1 - row.ratio) > max(session.error, _LEAST_ERROR)


def _plural(count: int, word: str) -> str:
    return word if count == 1 else f"{word}s"
