"""``leafscar compact``: the cut that level 2 would make, or the cut itself (docs/cli.md)."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from leafscar.cli.compact_view import cut_data, cut_lines, nothing_to_cut
from leafscar.cli.control import Control, control_of
from leafscar.cli.options import window_option
from leafscar.cli.script import script_summarizer
from leafscar.cli.show import say
from leafscar.engine import Send, Summarise
from leafscar.engine.driver import drive
from leafscar.errors import LeafscarError, SessionBusy, SummaryFailed
from leafscar.session import append, check_writable, holders, load

__all__ = ["compact_command"]


@click.command("compact")
@click.argument("file", type=click.Path(path_type=Path))
@click.option("--instructions", metavar="TEXT", help="What the summary should look at.")
@click.option("--summarizer", metavar="script:FILE", help="Who writes the summary: answers from a JSON file.")
@click.option("--write", is_flag=True, help="Append the compaction entry to FILE.")
@click.option("--force", is_flag=True, help="Write although another process has the file open.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@window_option
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of the settings.")
def compact_command(
    file: Path,
    instructions: str | None,
    summarizer: str | None,
    *,
    write: bool,
    force: bool,
    as_json: bool,
    window: int | None,
    cwd: Path | None,
) -> None:
    """Show the cut that a compaction of FILE would make; with --write, make it.

    Without --summarizer the plan is shown and no summary is written. --write appends one entry to a version 3
    session, and never changes what is there.
    """
    if write and summarizer is None:
        raise click.UsageError("--write needs --summarizer script:FILE")
    session = load(file)
    if write:
        check_writable(session)
        _check_free(file, force=force)
    control = control_of(session, cwd=cwd, window=window, summarises=True)
    asked = control.controller.compact(control.path, instructions=instructions)
    if asked is None:
        _print(nothing_to_cut(control), as_json=as_json)
        return
    if instructions and asked.request.kind == "prefix":
        say(
            "leafscar: warning: only the beginning of a turn is summarised; that request takes no instructions",
            err=True,
        )
    data = cut_data(control, asked)
    if summarizer is not None:
        fields = _summarise(control, asked, summarizer)
        data |= {"summary": fields["summary"], "after": round(control.controller.view().estimate)}
        if write:
            written = append(session, "compaction", fields)
            data |= {"written": {"entry": written.leaf_id, "line": written.entries[-1].line, "file": str(file)}}
    _print(data, as_json=as_json)


def _check_free(file: Path, *, force: bool) -> None:
    others = holders(file)
    if not others:
        return
    names = ", ".join(map(str, others))
    if not force:
        raise SessionBusy(file, f"process {names} has it open", holders=others, hint="end it, or add --force")
    say(f"leafscar: warning: process {names} has {file} open", err=True)


def _summarise(control: Control, asked: Summarise, summarizer: str) -> dict[str, Any]:
    try:
        outcome = drive(control.controller, asked, script_summarizer(summarizer), sleep=time.sleep)
    except SummaryFailed as fault:
        raise LeafscarError(f"{fault.words}; nothing was written") from fault
    assert isinstance(outcome, Send), "only an automatic cut goes on without its summary"
    return dict(outcome.cut or {})


def _print(data: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps(data, indent=2, ensure_ascii=True))
        return
    for line in cut_lines(data):
        say(line)
