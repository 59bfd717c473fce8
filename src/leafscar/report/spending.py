"""Where the money of a session went, in words and cells for both views (docs/report.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from leafscar.replay.details import CostlyOutput, Held, Kind, Money, Needed, Share
from leafscar.report.numbers import count, dollars, known, percent, tokens

__all__ = [
    "KINDS",
    "Part",
    "by_kind",
    "by_tool",
    "costliest_words",
    "fate_of",
    "held_words",
    "joined",
    "needed_cell",
    "price",
    "shed_words",
    "spent_words",
]

KINDS: dict[Kind, str] = {
    "results": "outputs of tools",
    "arguments": "calls of tools",
    "thinking": "thinking",
    "text": "the model's words",
    "user": "the user's words",
    "injected": "injected by the host",
    "images": "images",
    "overhead": "system prompt and tools",
    "summaries": "summaries in the context",
    "summariser": "writing summaries",
    "unrecorded": "not in the recording",
}
"""What a class of content is called."""

_NAMED = 3  # tools and outputs that a line names
_LEAST = 0.005  # share below which a line does not name a class


class Part(Struct, frozen=True, kw_only=True):
    """Several shares as one."""

    name: str
    messages: int
    tokens: float
    sent: float
    output: float
    cost: float | None
    units: float
    share: float | None

    @property
    def times(self) -> float | None:
        """How often a token of it was sent, on average."""
        return self.sent / self.tokens if self.tokens else None


def by_kind(money: Money) -> list[Part]:
    """Shares by class of content, the largest first."""
    groups = ((name, [one for one in money.shares if one.kind == kind]) for kind, name in KINDS.items())
    return _ranked(joined(name, group) for name, group in groups if group)


def by_tool(money: Money) -> list[Part]:
    """Outputs and calls by tool, the largest first."""
    tools = dict.fromkeys(share.tool for share in money.shares if share.tool is not None)
    return _ranked(joined(tool, [one for one in money.shares if one.tool == tool]) for tool in tools)


def _ranked(parts: Iterable[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: (-(part.share or 0.0), -part.units))


def joined(name: str, shares: Sequence[Share | Part]) -> Part:
    """Add shares up under one name."""
    costs = [share.cost for share in shares]
    parts = [share.share for share in shares]
    return Part(
        name=name,
        messages=sum(share.messages for share in shares),
        tokens=sum(share.tokens for share in shares),
        sent=sum(share.sent for share in shares),
        output=sum(share.output for share in shares),
        cost=None if None in costs else sum(cost or 0 for cost in costs),
        units=sum(share.units for share in shares),
        share=None if None in parts else sum(part or 0 for part in parts),
    )


def price(cost: float | None, units: float | None, *, priced: bool) -> str:
    """Print dollars, or units where the session has no price."""
    return dollars(cost) if priced else tokens(units)


def spent_words(money: Money) -> str:
    """The classes in one line, each with its share of the bill."""
    shown = [part for part in by_kind(money) if known(part.share) and part.share >= _LEAST]
    tools = [f"{part.name} {percent(part.share)}" for part in by_tool(money)[:_NAMED]]
    text = ", ".join(f"{part.name} {percent(part.share)}" for part in shown)
    return f"{text}; by tool: {', '.join(tools)}" if tools else text


def shed_words(money: Money) -> str:
    """What share of the input could have been shed."""
    return (
        f"outputs that could have been shed made up {percent(money.sheddable)} of all input tokens, "
        f"{percent(money.sheddable_at_peak)} of the largest request"
    )


def costliest_words(money: Money, *, priced: bool) -> str:
    """The costliest outputs in one line."""
    shown = [
        f"{one.reference} {one.tool} ({tokens(one.tokens)} tokens, sent {count(one.requests, 'time')}, "
        f"{price(one.cost, one.units, priced=priced)}{'' if priced else ' units'})"
        for one in money.outputs[:_NAMED]
    ]
    return f"costliest outputs: {', '.join(shown)}"


def fate_of(output: CostlyOutput) -> str:
    """Whether an output would have been missed, in a word or two."""
    if output.shed_at is None:
        return "stays"
    return "needed later" if output.last_used is not None and output.last_used >= output.shed_at else "not needed"


def needed_cell(needed: Needed | None) -> str:
    """How many of the outputs that went were needed later: ``5 of 91``, a dash where none went."""
    if needed is None:
        return "unknown"
    return f"{needed.needed:,} of {needed.outputs:,}" if needed.outputs else "\u2013"


def held_words(held: Held) -> list[str]:
    """What is protected, one line for each kind that there is."""
    lines = [
        _held("pin", held.pins, "carried word for word through every cut"),
        _held("output", held.never, "kept raw by a never-prune list"),
        _held("superseded read", held.superseded, "may go from 100 tokens on, and count as older material"),
        _held("thinking part", held.thinking, _thinking(held)),
    ]
    return [line for line in lines if line]


def _held(noun: str, pair: tuple[int, float], words: str) -> str:
    number, size = pair
    return f"{count(number, noun)} (~{tokens(size)} tokens): {words}" if number else ""


def _thinking(held: Held) -> str:
    if not held.binds:
        return "not bound, so moves leave it valid"
    ways = {"off": "nothing is shed", "strip": "moves take later thinking out", "drop_block": "the provider drops it"}
    return f"bound to what stands before it; leafscar.boundThinking is {held.way}: {ways.get(held.way, held.way)}"
