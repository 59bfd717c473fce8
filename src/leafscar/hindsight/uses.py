"""What of earlier outputs was needed again (docs/cuts.md, docs/adr/0070-needed-again.md)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from leafscar.hindsight.walk import UseKind, walked
from leafscar.model import EntryLike, as_entry
from leafscar.pruning.tools import ALL, ToolTable

__all__ = ["Use", "UseKind", "later_uses"]


class Use(Struct, frozen=True, kw_only=True):
    """One later call that needed what an output had shown."""

    position: int
    """Index, on the path, of the entry that makes the later call."""
    kind: UseKind


def later_uses(path: Sequence[EntryLike], *, tools: ToolTable = ALL, cwd: str = "") -> dict[str, tuple[Use, ...]]:
    """For each tool result and execution on ``path``, by entry id: the later calls that needed the same again.

    ``tools`` says what a tool is, ``cwd`` where relative paths begin. One pass. An output that nothing needed again
    has an empty tuple. Only the newest output that shows a thing is needed; a repeated call counts when nothing was
    changed in between, so that the earlier output would have answered it.
    """
    uses = walked([as_entry(entry) for entry in path], tools=tools, cwd=cwd).uses
    return {id_: tuple(Use(position=at, kind=kind) for at, kind in found) for id_, found in uses.items()}
