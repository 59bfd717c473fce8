"""Pins: what the user wants to survive every cut word for word (docs/compaction.md).

A pin is a text from the settings or a user message that carries the label ``pin``; output of a tool never becomes
one. Pins stand in one tagged block of the summary message, after the summary and before the file lists. The tag
carries a digest of what it holds, so that the block can be found again whatever the pins contain.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence

from leafscar.model import EntryLike, User, as_entry
from leafscar.model.messages import text_of
from leafscar.model.shapes import as_text

__all__ = ["PIN_LABEL", "pins_block", "pins_intact", "pins_of", "without_pins"]

PIN_LABEL = "pin"
"""Label that makes a user message a pin."""

_OPENING = re.compile(r"\n*<pinned-rules digest=\"([0-9a-f]{16})\">\n")
_CLOSING = "\n</pinned-rules>"
_ANY_TAG = re.compile(r"</?pinned-rules[^>]*>")


def pins_of(entries: Iterable[EntryLike], settings: Sequence[str] = ()) -> tuple[str, ...]:
    """Collect pins: those of the settings first, then labelled user messages in the order of the entries.

    The newest label of a message counts; an empty one takes the pin back. Equal pins stand once.
    """
    known = [as_entry(entry) for entry in entries]
    labels = {as_text(e.get("targetId")): as_text(e.get("label")) for e in known if e.type == "label"}
    marked = {target for target, label in labels.items() if (label or "").strip() == PIN_LABEL}
    users = (e.message for e in known if e.id in marked and e.type == "message")
    texts = [*settings, *(text_of(m.content) for m in users if isinstance(m, User))]
    return tuple(dict.fromkeys(text for text in texts if text.strip()))


def pins_block(pins: Sequence[str]) -> str:
    """Give the block that a summary message holds; empty without pins."""
    if not pins:
        return ""
    inner = _inner(pins)
    return f'\n\n<pinned-rules digest="{_digest(inner)}">\n{inner}{_CLOSING}'


def without_pins(summary: str) -> str:
    """Take every block of pins out of a summary, and defuse tags that only look like one."""
    parts: list[str] = []
    rest = summary
    while found := _OPENING.search(rest):
        end = _block_end(rest, found)
        parts.append(rest[: found.start()] if end else rest[: found.end()])
        rest = rest[end or found.end() :]
    return _ANY_TAG.sub("", "".join([*parts, rest]))


def pins_intact(summary: str, pins: Sequence[str]) -> bool:
    """Whether ``summary`` holds exactly ``pins``, letter by letter."""
    found = _OPENING.search(summary)
    if not pins or found is None:
        return not pins and found is None
    end = _block_end(summary, found)
    return end is not None and found[1] == _digest(_inner(pins))


def _inner(pins: Sequence[str]) -> str:
    return "\n\n".join(pins)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _block_end(text: str, opening: re.Match[str]) -> int | None:
    """Where the block ends whose content has the digest of its tag; None when it has been changed."""
    at = text.find(_CLOSING, opening.end())
    while at >= 0:
        if _digest(text[opening.end() : at]) == opening[1]:
            return at + len(_CLOSING)
        at = text.find(_CLOSING, at + 1)
    return None
