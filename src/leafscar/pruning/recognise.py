"""Telling a marker from an output that merely looks like one (docs/adr/0020-markers-fit.md)."""

from __future__ import annotations

import re

from leafscar.pruning.sizes import EDGE_LINES, LINE_CAP

__all__ = ["is_marker"]

_NAME = r"\[[^\n]{1,200}? pruned: "
_SIZE = r"~[0-9]+(?:\.[0-9]k)? tokens\."
_REFERENCE = r"[^\n]{1,200}"
_PLACE = rf"[^\n]{{1,4096}}, lines [0-9.e+-]+, {_SIZE} Re-read with the [^\n]{{1,200}} tool\."

_ONE_LINE = re.compile(
    rf"{_NAME}(?:{_SIZE} recall {_REFERENCE} for full output\.\]"
    rf"|(?:{_SIZE}|{_PLACE}) recall {_REFERENCE} for this exact output\.\])"
)
_SHELL = re.compile(
    rf'{_NAME}(?:"(?s:.*)", )?exit [^,\n]+, (?P<total>[0-9]{{1,15}}) lines, {_SIZE}\n'
    rf"(?P<body>(?:[^\n]{{0,{LINE_CAP + 3}}}\n){{1,{2 * EDGE_LINES + 1}}})"
    rf"recall {_REFERENCE} for full output\.\]"
)


def is_marker(text: str) -> bool:
    """Whether ``text`` is, from end to end, a marker in our form or the sources'."""
    if not (text.startswith("[") and text.endswith(" output.]")):
        return False
    if _ONE_LINE.fullmatch(text):
        return True
    shell = _SHELL.fullmatch(text)
    return shell is not None and _ends_agree(int(shell["total"]), shell["body"].split("\n")[:-1])


def _ends_agree(total: int, body: list[str]) -> bool:
    """Whether a shell marker shows as many lines as its total calls for."""
    omitted = total - 2 * EDGE_LINES
    if omitted <= 0:
        return len(body) == max(total, 1)
    return len(body) == 2 * EDGE_LINES + 1 and body[EDGE_LINES] == f"... {omitted} lines omitted ..."
