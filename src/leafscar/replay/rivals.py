"""Rules of other tools that drop old outputs or sum up, as data and pure functions (docs/policies.md, ADR 0080).

A rule sees the tool results of the context in order and says which of them it clears now. It is asked before every
request and carries a :class:`Progress`, so that a session costs one look at each result. What a rule cleared stays
cleared until a cut: every rule here, the ones that look at the whole history each time included, clears a growing set
while the history only grows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, TypeAlias

from msgspec import Meta, Struct, structs

__all__ = [
    "FRESH", "ClearToolUses", "LangChainClear", "MaskLastN", "OpencodePrune", "Progress", "Request", "Result", "Rule",
    "SummarizeAt", "advance", "line_of", "trigger_of",
]  # fmt: skip


class MaskLastN(Struct, frozen=True, kw_only=True):
    """SWE-agent's ``last_n_observations``: all but the newest outputs are elided."""

    keep: Annotated[int, Meta(ge=1, le=1_000_000_000)] = 10
    """Newest outputs that stay."""
    polling: int = 1
    """The boundary moves once in so many outputs, so that ``keep`` to ``keep + polling`` of them stay."""


class ClearToolUses(Struct, frozen=True, kw_only=True):
    """Anthropic's ``clear_tool_uses_20250919``, which its servers apply to a request before the model sees it."""

    trigger: int = 100_000
    """Input tokens, system prompt and tools included, above which outputs are cleared."""
    trigger_tool_uses: int | None = None
    """Tool uses above which they are, instead of ``trigger``."""
    keep: int = 3
    """Newest tool uses that stay."""
    clear_at_least: int = 0
    """Tokens that must go; nothing is cleared while less could."""
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    """Whether the arguments of a call go with its output."""


class LangChainClear(Struct, frozen=True, kw_only=True):
    """LangChain's ``ContextEditingMiddleware`` with one ``ClearToolUsesEdit``."""

    trigger: int = 100_000
    """Tokens of the messages, by LangChain's approximate counter, above which outputs are cleared."""
    keep: int = 3
    """Newest outputs that stay."""
    clear_at_least: int = 0
    """Tokens after which it stops clearing, oldest first; 0 clears all but the newest."""
    exclude_tools: tuple[str, ...] = ()
    clear_tool_inputs: bool = False
    """Whether the arguments of a call go with its output."""


class OpencodePrune(Struct, frozen=True, kw_only=True):
    """opencode's ``compaction.prune``, which runs when a turn has ended."""

    protect: int = 40_000
    """Tokens of output before the protected turns that stay."""
    minimum: int = 20_000
    """Tokens of output that must be more than this beyond ``protect``, or nothing goes."""
    turns: int = 2
    """Newest turns, the one that has ended included, whose outputs stay and do not count."""
    exclude_tools: tuple[str, ...] = ("skill",)


class SummarizeAt(Struct, frozen=True, kw_only=True):
    """A summary above a fraction of the window, as LangChain's deepagents are set up."""

    fraction: float = 0.85
    """Share of the window above which the past is summed up, never above the threshold."""
    keep_fraction: float = 0.10
    """Share of the window that stays raw, at most what every cut of ours keeps."""


Rule: TypeAlias = MaskLastN | ClearToolUses | LangChainClear | OpencodePrune | SummarizeAt
"""One rule with its parameters."""


class Result(Struct, frozen=True, gc=False, kw_only=True):
    """One tool result, as rules see it."""

    tool: str
    tokens: float = 0
    """What the rule counts of it: tokens that clearing it frees (opencode: tokens of its text)."""
    is_error: bool = False
    is_owned: bool = True
    """Whether the nearest response before it made its call."""


class Request(Struct, frozen=True, kw_only=True):
    """What a rule sees of the next request."""

    results: Sequence[Result]
    tokens: float = 0
    """Size with nothing cleared, by the rule's own counter."""
    prompts: Sequence[int] = ()
    """For each prompt of a user, how many results stand before it."""
    ended: int = 0
    """Prompts whose turn has ended."""


class Progress(Struct, frozen=True, kw_only=True):
    """How far a rule has come; counts are of leading results."""

    cleared: int = 0
    """Results about which the rule has decided for good."""
    seen: int = 0
    """Results that have been counted."""
    edge: int = 0
    """Results that stand before what is protected (opencode)."""
    pending: float = 0
    """Tokens that would go, or went."""
    protected: float = 0
    """Tokens between ``edge`` and ``seen`` (opencode)."""
    ended: int = 0
    """Turns that had ended when the rule last ran (opencode)."""
    done: bool = False
    """Whether enough has gone (LangChain)."""


FRESH = Progress()
"""Progress of a rule that has seen nothing."""

_Moves: TypeAlias = tuple[Sequence[int], Progress]


def advance(rule: Rule, request: Request, progress: Progress) -> _Moves:
    """Give the indexes of the results that the rule clears now, rising, and its progress after it."""
    match rule:
        case MaskLastN():
            return _mask_last_n(rule, request, progress)
        case ClearToolUses():
            return _clear_tool_uses(rule, request, progress)
        case LangChainClear():
            return _langchain_clear(rule, request, progress)
        case OpencodePrune():
            return _opencode_prune(rule, request, progress)
        case _:
            return (), progress


def line_of(rule: Rule, window: float, threshold: float) -> float:
    """Tokens above which the past is summed up: the threshold, or the rule's own line below it."""
    return min(round(rule.fraction * window), threshold) if isinstance(rule, SummarizeAt) else threshold


def trigger_of(rule: Rule) -> int | None:
    """Tokens that a request must exceed before the rule clears anything; None where it waits for no size."""
    match rule:
        case ClearToolUses():
            return rule.trigger if rule.trigger_tool_uses is None else None
        case LangChainClear():
            return rule.trigger
        case _:
            return None


def _mask_last_n(rule: MaskLastN, request: Request, progress: Progress) -> _Moves:
    # its list of observations begins with the task, which it never elides and which is no result here
    observations = 1 + len(request.results)
    end = max(progress.cleared, observations // rule.polling * rule.polling - rule.keep - 1)
    return range(progress.cleared, end), structs.replace(progress, cleared=end)


def _clear_tool_uses(rule: ClearToolUses, request: Request, progress: Progress) -> _Moves:
    results = request.results
    uses = rule.trigger_tool_uses
    waits = request.tokens <= rule.trigger if uses is None else len(results) <= uses
    if waits:
        return (), progress
    end = max(progress.seen, len(results) - rule.keep)
    pending = progress.pending + sum(results[at].tokens for at in _allowed(rule, results, progress.seen, end))
    if pending < rule.clear_at_least:
        return (), structs.replace(progress, seen=end, pending=pending)
    cleared = _allowed(rule, results, progress.cleared, end)
    return cleared, structs.replace(progress, seen=end, pending=pending, cleared=end)


def _allowed(rule: ClearToolUses, results: Sequence[Result], start: int, end: int) -> list[int]:
    return [at for at in range(start, end) if results[at].tool not in rule.exclude_tools]


def _langchain_clear(rule: LangChainClear, request: Request, progress: Progress) -> _Moves:
    if progress.done or request.tokens <= rule.trigger:
        return (), progress
    cleared: list[int] = []
    pending, end = progress.pending, max(progress.seen, len(request.results) - rule.keep)
    for at in range(progress.seen, end):
        result = request.results[at]
        if not result.is_owned or result.tool in rule.exclude_tools:
            continue
        cleared.append(at)
        pending += result.tokens
        if pending >= rule.clear_at_least > 0:
            return cleared, structs.replace(progress, done=True, pending=pending)
    return cleared, structs.replace(progress, seen=end, pending=pending)


def _opencode_prune(rule: OpencodePrune, request: Request, progress: Progress) -> _Moves:
    """Walks no list back: two sums give what a walk from the newest result to the last cleared one would."""
    if request.ended <= progress.ended:
        return (), progress
    results, own = request.results, progress
    end = request.prompts[request.ended - rule.turns] if request.ended >= rule.turns else 0
    edge, pending = own.edge, own.pending
    protected = own.protected + sum(_prunable(rule, results[at]) for at in range(own.seen, end))
    while edge < end and protected > rule.protect:
        size = _prunable(rule, results[edge])
        edge, pending, protected = edge + 1, pending + size, protected - size
    moved = structs.replace(
        own, seen=max(own.seen, end), edge=edge, pending=pending, protected=protected, ended=request.ended
    )
    if pending <= rule.minimum:
        return (), moved
    cleared = [at for at in range(own.cleared, edge) if _may_prune(rule, results[at])]
    return cleared, structs.replace(moved, cleared=edge, pending=0.0)


def _prunable(rule: OpencodePrune, result: Result) -> float:
    return result.tokens if _may_prune(rule, result) else 0.0


def _may_prune(rule: OpencodePrune, result: Result) -> bool:
    return not result.is_error and result.tool not in rule.exclude_tools
