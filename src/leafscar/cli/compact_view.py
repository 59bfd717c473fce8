"""The planned cut of ``leafscar compact``: once as JSON, once as lines to read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from leafscar._words import counted
from leafscar.cli.control import Control
from leafscar.compaction import Preparation
from leafscar.engine import Summarise
from leafscar.estimate import estimate_tokens

__all__ = ["cut_data", "cut_lines", "nothing_to_cut"]


def nothing_to_cut(control: Control) -> dict[str, Any]:
    """What the command shows when there is no history before what must be kept."""
    keep = control.controller.lines.keep
    reason = f"no history before the newest {keep:,} tokens, which stay raw" if keep else "the session is empty"
    return {"file": str(control.session.path), "cut": None, "reason": reason}


def cut_data(control: Control, asked: Summarise) -> dict[str, Any]:
    """What would be summarised and what would stay; tokens by the sources' rule (characters / 4)."""
    session = control.session
    plan = asked.preparation
    assert plan is not None, "the first request of a cut carries its plan"
    kept = _kept(control, plan)
    files = plan.file_ops.lists()
    return {
        "file": str(session.path),
        "cut": {
            "firstKept": plan.first_kept_entry_id,
            "reference": session.reference_for(next(e for e in control.path if e.id == plan.first_kept_entry_id)),
            "splitTurn": plan.is_split_turn,
            "history": _share(item.message for item in plan.history),
            "turnPrefix": _share(item.message for item in plan.turn_prefix),
            "kept": _share(message for message in kept),
            "previousSummary": plan.previous_summary is not None,
            "pins": len(plan.pins),
            "readFiles": list(files.read_files),
            "modifiedFiles": list(files.modified_files),
        },
        "tokensBefore": round(plan.tokens_before),
        "keepRecent": round(plan.settings.keep_recent_tokens),
        "summariser": {
            "kind": asked.request.kind,
            "characters": len(asked.request.prompt),
            "maxTokens": asked.request.max_tokens,
            "leftOut": asked.request.left_out,
        },
    }


def _kept(control: Control, plan: Preparation) -> list[Any]:
    start = next(n for n, entry in enumerate(control.path) if entry.id == plan.first_kept_entry_id)
    return [entry.message for entry in control.path[start:] if entry.message is not None and entry.type != "compaction"]


def _share(messages: Iterable[Any]) -> dict[str, int]:
    sizes = [estimate_tokens(message) for message in messages]
    return {"messages": len(sizes), "tokens": sum(sizes)}


def cut_lines(data: Mapping[str, Any]) -> Iterable[str]:
    """The same as lines of text."""
    cut = data["cut"]
    if cut is None:
        yield f"nothing to cut: {data['reason']}"
        return
    done = "written" in data
    yield f"{'cut' if done else 'planned cut'} of {data['file']}: {data['tokensBefore']:,} tokens before it"
    previous = ", after the previous summary" if cut["previousSummary"] else ""
    yield _row("summarised", _amount(cut["history"]) + previous)
    if cut["splitTurn"]:
        yield _row("", f"{_amount(cut['turnPrefix'])} of the current turn, summarised apart")
    yield _row("kept raw", f"{_amount(cut['kept'])}, from {cut['reference']} on (keep-recent {data['keepRecent']:,})")
    yield _row("files", f"{len(cut['readFiles'])} read, {len(cut['modifiedFiles'])} modified, listed after the summary")
    yield _row("pins", f"{cut['pins']} kept word for word" if cut["pins"] else "none")
    asked = data["summariser"]
    left = f", {counted(asked['leftOut'], 'block')} left out to fit" if asked["leftOut"] else ""
    first = "first request" if cut["splitTurn"] and cut["history"]["messages"] else "request"
    yield _row(first, f"{asked['characters']:,} characters, at most {asked['maxTokens']:,} tokens back{left}")
    if "summary" in data:
        yield _row("after", f"~{data['after']:,} tokens")
        yield ""
        yield data["summary"]
    if done:
        written = data["written"]
        yield ""
        yield f"appended entry {written['entry']} as line {written['line']} of {written['file']}"


def _amount(share: Mapping[str, int]) -> str:
    return f"{counted(share['messages'], 'message')}, ~{share['tokens']:,} tokens"


def _row(name: str, text: str) -> str:
    return f"{name:<15}{text}"
