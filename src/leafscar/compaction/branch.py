"""Summaries of a branch that is left for another (docs/compaction.md). Pure, as :mod:`summarise` is."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from leafscar.compaction.files import FileLists, FileOps, file_ops, file_text
from leafscar.compaction.requests import SummaryOptions, SummaryRequest, SummaryResponse
from leafscar.compaction.rules import DEFAULT, Rules
from leafscar.compaction.slots import Item, any_message, message_tokens
from leafscar.compaction.summarise import ask
from leafscar.compaction.thresholds import RESERVE
from leafscar.model import Entry, EntryLike, ToolResult, as_entry

__all__ = ["BranchPreparation", "BranchResult", "BranchWalk", "collect_branch", "prepare_branch", "summarise_branch"]

NO_CONTENT = "No content to summarize"
_WINDOW = 128_000
_SUMMARY_SHARE = 0.9
_SUMMARIES = ("compaction", "branch_summary")


class BranchWalk(Struct, frozen=True, kw_only=True):
    """What lies between an old position and a new one."""

    entries: tuple[Entry, ...]
    """Entries that are left, oldest first."""
    common_ancestor_id: str | None


class BranchPreparation(Struct, frozen=True, kw_only=True):
    """What a branch summary covers."""

    items: tuple[Item, ...]
    file_ops: FileOps
    total_tokens: int


class BranchResult(Struct, frozen=True, kw_only=True):
    """What a ``branch_summary`` entry is made of."""

    summary: str
    usage: Mapping[str, Any] | None = None
    details: FileLists = FileLists()
    asked: bool = True
    """False when the branch had no content and no model was asked."""


def collect_branch(entries: Sequence[EntryLike], old_leaf: str | None, target: str | None) -> BranchWalk:
    """Collect the entries from ``old_leaf`` up to its common ancestor with ``target``; cuts do not stop the walk."""
    by_id = {entry.id: entry for entry in map(as_entry, entries)}
    reached = {entry.id for entry in _upward(by_id, target)}
    left: list[Entry] = []
    for entry in _upward(by_id, old_leaf):
        if entry.id in reached:
            return BranchWalk(entries=tuple(reversed(left)), common_ancestor_id=entry.id)
        left.append(entry)
    return BranchWalk(entries=tuple(reversed(left)), common_ancestor_id=None)


def prepare_branch(entries: Sequence[EntryLike], budget: float = 0, rules: Rules = DEFAULT) -> BranchPreparation:
    """Choose what fits ``budget`` tokens, newest first; 0 is no limit. Results are left to their calls' mention."""
    known = [as_entry(entry) for entry in entries]
    visited: list[Item] = []
    chosen = total = 0
    for item in _told(known):
        visited.append(item)
        tokens = message_tokens(item.message, rules)
        fits = budget <= 0 or total + tokens <= budget
        if fits or (item.entry.type in _SUMMARIES and total < budget * _SUMMARY_SHARE):
            chosen += 1
            total += tokens
        if not fits:
            break
    carried = [entry for entry in known if entry.type == "branch_summary"]
    return BranchPreparation(
        items=tuple(reversed(visited[:chosen])),
        file_ops=file_ops([item.message for item in visited], carried=carried, rules=rules),
        total_tokens=total,
    )


def summarise_branch(
    entries: Sequence[EntryLike],
    options: SummaryOptions | None = None,
    rules: Rules = DEFAULT,
    *,
    reserve: float = RESERVE,
) -> Generator[SummaryRequest, SummaryResponse, BranchResult]:
    """Summarise collected entries; raises ``SummaryFailed``."""
    known = options or SummaryOptions()
    prepared = prepare_branch(entries, (known.window or _WINDOW) - reserve, rules)
    if not prepared.items:
        return BranchResult(summary=NO_CONTENT, asked=False)
    limit = known.max_output if rules.branch_output_capped and known.max_output > 0 else rules.branch_output
    summary = yield from ask("branch", prepared.items, int(min(rules.branch_output, limit)), known, rules)
    lists = prepared.file_ops.lists()
    return BranchResult(
        summary=known.texts.branch_preamble + summary.text + file_text(lists), usage=summary.usage, details=lists
    )


def _told(entries: Sequence[Entry]) -> list[Item]:
    """Messages of a branch, newest first, without tool results."""
    pairs = ((entry, any_message(entry)) for entry in reversed(entries))
    return [
        Item(entry=entry, message=message)
        for entry, message in pairs
        if message is not None and not isinstance(message, ToolResult)
    ]


def _upward(by_id: Mapping[str, Entry], leaf: str | None) -> list[Entry]:
    path: dict[str, Entry] = {}
    current = by_id.get(leaf) if leaf else None
    while current is not None and current.id not in path:  # parents may form a circle
        path[current.id] = current
        current = by_id.get(current.parent_id) if current.parent_id else None
    return list(path.values())
