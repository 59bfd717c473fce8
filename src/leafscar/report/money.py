"""The parts of the page about money: classes of content, tools, costliest outputs, both bills, breaks, protection."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from leafscar.replay.details import BillSide, CostlyOutput, Money
from leafscar.replay.result import PolicyResult, SessionResult
from leafscar.report.markup import paragraph, safe
from leafscar.report.numbers import count, dollars, inferred, known, percent, tokens
from leafscar.report.rows import is_priced
from leafscar.report.spending import (
    Part,
    by_kind,
    by_tool,
    fate_of,
    held_words,
    joined,
    price,
    shed_words,
)
from leafscar.report.tables import Cell, Head, bar, number, table, text

__all__ = ["breaks", "money_sections", "protected"]

_SHOWN = 15  # tools that get a row of their own
_CAUSES = ("shape", "cut", "expired", "model")


def money_sections(session: SessionResult) -> Iterable[str]:
    """Write where the money went, which outputs cost most, and both bills."""
    money = session.money
    if money is None or not money.shares:
        return
    priced = known(money.shares[0].cost)
    yield "<h3>Where the money goes</h3>"
    yield paragraph(
        "The session as it was, under the cache model. A token is priced by its place in each request: read from the "
        f"cache, written to it, or outside it. {shed_words(money).capitalize()}."
    )
    yield from _parts("Classes of content", "Content", by_kind(money), priced=priced)
    if tools := by_tool(money):
        yield "<h3>By tool</h3>"
        yield from _parts("Tools", "Tool", _folded(tools), priced=priced)
    yield from _outputs(money, priced=priced)
    yield from _bills(money, session, priced=is_priced(session))


def _parts(name: str, first: str, parts: Sequence[Part], *, priced: bool) -> Iterable[str]:
    heads = (
        Head(name=first),
        Head(name="Tokens", meaning="size, each message once", is_number=True),
        Head(name="Times sent", meaning="how often a token of it was sent, on average", is_number=True),
        Head(name="Input", meaning="input tokens over all requests", is_number=True),
        Head(name="Output", meaning="output tokens", is_number=True),
        Head(name="Cost" if priced else "Units", meaning="of its input and output", is_number=True),
        Head(name="Share", meaning="of the modelled bill", is_number=True),
        Head(name=""),
    )
    widest = max((part.share or 0.0 for part in parts), default=0.0)
    yield from table(name, heads, (_part(part, widest, priced=priced) for part in parts))


def _part(part: Part, widest: float, *, priced: bool) -> Sequence[Cell]:
    times = part.times
    return (
        text(part.name),
        number(inferred(tokens(part.tokens), when=True) if part.tokens else "\u2013"),
        number(f"{times:,.0f}" if known(times) and times >= 1 else "\u2013"),
        number(inferred(tokens(part.sent), when=True) if part.sent else "\u2013"),
        number(tokens(part.output) if part.output else "\u2013"),
        number(inferred(price(part.cost, part.units, priced=priced), when=True)),
        number(percent(part.share)),
        bar((part.share or 0.0) / widest if widest else None),
    )


def _folded(parts: Sequence[Part]) -> list[Part]:
    """The largest parts, and the rest as one."""
    rest = parts[_SHOWN:]
    more = [joined(count(len(rest), "more tool"), rest)] if rest else []
    return [*parts[:_SHOWN], *more]


def _outputs(money: Money, *, priced: bool) -> Iterable[str]:
    if not money.outputs:
        return
    yield "<h3>Costliest outputs</h3>"
    yield paragraph(
        f"{count(len(money.outputs), 'output')} of {money.output_count:,}, by what sending them again and again cost. "
        "leafscar recall takes the reference."
    )
    heads = (
        Head(name="Reference"),
        Head(name="Tool"),
        Head(name="File"),
        Head(name="Tokens", is_number=True),
        Head(name="Times sent", meaning="requests that held it", is_number=True),
        Head(name="Cost" if priced else "Units", is_number=True),
        Head(name="Gone at", meaning="first request that balanced would have sent without it", is_number=True),
        Head(name="Last used", meaning="last request whose response used it again", is_number=True),
        Head(name="Then", meaning="whether it was used after balanced would have taken it out"),
    )
    yield from table("Costliest outputs", heads, (_output(one, priced=priced) for one in money.outputs))


def _output(one: CostlyOutput, *, priced: bool) -> Sequence[Cell]:
    return (
        Cell(f"<code>{safe(one.reference)}</code>"),
        text(one.tool),
        Cell(safe(one.path or ""), "path"),
        number(inferred(tokens(one.tokens), when=True)),
        number(f"{one.requests:,}"),
        number(inferred(price(one.cost, one.units, priced=priced), when=True)),
        number("\u2013" if one.shed_at is None else f"{one.shed_at:,}"),
        number("\u2013" if one.last_used is None else f"{one.last_used:,}"),
        text(fate_of(one)),
    )


def _bills(money: Money, session: SessionResult, *, priced: bool) -> Iterable[str]:
    yield "<h3>Recorded and modelled bill</h3>"
    told = "an unknown share" if session.error is None else percent(session.error)
    yield paragraph(f"The same requests, as the provider reported them and as the cache model has them. Off by {told}.")
    heads = (
        Head(name="Bill"),
        *(Head(name=name, is_number=True) for name in ("Read", "Written", "Uncached", "Output")),
        Head(name="Cost" if priced else "Units", is_number=True),
    )
    sides = [("recorded", money.recorded, False), ("under the cache model", money.modelled, True)]
    rows = [(text(name), *_side(side, about=about, priced=priced)) for name, side, about in sides if side is not None]
    yield from table("Recorded and modelled bill", heads, rows, sortable=False)


def _side(side: BillSide, *, about: bool, priced: bool) -> Iterable[Cell]:
    for size in (side.read, side.written, side.uncached):
        yield number(inferred(tokens(size), when=about))
    yield number(tokens(side.output))
    yield number(inferred(dollars(side.cost) if priced else tokens(side.units), when=about))


def breaks(session: SessionResult) -> Iterable[str]:
    """Write the cache breaks of each policy by cause, with what was sent again."""
    causes = [cause for cause in _CAUSES if any(_broken(policy, cause) for policy in session.policies)]
    if not causes:
        return
    yield "<h3>Cache breaks by cause</h3>"
    yield paragraph("Requests that sent cached tokens again, and how many tokens that was.")
    heads = [Head(name="Policy")]
    for cause in causes:
        heads += [Head(name=cause.capitalize(), is_number=True), Head(name="tokens again", is_number=True)]
    rows = ((text(policy.policy), *_by_cause(policy, causes)) for policy in session.policies)
    yield from table("Cache breaks by cause", heads, rows)


def _broken(policy: PolicyResult, cause: str) -> list[float]:
    return [moment.missed for moment in policy.moments if moment.break_cause == cause]


def _by_cause(policy: PolicyResult, causes: Sequence[str]) -> Iterable[Cell]:
    for cause in causes:
        missed = _broken(policy, cause)
        yield number(f"{len(missed):,}")
        yield number(inferred(tokens(sum(missed)), when=not policy.recorded) if missed else "\u2013")


def protected(session: SessionResult) -> Iterable[str]:
    """Write what stays raw, and what may go sooner."""
    lines = held_words(session.held) if session.held is not None else []
    if lines:
        yield "<h3>Protected and superseded</h3>\n<ul>"
        yield from (f"<li>{safe(line)}</li>" for line in lines)
        yield "</ul>"
