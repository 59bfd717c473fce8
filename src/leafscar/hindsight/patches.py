"""Patches: which files they touch, and the lines that must stand there.

Two forms are read: the one of Codex, and one where ``§PATH`` begins what happens to a file and lines are named, not
quoted.
"""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["is_patch", "patched"]

_ADD, _UPDATE, _DELETE, _SECTION = "*** Add File: ", "*** Update File: ", "*** Delete File: ", "§"
_HEADS = (_ADD, _UPDATE, _DELETE, _SECTION)


def is_patch(text: str) -> bool:
    """Whether ``text`` is, or holds, a patch of a form that is read."""
    return "*** Begin Patch" in text or text.startswith(_SECTION)


def patched(patch: str) -> Iterator[tuple[str, bool, tuple[str, ...]]]:
    """Give each file of a patch: its path, whether it is written or deleted as a whole, the lines that it replaces."""
    path, whole, old = "", False, list[str]()
    for line in patch.splitlines():
        head = next((word for word in _HEADS if line.startswith(word)), None)
        if head is not None:
            if path:
                yield path, whole, _joined(old)
            path, whole, old = line.removeprefix(head).strip(), head in (_ADD, _DELETE), []
        elif line[:1] in ("-", " "):
            old.append(line[1:])
    if path:
        yield path, whole, _joined(old)


def _joined(lines: list[str]) -> tuple[str, ...]:
    return ("\n".join(lines),) if lines else ()
