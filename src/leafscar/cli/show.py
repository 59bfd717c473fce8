"""Printing: what a session holds is shown, and never obeyed by a terminal."""

from __future__ import annotations

import unicodedata

import click

__all__ = ["counted", "printable", "say"]

_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Categories that steer a terminal, turn its direction, break its lines, or are half a character."""


def printable(text: str) -> str:
    """Give ``text`` with everything escaped that is not to be seen; newlines and tabs stay."""
    return "".join(each if each in "\n\t" or _is_seen(each) else _escaped(each) for each in text)


def say(text: str, *, err: bool = False) -> None:
    """Print one line, or several, for a person."""
    click.echo(printable(text), err=err)


def counted(number: int, noun: str) -> str:
    """Write ``1 message``, ``2 messages``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _is_seen(character: str) -> bool:
    return character.isprintable() or unicodedata.category(character) not in _HIDDEN


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"  # noqa: PLR2004
