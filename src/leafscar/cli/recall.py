"""``leafscar recall``: the output that a marker stands for."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from leafscar.session import load, recall

__all__ = ["recall_command"]


@click.command("recall")
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("ref")
def recall_command(file: Path, ref: str) -> None:
    """Print the tool output that REF names in the session FILE.

    REF is what a marker says: #LINE or an entry id, up to 12,000 characters; with :full all of it, byte for byte.
    """
    recalled = recall(load(file), ref)
    stream = sys.stdout.buffer
    stream.write(recalled.text.encode("utf-8", "surrogatepass"))
    if recalled.truncated:
        stream.write(b"\n")
    stream.flush()
