"""Foreign text made safe to show: the one answer to which characters are never shown as they are."""

from __future__ import annotations

import unicodedata

__all__ = ["escape", "escaped", "hidden"]

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories that steer a terminal, turn its direction, break its lines, or are half a character."""
_JOINERS = "\u200c\u200d"
"""They shape letters and emoji and steer nothing."""


def hidden(character: str) -> bool:
    """Whether ``character`` is not to be shown as it is: it steers, is half a character, or is none (U+FFFE)."""
    if character.isprintable() or character in _JOINERS:
        return False
    return unicodedata.category(character) in _HIDDEN or _is_none(ord(character))


def escape(character: str) -> str:
    r"""Write ``character`` as ``\u001b``, beyond U+FFFF as ``\U000e0041``."""
    code = ord(character)
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004 - 0xFFFF is what four digits hold


def escaped(text: str, *, keep: str = "") -> str:
    """Give ``text`` with each hidden character escaped, those of ``keep`` excepted."""
    if text.isprintable():
        return text
    return "".join(escape(each) if hidden(each) and each not in keep else each for each in text)


def _is_none(code: int) -> bool:
    """Whether Unicode promises that ``code`` will never be a character."""
    return code & 0xFFFE == 0xFFFE or 0xFDD0 <= code <= 0xFDEF  # noqa: PLR2004 - the standard's own list
