"""How each marker reads; every word and mark of punctuation is part of the format (docs/pruning.md)."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from leafscar.pruning.sizes import LINE_CAP, format_size, head_tail

__all__ = ["LineRange", "Shell", "bash_marker", "plain_marker", "read_marker"]


class LineRange(NamedTuple):
    """Lines of a file, as texts, both ends included."""

    first: str
    last: str


class Shell(Struct, frozen=True, gc=False, kw_only=True):
    """What a shell marker tells besides the output's ends."""

    name: str
    command: str
    """Empty when unknown."""
    status: str
    """Exit code, or ``error``, ``cancelled``, ``unknown``."""


def plain_marker(name: str, size: float, reference: str) -> str:
    """Marker of any tool without a form of its own; ``size`` in tokens."""
    return f"[{name} pruned: {format_size(size)} tokens. recall {reference} for full output.]"


def read_marker(name: str, size: float, reference: str, *, path: str | None, lines: LineRange) -> str:
    """Marker of a file read; without a path it cannot say what to read again."""
    sized, recall = f"{format_size(size)} tokens.", f"recall {reference} for this exact output.]"
    if path is None:
        return f"[{name} pruned: {sized} {recall}"
    where = f"{path}, lines {lines.first}-{lines.last}"
    return f"[{name} pruned: {where}, {sized} Re-read with the {name} tool. {recall}"


def bash_marker(
    shell: Shell,
    size: float,
    reference: str,
    *,
    output: str,
    line_cap: int = LINE_CAP,
    split_pairs: bool = False,
) -> str:
    """Marker of a command: what ran, how it ended, how long it was, and both ends of what it printed."""
    ends = head_tail(output, line_cap, split_pairs=split_pairs)
    command = f'"{shell.command}", ' if shell.command else ""
    facts = f"exit {shell.status}, {ends.total_lines} lines, {format_size(size)} tokens."
    lines = [f"[{shell.name} pruned: {command}{facts}", ends.head]
    if ends.omitted_lines:
        lines.append(f"... {ends.omitted_lines} lines omitted ...")
    if ends.tail:
        lines.append(ends.tail)
    return "\n".join([*lines, f"recall {reference} for full output.]"])
