"""A whole run in words: what was billed, what the default would have cost, and which sessions it would not help."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

from msgspec import Struct

from leafscar.replay.needed import joint_needed
from leafscar.replay.numbers import count, is_told, is_within, joint_error, known, margin_of, percent
from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.replay.verdict import chosen_row, counted, idle_reason, needed_words

__all__ = ["run_not_helped", "run_verdict"]


class _Pair(Struct, frozen=True):
    """One session with its bill and the row that the verdict is about."""

    session: SessionResult
    row: PolicyResult
    was: PolicyResult | None
    """The session in its own numbers; None when nobody asked for them."""

    def bill(self, *, dollars: bool) -> float | None:
        """What was billed, in dollars or in input-token equivalents."""
        return None if self.was is None else self.was.cost if dollars else self.was.units


def run_verdict(sessions: Sequence[SessionResult]) -> str:
    """The whole run in one sentence."""
    if not sessions:
        return "no session could be replayed"
    if len(sessions) == 1:
        return sessions[0].verdict
    pairs = _pairs(sessions)
    if not pairs:
        return f"{len(sessions)} sessions, no policy was compared"
    dollars = any(known(pair.bill(dollars=True)) for pair in pairs)
    acts = _acts(pairs).removesuffix(",")
    return f"{_billed(pairs, dollars=dollars)}. {_would(pairs, dollars=dollars)}, {acts}; {_each(pairs)}"


def _pairs(sessions: Iterable[SessionResult]) -> list[_Pair]:
    rows = ((session, chosen_row(session.policies)) for session in sessions)
    return [_Pair(session, row, _was(session)) for session, row in rows if row is not None]


def _was(session: SessionResult) -> PolicyResult | None:
    return next((row for row in session.policies if row.recorded), None)


def _billed(pairs: Sequence[_Pair], *, dollars: bool) -> str:
    """What was billed, and how far the cache model is from it."""
    bills = [(pair, bill) for pair in pairs if known(bill := pair.bill(dollars=dollars))]
    if not bills:
        return f"What {len(pairs)} sessions were billed is not known"
    who = f"{len(pairs)} sessions were" if len(bills) == len(pairs) else f"{len(bills)} of {len(pairs)} sessions were"
    error = joint_error((pair.session.error for pair, _ in bills), (bill for _, bill in bills))
    off = "cannot be checked on all of them" if error is None else f"misses that by {percent(error)}"
    return f"{who} billed {_amount(sum(bill for _, bill in bills), dollars=dollars)}; the cache model {off}"


def _would(pairs: Sequence[_Pair], *, dollars: bool) -> str:
    """Range that the row would have cost, over the sessions on which the model can be checked."""
    name = pairs[0].row.policy
    bills = [(pair, bill) for pair in pairs if known(bill := pair.bill(dollars=dollars))]
    checked = [(pair, bill) for pair, bill in bills if known(pair.row.ratio) and known(pair.session.error)]
    base = sum(bill for _, bill in checked)
    if not base:
        return f"What {name} would have cost cannot be checked"
    ratio = sum(bill * (pair.row.ratio or 1) for pair, bill in checked) / base
    margin = margin_of(joint_error((pair.session.error for pair, _ in checked), (bill for _, bill in checked)))
    where = "" if len(checked) == len(bills) else f", over the {len(checked)} that can be checked"
    if margin is None or math.isinf(margin):
        return f"What {name} would have cost is more than the model can tell{where}"
    if is_within(ratio, margin):
        return f"{name} would have cost the same within the model's error ({percent(margin)}){where}"
    low, high = ratio - margin, ratio + margin
    least, most = (1 - high, 1 - low) if ratio < 1 else (low - 1, high - 1)
    first = f"${base * low:,.2f}" if dollars else f"{base * low / 1e6:,.2f}M"
    amounts = f"{first} to {_amount(base * high, dollars=dollars)}"
    word = "less" if ratio < 1 else "more"
    needed = needed_words(joint_needed([pair.row.needed_later for pair in pairs])) if ratio < 1 else ""
    return f"{name} would have cost {amounts} ({percent(least)} to {percent(most)} {word}){where}{needed}"


def _amount(value: float, *, dollars: bool) -> str:
    return f"${value:,.2f}" if dollars else f"{value / 1e6:,.2f}M input-token equivalents"


def _acts(pairs: Sequence[_Pair]) -> str:
    text = f"with {_against(sum(len(pair.row.cuts) for pair in pairs), sum(p.session.cuts for p in pairs), 'cut')}"
    if any(pair.was is None for pair in pairs):
        return text
    broke = sum(pair.was.breaks for pair in pairs if pair.was)
    return f"{text} and {_against(sum(pair.row.breaks for pair in pairs), broke, 'cache break')}"


def _against(made: int, were: int, word: str) -> str:
    return f"{counted(made, word)}, as it was," if made == were else f"{counted(made, word)} instead of {were}"


def _each(pairs: Sequence[_Pair]) -> str:
    told = [pair.row.ratio or 1 for pair in pairs if is_told(pair.row.ratio, pair.session.margin)]
    cheaper, dearer = sum(ratio < 1 for ratio in told), sum(ratio > 1 for ratio in told)
    rest = len(pairs) - len(told)
    parts = (f"{cheaper} cheaper", f"{dearer} dearer", f"{rest} the same within the model's error or unknown")
    return ", ".join(part for part in parts if not part.startswith("0 "))


def run_not_helped(sessions: Sequence[SessionResult]) -> list[str]:
    """Sessions of a run that the default would not make cheaper, and why; none for a single session.

    Sessions with the same reason are counted together.
    """
    reasons: dict[str, list[str]] = {}
    for pair in _pairs(sessions) if len(sessions) > 1 else ():
        if reason := _reason(pair):
            reasons.setdefault(reason, []).append(Path(pair.session.path).name)
    return [f"{_named(names)}: {reason}" for reason, names in reasons.items()]


def _named(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{count(len(names), 'session')} ({', '.join(names)})"


def _reason(pair: _Pair) -> str:
    """Why a session would not get cheaper; empty where it would."""
    row, error, margin = pair.row, pair.session.error, pair.session.margin
    if is_told(row.ratio, margin):
        return "" if (row.ratio or 1) < 1 else f"dearer, {row.ratio:.2f}x the session as it was"
    if idle := idle_reason(row, pair.session.window):
        return idle
    if error is None or row.ratio is None:
        return "nothing recorded tells how far the cache model is off"
    if not known(margin):
        return f"the cache model misses its bill by {percent(error)}, too far to tell"
    return f"the same within the model's error ({percent(margin)})"
