"""One request's decision, as a pure function of what is measured (docs/policies.md)."""

from __future__ import annotations

from typing import TypeAlias

from msgspec import Struct

from leafscar.engine.facts import Lines
from leafscar.engine.policy import Policy

__all__ = ["Cut", "Decision", "Keep", "Shed", "View", "decide", "payback"]


class View(Struct, frozen=True, kw_only=True):
    """What a policy sees of the next request; all numbers are tokens."""

    estimate: float
    """The request as it would go out with the moves made so far."""
    older: float
    """What a move of older material (before the current turn, or superseded) would take out."""
    fullest: float
    """What the fullest allowed move would take out."""
    already: float = 0
    """What earlier moves have taken out."""
    suffix: float = 0
    """From the first block that the fullest move changes to the end."""
    responses: int = 0
    """Responses in the context."""
    read_price: float = 0.1
    """Price of a token that is read from the cache, as a multiple of the input price."""
    write_price: float = 1.25
    """Price of a token that is written to the cache."""
    cold: bool = False
    """Whether the provider's cache has expired anyway."""
    engaged: bool = False
    """Whether moves were made (``sticky``: T was crossed) since the newest cut."""
    may_shed: bool = True
    """False while pruning is off, or moves would break bound thinking."""
    may_cut: bool = True
    """False while cuts are off, the latch is closed, the loop breaker is open, or there is nothing to cut."""


class Keep(Struct, frozen=True):
    """Send the request in the shape it has."""

    reason: str


class Shed(Struct, frozen=True):
    """Make one move: of the older material, or (``fullest``) of everything that is allowed."""

    reason: str
    fullest: bool


class Cut(Struct, frozen=True):
    """Ask for a summary and cut."""

    reason: str


Decision: TypeAlias = Keep | Shed | Cut


def decide(policy: Policy, lines: Lines, view: View) -> Decision:
    """Decide what happens to the next request under ``policy``."""
    if lines.off:
        return Keep(lines.off)
    match policy.sheds:
        case "sticky":
            return _sticky(policy, lines, view)
        case "batch":
            return _batch(policy, lines, view)
        case _:
            return _cut_only(policy, lines, view)


def _cut_only(policy: Policy, lines: Lines, view: View) -> Decision:
    if policy.cuts == "above-line" and view.estimate > lines.cut:
        return Cut("threshold") if view.may_cut else Keep("above the cut line, but nothing may be cut")
    return Keep("below the cut line")


def _sticky(policy: Policy, lines: Lines, view: View) -> Decision:
    over = view.estimate > lines.threshold
    if not (over or view.engaged):
        return Keep("not engaged")
    savings = view.older if view.may_shed else 0
    counted = savings + (view.already if policy.source_defects else 0)
    if over and view.may_cut and view.estimate - counted > lines.gate:
        return Cut("threshold")
    return Shed("engaged", fullest=False) if savings else Keep("engaged, nothing new to prune")


def _batch(policy: Policy, lines: Lines, view: View) -> Decision:
    if view.estimate <= lines.shed:
        return _below_pressure(policy, lines, view)
    moves = _moves(lines, view)
    line = lines.goal if policy.must_reach_goal else lines.cut
    enough = next((move for savings, move in moves if view.estimate - savings <= line), None)
    if enough is not None:
        return enough
    if not policy.must_reach_goal and view.estimate <= lines.cut:
        return Keep("above the shed line, no batch to shed")
    if view.may_cut:
        return Cut("pressure")
    return moves[-1][1] if moves else Keep("under pressure, but there is neither a batch to shed nor a cut to make")


def _below_pressure(policy: Policy, lines: Lines, view: View) -> Decision:
    if not view.may_shed:
        return Keep("below the shed line")
    if policy.moves_when_cold and view.cold and view.older >= lines.cold_batch:
        return Shed("cold cache", fullest=False)
    if policy.payback and view.estimate > lines.payback:
        moves = _moves(lines, view, "it pays back")
        return next((move for savings, move in moves if _pays_back(policy, view, savings)), Keep("no move pays back"))
    return Keep("below the shed line")


def payback(policy: Policy, view: View, savings: float) -> tuple[float, float]:
    """What reading on would cost that a move takes out, and what the move costs, in input-token equivalents.

    As many further requests are expected as the context holds responses, times ``policy.payback`` (ADR 0051); the
    move costs writing the rest anew instead of reading it.
    """
    worth = view.read_price * savings * policy.payback * view.responses
    return worth, view.write_price * (view.suffix - savings) - view.read_price * view.suffix


def _pays_back(policy: Policy, view: View, savings: float) -> bool:
    worth, price = payback(policy, view, savings)
    return view.cold or worth >= price


def _moves(lines: Lines, view: View, why: str = "pressure") -> list[tuple[float, Shed]]:
    """Moves of the smallest size or more, with what they save: the older material first, then all."""
    batch = lines.cold_batch if view.cold else lines.batch
    both = ((view.older, Shed(why, fullest=False)), (view.fullest, Shed(why, fullest=True)))
    return [(savings, move) for savings, move in both if view.may_shed and savings >= batch]
