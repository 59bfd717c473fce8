"""``leafscar replay FILE --explain N`` as lines to read (docs/replay.md)."""

from __future__ import annotations

from collections.abc import Iterable

from leafscar._words import counted
from leafscar.replay.explain import Explanation, Rest

__all__ = ["explain_lines"]

_SHOWN = 12


def explain_lines(told: Explanation) -> Iterable[str]:
    """The explanation, the decision first."""
    yield f"request {told.request:,} of {told.requests:,} under {told.policy}: {told.decision}"
    yield ""
    yield _row("session", f"{told.path or 'in memory'}, answered at {told.reference}")
    yield _row("estimate", _estimate(told.estimate, told.rests_on))
    yield _row("window", f"{told.window:,} tokens" if told.window else "unknown")
    yield _row("lines", ", ".join(f"{name} {at:,.0f}" for name, at in told.lines.items()) or "none")
    yield _row("cache", _cache(told))
    taken = f", moves have taken out ~{told.already:,.0f} tokens" if told.already else ""
    yield _row("level 1", ("engaged since the newest cut" if told.engaged else "not engaged") + taken)
    yield from _outputs(told)
    yield from _several("told", [f"{event.kind}: {event.reason}" for event in told.events])
    yield from _several("not done", told.rejected)
    yield from _sent(told)
    yield _row("moves", f"before: {_at(told.move_before)}; after: {_at(told.move_after)}")
    yield _row("cuts", f"before: {_at(told.cut_before)}; after: {_at(told.cut_after)}")


def _row(name: str, text: str) -> str:
    return f"{name:<11}{text}"


def _several(name: str, texts: Iterable[str]) -> Iterable[str]:
    for number, text in enumerate(texts):
        yield _row("" if number else name, text)


def _estimate(tokens: float, rest: Rest | None) -> str:
    if rest is None:
        return f"~{tokens:,.0f} tokens, from sizes alone"
    more = f"~{tokens - rest.tokens:,.0f} for {counted(rest.messages_after, 'message')} after it"
    after = more if rest.messages_after else "nothing after it"
    return f"{tokens:,.0f} tokens: {rest.tokens:,.0f} counted at {rest.reference}, {after}"


def _cache(told: Explanation) -> str:
    state = "cold" if told.cold else "warm, as far as is known"
    idle = "the time since the request before is unknown" if told.idle is None else f"{told.idle:,.0f} s idle"
    return f"{state}: {idle}, it lives {told.ttl:,.0f} s"


def _outputs(told: Explanation) -> Iterable[str]:
    if not told.outputs:
        yield _row("sheddable", "nothing")
        return
    older = f"~{told.older:,.0f} of them older material"
    yield _row("sheddable", f"{counted(len(told.outputs), 'output')}, ~{told.fullest:,.0f} tokens; {older}")
    shown = told.outputs[:_SHOWN]
    wide = max(len(output.tool) for output in shown) + 1
    far = max(7, *(len(output.reference) for output in shown)) + 1
    for output in shown:
        age = "older" if output.older else "current turn"
        yield _row("", f"{output.reference:<{far}}{output.tool:<{wide}}{output.saved:>8,.0f} tokens  {age}")
    if len(told.outputs) > _SHOWN:
        yield _row("", f"and {len(told.outputs) - _SHOWN:,} smaller ones (--json lists all)")


def _sent(told: Explanation) -> Iterable[str]:
    sent = told.sent
    parts = f"{sent.read or 0:,.0f} read, {sent.written or 0:,.0f} written, {sent.uncached or 0:,.0f} uncached"
    yield _row("sent", f"~{sent.context or 0:,.0f} tokens: {parts}")
    if sent.break_cause:
        yield _row("", f"cache break ({sent.break_cause}): {sent.missed:,.0f} tokens were sent again")


def _at(request: int | None) -> str:
    return "none" if request is None else f"request {request:,}"
