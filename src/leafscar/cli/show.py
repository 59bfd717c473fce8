"""Printing: what a session holds is shown, and never obeyed by a terminal."""

from __future__ import annotations

import click

from leafscar._plain import escaped

__all__ = ["printable", "say"]


def printable(text: str) -> str:
    """Give ``text`` with everything escaped that is not to be seen; newlines and tabs stay."""
    return escaped(text, keep="\n\t")


def say(text: str, *, err: bool = False) -> None:
    """Print one line, or several, for a person."""
    click.echo(printable(text), err=err)
