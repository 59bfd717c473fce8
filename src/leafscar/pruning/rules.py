"""Which reading of the pass applies: ours, or the sources' with their defects (docs/pruning.md)."""

from __future__ import annotations

from msgspec import Struct

from leafscar.pruning.tools import ALL, PI, ToolTable

__all__ = ["CLASSIC", "DEFAULT", "SOURCE", "PruningRules"]


class PruningRules(Struct, frozen=True, kw_only=True):
    """One flag a difference; each flag that is set keeps a defect of the sources."""

    images_count_as_saved: bool = False
    """Sizes and savings count images although they stay (docs/adr/0021-savings-count-text.md)."""
    replace_always: bool = False
    """A marker replaces its output even where it is larger (docs/adr/0020-markers-fit.md)."""
    prune_own_markers: bool = False
    """A marker is an output like any other (docs/adr/0020-markers-fit.md)."""
    prune_excluded_bash: bool = False
    """Executions kept out of the context are pruned and counted (docs/adr/0022-excluded-executions.md)."""
    align_by_equality: bool = False
    """One message that differs from its entry switches pruning off (docs/adr/0023-align-by-ids.md)."""
    exit_code_anywhere: bool = False
    """The first text that looks like a trailer gives the exit code (docs/adr/0024-exit-code.md)."""
    engage_without_window: bool = False
    """An unknown window counts as crossed (docs/adr/0029-what-stays-raw.md)."""
    js_line_numbers: bool = False
    """Any text that JavaScript reads as a whole number is a line (docs/adr/0026-references.md)."""
    split_pairs: bool = False
    """A cut at a number of UTF-16 units may leave half a character (docs/adr/0026-references.md)."""
    recall_verbatim: bool = False
    """A recall marker repeats whatever the call asked for (docs/adr/0027-recall-markers.md)."""
    tools: ToolTable = ALL
    """Tools by name (docs/adr/0028-tool-tables.md)."""


DEFAULT = PruningRules()
"""Ours."""

CLASSIC = PruningRules(tools=PI)
"""Ours, with pi's tools only."""

SOURCE = PruningRules(
    images_count_as_saved=True,
    replace_always=True,
    prune_own_markers=True,
    prune_excluded_bash=True,
    align_by_equality=True,
    exit_code_anywhere=True,
    engage_without_window=True,
    js_line_numbers=True,
    split_pairs=True,
    recall_verbatim=True,
    tools=PI,
)
"""The sources, defects included: for comparisons and golden values only."""
