"""Options that several commands take."""

from __future__ import annotations

import click

from leafscar.config import MAX_WINDOW

__all__ = ["window_option"]

window_option = click.option(
    "--window", type=click.IntRange(1, MAX_WINDOW), metavar="N", help="The context window in tokens."
)
