"""The few pieces of markup that every part of the page needs; here foreign text becomes harmless."""

from __future__ import annotations

import html

from leafscar.report.words import clean

__all__ = ["code", "paragraph", "safe", "typeset"]


def safe(text: str) -> str:
    """Escape foreign text for the page."""
    return html.escape(clean(text))


def code(text: str) -> str:
    """Set a command or an id."""
    return f"<code>{safe(text)}</code>"


def paragraph(text: str) -> str:
    """Set a remark."""
    return f'<p class="small">{safe(text)}</p>'


def typeset(number: str) -> str:
    """Set a printed number: a true minus sign, and the mark of inference apart from it."""
    return safe(number.replace("-", "\u2212")).replace("~", '<span class="about">~</span>')
