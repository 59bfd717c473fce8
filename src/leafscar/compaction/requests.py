"""Requests to a summariser and its answers: what is asked, and which answers are taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from leafscar.compaction.fit import Measure, careful_tokens, clip_to, fit_blocks
from leafscar.compaction.prompts import OWN, Texts
from leafscar.compaction.rules import Rules
from leafscar.compaction.serialize import blocks
from leafscar.compaction.slots import Item
from leafscar.errors import SummaryFailed
from leafscar.model.shapes import as_mapping, as_number

__all__ = [
    "Kind",
    "Refused",
    "SummaryOptions",
    "SummaryRequest",
    "SummaryResponse",
    "build_request",
    "combine_usage",
    "reasoning_level",
    "refusal",
]

Kind: TypeAlias = Literal["history", "prefix", "branch"]
"""What a summary is about."""

_LABELS: Mapping[Kind, str] = {
    "history": "Summarization",
    "prefix": "Turn prefix summarization",
    "branch": "Branch summarization",
}
_PARTS = ("input", "output", "cacheRead", "cacheWrite")
_SHORTER = 0.5
"""Share of the conversation that a second try reads."""
_SHORTEST = 500
"""Tokens that a second try may always read."""


class SummaryOptions(Struct, frozen=True, kw_only=True):
    """What the caller knows about the summariser and wants from it."""

    max_output: float = 0
    """Output tokens that the model can write; 0 is no known limit."""
    window: float = 0
    """Tokens that the summariser's window holds; 0 is unknown, and input is then not bounded."""
    reasoning: str | None = None
    """Thinking level to ask for; None asks for none (:func:`reasoning_level`)."""
    instructions: str | None = None
    """What the user wants the summary to look at."""
    replace_instructions: bool = False
    """Whether ``instructions`` stand alone (branch summaries only)."""
    texts: Texts = OWN
    measure: Measure = careful_tokens
    """How the input is measured against ``window``."""


class SummaryRequest(Struct, frozen=True, kw_only=True):
    """One standalone request: a system prompt and one user message, no tools, no cache writes."""

    kind: Kind
    system: str
    prompt: str
    max_tokens: int
    """Output tokens to ask for."""
    reasoning: str | None
    left_out: int = 0
    """Blocks of the conversation that did not fit."""
    second_try: bool = False
    """Whether the first response was refused and this asks again on a shorter input."""


class SummaryResponse(Struct, frozen=True, kw_only=True):
    """What came back after the caller's own retries."""

    texts: tuple[str, ...] = ()
    """Its text parts; thinking is left out."""
    stop_reason: str = "stop"
    error_message: str | None = None
    calls_tool: bool = False
    usage: Mapping[str, Any] | None = None
    """Usage in pi's shape as the provider reported it."""

    @property
    def text(self) -> str:
        """The text parts as one text."""
        return "\n".join(self.texts)


class Refused(Struct, frozen=True, kw_only=True):
    """A response that was not taken and was asked for again."""

    kind: Kind
    code: str
    """``truncated``, ``empty`` or ``tool-call``."""
    usage: Mapping[str, Any] | None


def reasoning_level(level: str | None, *, reasons: bool) -> str | None:
    """Thinking level to pass on: none unless the model reasons and the level is set and not ``off``."""
    return level if reasons and level and level != "off" else None


def build_request(
    kind: Kind,
    items: Sequence[Item],
    max_tokens: int,
    options: SummaryOptions,
    rules: Rules,
    *,
    previous: str | None = None,
    second_try: bool = False,
) -> SummaryRequest:
    """Lay out one request; under ``bounded_input`` the conversation is held to the window."""
    bounded = rules.bounded_input and options.window > 0
    if bounded:
        max_tokens = min(max_tokens, int(options.window // 2))
        previous = _bounded_previous(kind, previous, max_tokens, options, rules)
    head, tail = _frame(kind, options, rules, previous)
    parts = blocks([item.message for item in items], texts=options.texts, rules=rules)
    room = _room(head + tail, max_tokens, options) if bounded else math.inf
    if second_try:
        room = min(room, max(_SHORTEST, options.measure("\n\n".join(parts)) * _SHORTER))
    fitted = fit_blocks(parts, room, options.measure)
    return SummaryRequest(
        kind=kind,
        system=options.texts.system,
        prompt=f"{head}{fitted.text}{tail}",
        max_tokens=max_tokens,
        reasoning=options.reasoning if kind != "branch" else None,
        left_out=fitted.left_out,
        second_try=second_try,
    )


def refusal(kind: Kind, response: SummaryResponse, rules: Rules) -> SummaryFailed | None:
    """Why a response cannot stand as a summary; None when it can."""
    label = _LABELS[kind]
    if response.stop_reason == "aborted" and (rules.aborted_fails or kind == "branch"):
        words = rules.branch_aborted if kind == "branch" else f"{label} aborted"
        return SummaryFailed(response.error_message or words, code="aborted")
    if response.stop_reason == "error":
        said = response.error_message or _unknown(kind, rules)
        words = rules.branch_words if kind == "branch" else f"{label} failed: {{}}"
        return SummaryFailed(words.replace("{}", said, 1), code="failed")
    if response.stop_reason == "length" and rules.refuse_truncated:
        return SummaryFailed(
            f"{label} failed: generation hit the token cap and the summary is incomplete", code="truncated"
        )
    if response.calls_tool and rules.refuse_tool_calls:
        return SummaryFailed(f"{label} attempted to call a tool", code="tool-call")
    if rules.refuse_empty and not response.text.strip():
        return SummaryFailed(f"{label} failed: the summary is empty", code="empty")
    return None


def combine_usage(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Sum two usages field by field, cost included; a part that one of them lacks stays unknown (None)."""
    splits = {name: 0 for name in ("cacheWrite1h", "reasoning") if name in first or name in second}
    total = _sums({**splits, **first}, {**splits, **second}, (*_PARTS, *splits, "totalTokens"))
    cost, other = (as_mapping(usage.get("cost")) or {} for usage in (first, second))
    return {**total, "cost": _sums(cost, other, (*_PARTS, "total"))}


def _sums(first: Mapping[str, Any], second: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Sum by name; null counts as 0, what is absent or no number leaves the sum unknown."""
    return {name: _sum(_count(first, name), _count(second, name)) for name in names}


def _count(usage: Mapping[str, Any], name: str) -> float | None:
    return 0 if name in usage and usage[name] is None else as_number(usage.get(name))


def _sum(first: float | None, second: float | None) -> float | None:
    return None if first is None or second is None else first + second


def _unknown(kind: Kind, rules: Rules) -> str:
    return "Summarization failed" if kind == "branch" and rules.branch_words == "{}" else "Unknown error"


def _frame(kind: Kind, options: SummaryOptions, rules: Rules, previous: str | None) -> tuple[str, str]:
    """What stands before and after the conversation."""
    texts = options.texts
    if kind == "prefix" and rules.prefix_headings:
        return "# Conversation\n", f"\n\n# Instructions\n{texts.prefix}"
    said = f"<previous-summary>\n{previous}\n</previous-summary>\n\n" if previous else ""
    return "<conversation>\n", f"\n</conversation>\n\n{said}{_instructions(kind, options, previous)}"


def _instructions(kind: Kind, options: SummaryOptions, previous: str | None) -> str:
    if kind == "prefix":
        return options.texts.prefix
    if kind == "branch":
        if options.replace_instructions and options.instructions:
            return options.instructions
        base = options.texts.branch
    else:
        base = options.texts.update if previous else options.texts.history
    return f"{base}\n\nAdditional focus: {options.instructions}" if options.instructions else base


def _room(frame: str, max_tokens: int, options: SummaryOptions) -> float:
    """Tokens that the conversation may take."""
    return max(0, options.window - max_tokens - options.measure(options.texts.system) - options.measure(frame))


def _bounded_previous(
    kind: Kind, previous: str | None, max_tokens: int, options: SummaryOptions, rules: Rules
) -> str | None:
    """A previous summary takes at most half of the room, however long a hook made it."""
    if not previous:
        return previous
    room = _room("".join(_frame(kind, options, rules, " ")), max_tokens, options)
    return clip_to(previous, room / 2, options.measure)
