"""What a session holds that control must not touch, or may touch sooner (docs/pruning.md, docs/policies.md)."""

from __future__ import annotations

from collections.abc import Iterable

from leafscar.compaction import Item, pins_of
from leafscar.compaction.rules import DEFAULT
from leafscar.compaction.slots import items_of, make_slot
from leafscar.engine import POLICIES
from leafscar.engine.ledger import Ledger, ShedRules
from leafscar.model import Assistant, Thinking, ToolCall, ToolResult
from leafscar.model.jsjson import utf16_length
from leafscar.model.messages import parts_of, tool_calls
from leafscar.pruning import candidate_for
from leafscar.replay.details import Held
from leafscar.replay.simulate import Setup

__all__ = ["held_of"]


def held_of(setup: Setup, default: str) -> Held:
    """Count what is protected in the whole session under the policy ``default``, as if nothing was ever cut."""
    path = [entry for entry in setup.recording.path if entry.type != "compaction"]
    items = items_of(make_slot(entry, DEFAULT) for entry in path)
    pins = pins_of(setup.recording.path, setup.cut.pins)
    stated = setup.shed.min_result_tokens
    floor = POLICIES[default].min_result_tokens if stated is None else stated
    return Held(
        pins=(len(pins), setup.sizes.k * sum(map(utf16_length, pins)) / 4),
        never=_counted(_never(setup, items, floor)),
        superseded=_counted(_superseded(setup, items, floor)),
        thinking=_counted(_thinking(setup, items)),
        binds=setup.facts.bound_thinking,
        way=setup.facts.thinking_way,
    )


def _counted(sizes: Iterable[float]) -> tuple[int, float]:
    every = list(sizes)
    return len(every), sum(every)


def _never(setup: Setup, items: Iterable[Item], floor: int) -> Iterable[float]:
    """Sizes of the outputs that only a never-prune list keeps raw."""
    calls: dict[str, ToolCall] = {}
    for item in items:
        calls |= {call.id: call for call in tool_calls(item.message)}
        call = calls.get(item.message.tool_call_id) if isinstance(item.message, ToolResult) else None
        found = candidate_for(item.message, call, entry_id=item.entry.id, min_tokens=floor)
        if found is not None and setup.shed.never.keeps(found):
            yield setup.sizes(item.entry, item.message)


def _superseded(setup: Setup, items: Iterable[Item], floor: int) -> Iterable[float]:
    ledger = Ledger(
        ShedRules(reference_for=lambda entry: entry.id, min_tokens=floor, never=setup.shed.never), setup.sizes
    )
    ledger.extend(items)
    for position, output in ledger.outputs.items():
        if output.superseded:
            yield ledger.size(position)


def _thinking(setup: Setup, items: Iterable[Item]) -> Iterable[float]:
    for item in items:
        parts = parts_of(item.message.content) if isinstance(item.message, Assistant) else ()
        k = setup.sizes.factors.get(item.entry.id, setup.sizes.k)
        yield from (k * utf16_length(part.thinking) / 4 for part in parts if isinstance(part, Thinking))
