"""``leafscar formats``: what is read (docs/formats.md)."""

from __future__ import annotations

import json

import click

from leafscar.cli.show import say
from leafscar.formats.registry import FORMATS

__all__ = ["formats_command"]

_PI = {"name": "pi", "tool": "pi and its forks", "files": "~/.pi/agent/sessions/*/*.jsonl"}


@click.command("formats")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def formats_command(*, as_json: bool) -> None:
    """List the recordings that are read, by tool and by where its files lie.

    Every command that takes a FILE takes any of them; only pi's own are written to.
    """
    rows = [_PI, *({"name": each.name, "tool": each.tool, "files": each.files} for each in FORMATS)]
    if as_json:
        say(json.dumps(rows, indent=2))
        return
    for row in rows:
        say(f"{row['name']:<19} {row['tool']:<25} {row['files']}")
