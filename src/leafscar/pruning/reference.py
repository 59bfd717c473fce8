"""References of recall: how they are written, what they give, how much of it (docs/pruning.md)."""

from __future__ import annotations

import re
from typing import NamedTuple

from msgspec import Struct

from leafscar.errors import BadReference
from leafscar.model import BashExecution, Image, MessageLike, ToolResult, as_message
from leafscar.model.jsjson import utf16_length, utf16_prefix
from leafscar.model.messages import parts_of, text_of
from leafscar.pruning.rules import DEFAULT, PruningRules
from leafscar.pruning.sizes import whole_prefix

__all__ = [
    "RECALL_LIMIT",
    "Capped",
    "Reference",
    "cap_text",
    "not_a_result",
    "not_found",
    "parse_reference",
    "result_text",
]

RECALL_LIMIT = 12_000
"""UTF-16 units that a recall gives unless the full text is asked for."""

_BLANKS = (
    "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_FULL = ":full"
_FIRST_LINE = 2
_ID = re.compile(r"[A-Za-z0-9_-]+")
_DIGITS = re.compile(r"0*([0-9]{1,15})")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_RADIX = re.compile(r"0(?:[xX][0-9a-fA-F]+|[oO][0-7]+|[bB][01]+)")
_ECHO_UNITS = 80


class Reference(Struct, frozen=True, kw_only=True):
    """What a recall asks for: exactly one of ``line`` and ``entry_id`` is set."""

    line: int | None = None
    """1-based physical line of the session file; the header is line 1."""
    entry_id: str | None = None
    full: bool = False
    """Whether the whole text is asked for, however long."""

    def __str__(self) -> str:
        return self.target + (_FULL if self.full else "")

    @property
    def target(self) -> str:
        """The reference without its suffix."""
        return f"#{self.line}" if self.line is not None else self.entry_id or ""


class Capped(NamedTuple):
    """What a recall answers."""

    text: str
    truncated: bool


def parse_reference(text: str, rules: PruningRules = DEFAULT) -> Reference:
    """Read ``#LINE`` or an entry id, each with an optional ``:full``; blanks around it do not count.

    Raises :class:`~leafscar.errors.BadReference`.
    """
    trimmed = text.strip(_BLANKS)
    body, full = trimmed.removesuffix(_FULL), trimmed.endswith(_FULL)
    if not trimmed:
        raise _invalid(text, "empty", "it is empty; give #LINE or an entry id")
    if not body:
        raise _invalid(text, "bare-suffix", "nothing stands before :full; give #LINE:full or ID:full")
    if body.startswith("#"):
        return Reference(line=_line(body[1:], text, rules), full=full)
    if _ID.fullmatch(body) is None:
        raise _invalid(text, "bad-reference", "give #LINE or an entry id")
    return Reference(entry_id=body, full=full)


def not_found(reference: Reference) -> BadReference:
    """Error of a reference that no entry of the session answers to."""
    what = f"line {reference.line}" if reference.line is not None else f"entry {reference.entry_id}"
    meant = f"did you mean #{reference.entry_id}?" if (reference.entry_id or "").isdigit() else "copy it from a marker"
    message = f"recall: the session has no {what}; {meant}"
    return BadReference(message, reference=str(reference), kind="not-found")


def not_a_result(reference: Reference, what: str) -> BadReference:
    """Error of a reference to an entry that holds no tool output; ``what`` says what it is."""
    message = f"recall: {reference.target} is not a tool result but {what}; only tool outputs can be recalled"
    return BadReference(message, reference=str(reference), kind="not-a-result")


def result_text(message: MessageLike) -> str | None:
    """Text of a tool result or of an execution's output; None for every other message.

    Images are not in it: their number is noted at the end.
    """
    match as_message(message):
        case BashExecution(output=output):
            return output
        case ToolResult(content=content):
            images = sum(isinstance(part, Image) for part in parts_of(content))
            note = f"[{images} image part(s) not included in this recall]" if images else ""
            return "\n\n".join(piece for piece in (text_of(content), note) if piece)
        case _:
            return None


def cap_text(text: str, reference: Reference, rules: PruningRules = DEFAULT, *, limit: int = RECALL_LIMIT) -> Capped:
    """Give at most ``limit`` UTF-16 units of ``text`` and a hint at the full form; all where that was asked for."""
    if reference.full or utf16_length(text) <= limit:
        return Capped(text, truncated=False)
    head = (utf16_prefix if rules.split_pairs else whole_prefix)(text, limit)
    hint = f'... [truncated at {limit} characters. Use "{reference.target}{_FULL}" for the full output.]'
    return Capped(f"{head}\n\n{hint}", truncated=True)


def _line(digits: str, text: str, rules: PruningRules) -> int:
    value = _js_integer(digits.strip(_BLANKS)) if rules.js_line_numbers else _plain_integer(digits)
    if value is None or value < _FIRST_LINE:
        raise _invalid(
            text, "bad-line", f"a line is # and a whole number from {_FIRST_LINE} on, for all of it with :full behind"
        )
    return value


def _plain_integer(digits: str) -> int | None:
    found = _DIGITS.fullmatch(digits)
    return None if found is None else int(found[1])


def _js_integer(text: str) -> int | None:
    if _RADIX.fullmatch(text):
        return int(text, 0)
    value = float(text) if _DECIMAL.fullmatch(text) else 0.0
    return int(value) if value.is_integer() else None


def _invalid(text: str, kind: str, hint: str) -> BadReference:
    shown = " ".join(whole_prefix(text, _ECHO_UNITS).split())
    return BadReference(f'recall: invalid reference "{shown}": {hint}', reference=text, kind=kind)
