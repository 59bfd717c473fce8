"""The numbers of ``leafscar context``: once as JSON, once as lines to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar._words import counted
from leafscar.cli.control import Control
from leafscar.compaction import pins_of
from leafscar.engine.decide import decide
from leafscar.model import Assistant, Message, ToolResult
from leafscar.replay.rows import lines_of

__all__ = ["context_data", "context_lines"]

_SHOWN = 12
_MARKER = 70


def context_data(control: Control) -> dict[str, Any]:
    """Everything that the command shows, JSON-shaped; null is unknown."""
    controller, session = control.controller, control.session
    view, lines, anchor = controller.view(), controller.lines, controller.anchor
    decision = decide(controller.policy, lines, view)
    entries = [item.entry for item in controller.items]
    return {
        "file": str(session.path),
        "leaf": control.path[-1].id if control.path else None,
        "messages": len(controller.items),
        "estimate": {
            "tokens": round(view.estimate),
            "anchor": None
            if anchor is None
            else {
                "entry": entries[anchor.position].id,
                "reference": session.reference_for(entries[anchor.position]),
                "tokens": round(anchor.tokens),
                "messagesAfter": len(entries) - anchor.position - 1,
            },
        },
        "window": {"tokens": lines.window or None, "source": control.window_source},
        "lines": None if lines.off else lines_of(controller.facts, controller.policy),
        "policy": controller.policy.name,
        "engaged": controller.engaged,
        "decision": {"action": type(decision).__name__.lower(), "reason": decision.reason},
        "savings": {"older": round(view.older), "fullest": round(view.fullest)},
        "sheddable": list(_sheddable(control, view.fullest)),
        "shed": [session.reference_for(entries[position]) for position in controller.ledger.shed],
        "lastDecisions": None,
        "pins": list(pins_of(control.path, control.settings.leafscar.pins)),
        "unknown": list(_unknown(control)),
        "problems": [f"line {problem.line}: {problem.message}" for problem in session.problems],
    }


def _sheddable(control: Control, fullest: float) -> Iterable[dict[str, Any]]:
    ledger, session = control.controller.ledger, control.session
    chosen = control.controller.sheddable()
    raw = sum(ledger.outputs[position].saving for position in chosen)
    for position in chosen:
        item, output = ledger.items[position], ledger.outputs[position]
        yield {
            "reference": session.reference_for(item.entry),
            "entry": item.entry.id,
            "tool": _tool(item.message),
            "tokens": output.tokens,
            "saved": round(output.saving * fullest / raw),
            "currentTurn": position > ledger.last_user,
            "marker": output.marker.text,
        }


def _tool(message: Message) -> str:
    if isinstance(message, Assistant):
        return "arguments"
    return message.tool_name if isinstance(message, ToolResult) else "bash"


def _unknown(control: Control) -> Iterable[str]:
    controller = control.controller
    if controller.lines.off:
        yield f"control is off: {controller.lines.off}"
    if controller.anchor is None:
        yield "no usable reading: the estimate is ours alone, system prompt and tools are not in it"
    if not control.controlled:
        yield "earlier decisions: this session was not run under leafscar"
    yield "whether the provider's cache is still warm"


def context_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """The same as lines of text."""
    yield f"next request of {data['file']} at {data['leaf']}: {counted(data['messages'], 'message')}"
    yield _row("estimate", _estimate(data["estimate"]))
    window = data["window"]
    size = "unknown" if window["tokens"] is None else f"{window['tokens']:,} tokens"
    yield _row("window", f"{size}: {window['source']}")
    if data["lines"]:
        yield _row("lines", ", ".join(f"{name} {at:,}" for name, at in data["lines"].items()))
    yield _row("policy", data["policy"])
    decision = data["decision"]
    yield _row("level 1", "engaged since the newest cut" if data["engaged"] else "not engaged")
    yield _row("next", f"{_ACTIONS[decision['action']]}: {decision['reason']}")
    yield from _output_lines(data)
    yield _row("decisions", "none recorded")
    yield _row("pins", f"{len(data['pins'])}" if data["pins"] else "none")
    yield from (_row("", f'"{pin.splitlines()[0][:90]}"') for pin in data["pins"])
    yield from (_row("unknown" if number == 0 else "", text) for number, text in enumerate(data["unknown"]))
    yield from (_row("problems" if number == 0 else "", text) for number, text in enumerate(data["problems"]))


_ACTIONS = {"keep": "send as it is", "shed": "shed outputs", "cut": "ask for a summary and cut"}


def _row(name: str, text: str) -> str:
    return f"{name:<11}{text}"


def _estimate(estimate: Mapping[str, Any]) -> str:
    anchor = estimate["anchor"]
    if anchor is None:
        return f"~{estimate['tokens']:,} tokens, from sizes alone"
    after = estimate["tokens"] - anchor["tokens"]
    count = anchor["messagesAfter"]
    rest = f"~{after:,} for {counted(count, 'message')} after it" if count else "nothing after it"
    return f"{estimate['tokens']:,} tokens: {anchor['tokens']:,} reported at {anchor['reference']}, {rest}"


def _start(marker: str) -> str:
    """The first words of a marker, with dots where it goes on."""
    line = marker.split("\n", maxsplit=1)[0]
    return line if line == marker and len(line) <= _MARKER else f"{line[:_MARKER].rstrip()}..."


def _output_lines(data: Mapping[str, Any]) -> Iterable[str]:
    outputs, savings = data["sheddable"], data["savings"]
    if data["shed"]:
        more = f" and {len(data['shed']) - _SHOWN} more" if len(data["shed"]) > _SHOWN else ""
        yield _row("shed", f"{counted(len(data['shed']), 'output')}: {', '.join(data['shed'][:_SHOWN])}{more}")
    if not outputs:
        yield _row("sheddable", "nothing")
        return
    older = f"~{savings['older']:,} of them before the current turn"
    yield _row("sheddable", f"{counted(len(outputs), 'output')}, ~{savings['fullest']:,} tokens; {older}")
    largest = sorted(outputs, key=lambda each: -each["tokens"])[:_SHOWN]
    wide = max(9, *(len(output["tool"]) for output in largest)) + 1
    for output in largest:
        size = f"{output['tokens']:>8,} tokens"
        yield _row("", f"{output['reference']:<8}{output['tool']:<{wide}}{size}  {_start(output['marker'])}")
    if len(outputs) > _SHOWN:
        yield _row("", f"and {len(outputs) - _SHOWN} smaller ones (--json lists all)")
