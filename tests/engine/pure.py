"""The ledger's numbers as plain sums over a list: the specification that the running sums must equal.

Slow on purpose: every number is computed from its definition in docs/policies.md. Tests compare; nothing else calls it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from msgspec import Struct

from leafscar.compaction import Item, settle
from leafscar.engine.ledger import ShedRules, is_partial
from leafscar.engine.sizers import Sizer
from leafscar.model import Assistant, ToolCall, ToolResult, User
from leafscar.model.messages import tool_calls
from leafscar.pruning import Marker, candidate_for, marker_for, replaced
from leafscar.pruning.tools import path_of, tool_of

__all__ = ["Measures", "measure"]


class Measures(Struct, frozen=True, kw_only=True):
    """What a ledger holds, in raw tokens."""

    raw: float
    older: float
    fullest: float
    already: float
    suffix: float
    ripe: tuple[int, ...]


class _Shown(Struct, frozen=True, kw_only=True):
    position: int
    tokens: int
    saving: float
    superseded: bool


def measure(items: Sequence[Item], rules: ShedRules, sizer: Sizer, shed: Collection[int] = ()) -> Measures:
    """Measure a context in which the outputs at the positions ``shed`` have been replaced by markers."""
    sizes = [sizer(item.entry, item.message) if _is_sent(items, position) else 0 for position, item in enumerate(items)]
    outputs = [shown for position in range(len(items)) if (shown := _shown(items, position, rules, sizer)) is not None]
    last_user = max((n for n, item in enumerate(items) if isinstance(item.message, User)), default=-1)
    ripe = [o for o in outputs if o.position not in shed and _is_ripe(items, sizes, o, rules)]
    gone = [o for o in outputs if o.position in shed]
    older = [o for o in ripe if o.position < last_user or o.superseded]
    return Measures(
        raw=sum(sizes),
        older=sum(o.saving for o in older),
        fullest=sum(o.saving for o in ripe),
        already=sum(o.saving for o in gone),
        suffix=_suffix(sizes, ripe[0].position, gone) if ripe else 0.0,
        ripe=tuple(o.position for o in ripe),
    )


def _is_sent(items: Sequence[Item], position: int) -> bool:
    """Whether a message is among those that a provider gets."""
    message = items[position].message
    if isinstance(message, Assistant):
        return message.stop_reason != "error"
    if not isinstance(message, ToolResult):
        return True
    return any(sent is message for sent in settle([item.message for item in items]))


def _suffix(sizes: Sequence[float], start: int, gone: Sequence[_Shown]) -> float:
    return sum(sizes[start:]) - sum(o.saving for o in gone if o.position >= start)


def _is_ripe(items: Sequence[Item], sizes: Sequence[float], output: _Shown, rules: ShedRules) -> bool:
    floor = rules.lowest_floor if output.superseded else rules.min_tokens
    later = items[output.position + 1 :]
    answered = not rules.keep_unanswered or any(_is_response(item) for item in later)
    return output.tokens > floor and answered and sum(sizes[output.position + 1 :]) >= rules.protect


def _is_response(item: Item) -> bool:
    return isinstance(item.message, Assistant) and not item.message.failed


def _shown(items: Sequence[Item], position: int, rules: ShedRules, sizer: Sizer) -> _Shown | None:
    """One output with the marker that would stand for it; None when it can never be shed."""
    item = items[position]
    if not _is_sent(items, position):
        return None
    call = _call_of(items, position)
    found = candidate_for(
        item.message,
        call,
        position=position,
        entry_id=item.entry.id,
        min_tokens=rules.lowest_floor,
        rules=rules.marks,
        never=rules.never,
    )
    if found is None:
        return None
    reference = rules.reference_for(item.entry)
    marker = marker_for(found, item.message, call, reference, rules=rules.marks, resolve=rules.resolve)
    saving = 0.0 if marker is None else _saving(item, marker, sizer)
    if saving <= 0:
        return None
    stale = found.kind == "read" and rules.superseded_floor is not None and _is_superseded(items, position, rules)
    return _Shown(position=position, tokens=found.tokens, saving=saving, superseded=stale)


def _saving(item: Item, marker: Marker, sizer: Sizer) -> float:
    after = replaced(item.message, marker.text)
    return sizer(item.entry, item.message) - sizer(item.entry, after)  # pyright: ignore[reportArgumentType]


def _call_of(items: Sequence[Item], position: int) -> ToolCall | None:
    """The newest earlier call that the result at ``position`` answers."""
    message = items[position].message
    if not isinstance(message, ToolResult):
        return None
    earlier = [call for item in items[:position] for call in tool_calls(item.message)]
    return next((call for call in reversed(earlier) if call.id == message.tool_call_id), None)


def _is_superseded(items: Sequence[Item], position: int, rules: ShedRules) -> bool:
    """Whether a later whole read, or an edit, of the same file made this read stale."""
    own = _place(items, position, rules)
    return any(
        isinstance(items[later].message, ToolResult)
        and _is_sent(items, later)
        and not getattr(items[later].message, "is_error", False)
        and _place(items, later, rules)[1:] == (own[1], True)
        for later in range(position + 1, len(items))
    )


def _place(items: Sequence[Item], position: int, rules: ShedRules) -> tuple[str, str | None, bool]:
    """Kind of tool, path, and whether the result makes earlier reads of that path stale."""
    message, call = items[position].message, _call_of(items, position)
    tool = tool_of(message.tool_name, rules.marks.tools) if isinstance(message, ToolResult) else tool_of("", {})
    path = path_of(call, tool)
    renews = path is not None and (tool.kind == "edit" or (tool.kind == "read" and not is_partial(call)))
    return tool.kind, path, renews
