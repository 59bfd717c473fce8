"""What a policy could have done and did not, in sentences with the numbers that spoke against it."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from msgspec import Struct

from leafscar.engine import ControlState, Facts, Policy
from leafscar.engine.decide import View, payback
from leafscar.engine.facts import Lines
from leafscar.engine.tracker import FRUITLESS_LIMIT

__all__ = ["Situation", "alternatives_of"]


class Situation(Struct, frozen=True, kw_only=True):
    """What a controller had before it decided."""

    policy: Policy
    lines: Lines
    facts: Facts
    view: View
    state: ControlState


def alternatives_of(situation: Situation, done: Collection[str]) -> Iterable[str]:
    """Say of moves and cuts that were not made why not; ``done`` holds the kinds of what the controller told."""
    if situation.lines.off:
        return
    if "shed" not in done:
        yield from _moves(situation)
    elif situation.policy.sheds == "batch":
        yield from _other_moves(situation)
    if "cut" not in done:
        yield from _cuts(situation, shed="shed" in done)


def _moves(situation: Situation) -> Iterable[str]:
    policy, view, lines = situation.policy, situation.view, situation.lines
    if policy.sheds == "never":
        yield f"a move: {policy.name} never sheds"
    elif not view.may_shed:
        yield f"a move: {_why_not_shed(situation.facts)}"
    elif policy.sheds == "sticky":
        yield _sticky(lines, view)
    elif view.estimate > lines.shed:
        yield from _too_small(situation)
    else:
        yield _below("a move under pressure", view.estimate, "shed", lines.shed)
        yield from _cheap(situation)


def _why_not_shed(facts: Facts) -> str:
    if not facts.pruning_enabled:
        return "pruning.enabled is false"
    return "this model binds its thinking, and leafscar.boundThinking is off"


def _below(what: str, estimate: float, name: str, line: float) -> str:
    return f"{what}: {estimate:,.0f} tokens are not above the {name} line of {line:,.0f}"


def _sticky(lines: Lines, view: View) -> str:
    if not view.engaged and view.estimate <= lines.threshold:
        return _below("a move", view.estimate, "threshold", lines.threshold)
    return f"a move: older material would save {view.older:,.0f} tokens"


def _too_small(situation: Situation) -> Iterable[str]:
    """Under pressure: each move against the smallest one and against what had to be reached."""
    view = situation.view
    batch = situation.lines.cold_batch if view.cold else situation.lines.batch
    for what, saved in (("older material", view.older), ("everything allowed", view.fullest)):
        if saved < batch:
            yield f"a move of {what}: would save {saved:,.0f} tokens, the smallest move is {batch:,}"
        else:
            yield f"a move of {what}: would save {saved:,.0f} tokens, {_needs(situation)}"


def _needs(situation: Situation) -> str:
    name = "goal" if situation.policy.must_reach_goal else "cut"
    line = situation.lines.goal if situation.policy.must_reach_goal else situation.lines.cut
    return f"the {name} line of {line:,} needs {situation.view.estimate - line:,.0f}"


def _cheap(situation: Situation) -> Iterable[str]:
    """Below the shed line: moves that cost little, or that pay back."""
    policy, view, lines = situation.policy, situation.view, situation.lines
    if policy.moves_when_cold:
        small = f"older material would save {view.older:,.0f} tokens, the smallest move is {lines.cold_batch:,}"
        yield f"a move while the cache is cold: {small if view.cold else 'it was warm'}"
    if policy.payback and view.estimate <= lines.payback:
        yield _below("a move that pays back", view.estimate, "payback", lines.payback)
    elif policy.payback:
        batch = lines.cold_batch if view.cold else lines.batch
        worth, price = payback(policy, view, view.fullest)
        costs = f"reading them on is worth {worth:,.0f}, sending the rest again costs {max(0, price):,.0f}"
        yield f"a move that pays back: would save {view.fullest:,.0f} tokens (smallest move {batch:,}); {costs}"


def _other_moves(situation: Situation) -> Iterable[str]:
    view = situation.view
    if view.estimate > situation.lines.shed and view.older < view.fullest:
        both = f"{view.older:,.0f} tokens, everything allowed {view.fullest:,.0f}"
        yield f"the other move: older material alone would save {both}; {_needs(situation)}"


def _cuts(situation: Situation, *, shed: bool) -> Iterable[str]:
    policy, view, lines = situation.policy, situation.view, situation.lines
    if policy.cuts == "never":
        yield f"a cut: {policy.name} never cuts"
        return
    name, line = _cut_line(policy, lines)
    if view.estimate <= line:
        yield _below("a cut", view.estimate, name, line)
    elif shed:
        yield "a cut: the move was enough"
    elif not view.may_cut:
        yield f"a cut: {_why_not_cut(situation)}"
    elif policy.cuts == "gate":
        yield f"a cut: with the moves the request stays at or below the gate of {lines.gate:,} tokens"
    else:
        yield "a cut: there was nothing to cut"


def _cut_line(policy: Policy, lines: Lines) -> tuple[str, int]:
    match policy.cuts:
        case "above-line":
            return "cut", lines.cut
        case "gate":
            return "threshold", lines.threshold
        case _:
            return "shed", lines.shed


def _why_not_cut(situation: Situation) -> str:
    state = situation.state
    if not situation.facts.compaction_enabled:
        return "compaction.enabled is false"
    if state.fruitless >= FRUITLESS_LIMIT:
        return "two cuts in a row freed less than a tenth of the window"
    if state.retry_above and situation.view.estimate <= state.retry_above:
        return f"the last summary failed; none is asked for up to {state.retry_above:,.0f} tokens"
    return "no reading is newer than the newest cut"
