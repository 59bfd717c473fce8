"""The result in sentences: never a guess shown as measured, never a difference below the model's own error."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import structs

from leafscar.engine import DEFAULT_POLICY
from leafscar.replay.details import Needed
from leafscar.replay.numbers import count, is_told, known, margin_of, percent
from leafscar.replay.result import PolicyResult
from leafscar.replay.rows import NEVER_CUT

__all__ = [
    "chosen_row",
    "compare",
    "cost_ratio",
    "counted",
    "idle_reason",
    "needed_words",
    "not_helped",
    "session_verdict",
]


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
    priced = baseline.cost is not None and row.cost is not None
    saving = (baseline.cost or 0) - (row.cost or 0) if priced and is_told(ratio, margin_of(error)) else None
    return structs.replace(row, ratio=ratio, saving=saving)


def session_verdict(rows: Sequence[PolicyResult], baseline: PolicyResult, error: float | None, window: int) -> str:
    """One sentence on what the default policy, or the best of those asked for, would have changed."""
    chosen = chosen_row(rows)
    peak = baseline.peak or 0
    if chosen is None:
        return f"{len(baseline.moments)} requests, peak {peak:,.0f} of {window:,} tokens; no policy was compared"
    if not chosen.moves and not chosen.cuts and not baseline.cuts:
        return f"nothing to gain: the context peaked at {percent(peak / window)} of the window, {_why_idle(chosen)}"
    text = f"{chosen.policy} would have made {_acts(chosen, len(baseline.cuts))} and {_money(chosen, baseline, error)}"
    if baseline.over_window:
        text += f"; the session as it was had {counted(baseline.over_window, 'request')} over this window"
    return text


def chosen_row(rows: Sequence[PolicyResult]) -> PolicyResult | None:
    """Row that a verdict is about: the default policy, or the first of those asked for."""
    virtual = [row for row in rows if not row.recorded and row.policy != NEVER_CUT]
    default = next((row for row in virtual if row.policy == DEFAULT_POLICY), None)
    return default or (virtual[0] if virtual else None)


def _why_idle(row: PolicyResult) -> str:
    line = row.lines.get("shed", row.lines.get("threshold"))
    if line is None:
        return f"but {row.policy} does nothing here: control is off"
    if (row.peak or 0) <= line:
        return f"so {row.policy} would not have acted"
    if row.off:
        return f"but under {row.policy} {'; '.join(row.off)}"
    return f"but {row.policy} found nothing to shed or cut"


def _acts(row: PolicyResult, were: int) -> str:
    """Cuts against those that were; where neither cut, the moves."""
    cuts = len(row.cuts)
    if not cuts and not were:
        return f"no cut, as it was, but {counted(row.moves, 'move')}"
    return f"{counted(cuts, 'cut')} instead of {were}" if cuts != were else f"{counted(cuts, 'cut')}, as it was,"


def _money(row: PolicyResult, baseline: PolicyResult, error: float | None) -> str:
    if row.ratio is None:
        return "cost an unknown amount"
    if error is None:
        return f"cost about {row.ratio:.2f}x by the cache model, which this recording cannot check"
    if not is_told(row.ratio, margin := margin_of(error)):
        if known(margin):
            return f"cost the same within the model's own error here ({percent(margin)})"
        return f"cost what the cache model cannot tell: it misses the recorded bill by {percent(error)}"
    word = "less" if row.ratio < 1 else "more"
    dollars = (
        "" if row.saving is None or baseline.cost is None else f" (${abs(row.saving):.2f} of ${baseline.cost:.2f})"
    )
    text = f"cost about {percent(abs(1 - row.ratio))} {word}{dollars}; the model is off by {percent(error)} here"
    return f"{text}{needed_words(row.needed_later)}" if row.ratio < 1 else text


def needed_words(needed: Needed | None) -> str:
    """What of the outputs that went was needed after all: it stands beside every saving."""
    if needed is None:
        return ", and how much of what it took out was needed later is unknown"
    if not needed.outputs:
        return ""
    some = {0: "none was", 1: "1 was"}.get(needed.needed, f"{needed.needed:,} were")
    return f", and of {count(needed.outputs, 'output')} that it took out {some} needed later"


def not_helped(rows: Sequence[PolicyResult], window: int, error: float | None) -> Iterable[str]:
    """What would not help in this session, and why, one sentence each."""
    for row in rows:
        if row.recorded:
            continue
        if row.policy == NEVER_CUT:
            if row.over_window:
                share = f"{row.over_window} of {len(row.moments)} requests"
                yield f"{row.policy}: {share} would have been larger than the window; it is no way to run"
            continue
        if idle := idle_reason(row, window):
            yield f"{row.policy}: {idle}"
        if row.ratio is not None and row.ratio > 1 and is_told(row.ratio, margin_of(error)):
            yield f"{row.policy}: dearer, {row.ratio:.2f}x the session as it was"


def idle_reason(row: PolicyResult, window: int) -> str | None:
    """Why a policy did nothing, or did not shed; None when it did or never would."""
    if row.rule and not row.off:
        return None if row.moves or row.cuts else _idle_rule(row)
    line = row.lines.get("shed", row.lines.get("threshold"))
    if line is None:
        return "it does nothing here: control is off" if row.policy != "none" else None
    if row.off:
        return "; ".join(row.off)
    if "cut" in row.lines and "shed" not in row.lines:  # only cuts
        return None if row.cuts else _uncut(row, window)
    return None if row.moves else f"no output was shed, {_why_no_move(row, line)}"


def _idle_rule(row: PolicyResult) -> str:
    trigger, peak = row.lines.get("trigger"), row.peak or 0
    if trigger is not None and peak <= trigger:
        return f"its trigger was never reached (peak {peak:,.0f} of {trigger:,.0f} tokens)"
    return "it found nothing to clear, and nothing had to be cut"


def _uncut(row: PolicyResult, window: int) -> str:
    line, peak = row.lines.get("cut", 0), row.peak or 0
    if peak <= line:
        return f"its line was never crossed (peak {peak:,.0f} of {window:,} tokens)"
    return "there was never any history before what must be kept"


def _why_no_move(row: PolicyResult, line: float) -> str:
    if (row.peak or 0) <= line and not row.cuts:
        return f"the context never passed its line ({row.peak or 0:,.0f} of {line:,.0f} tokens)"
    if "goal" in row.lines:
        return "there was never a batch large enough to reach the goal"
    if row.cuts:
        return "pruning what stood before the current turn was never enough, so it cut"
    return "nothing large stood before the current turn, which stays raw"


def counted(number: int, word: str) -> str:
    """Write ``no cut``, ``1 cut``, ``2 cuts``."""
    return count(number, word) if number else f"no {word}"
