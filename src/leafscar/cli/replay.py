"""``leafscar replay``: what each policy would have done to recorded sessions."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
import time
from pathlib import Path

import click
import msgspec

from leafscar import __version__
from leafscar.cli.explain_row import row_to_explain
from leafscar.cli.explain_view import explain_lines
from leafscar.cli.options import window_option
from leafscar.cli.output import Kind, check_apart, check_output, is_explanation, is_page, is_result, write_output
from leafscar.cli.progress import Progress
from leafscar.cli.recordings import own_recordings
from leafscar.cli.show import say
from leafscar.config import current_folder, read_settings
from leafscar.engine import Policy
from leafscar.errors import LeafscarError
from leafscar.replay import Options, ReplayResult, find_sessions, replay_files
from leafscar.replay.explain import explain_request
from leafscar.replay.selection import chosen_rows
from leafscar.report import render_html, render_text
from leafscar.session import load

__all__ = ["replay_command"]

_TERMINAL_LIMIT = 120


@click.command("replay")
@click.argument("paths", nargs=-1, metavar="[FILE-OR-FOLDER]...", type=click.Path(path_type=Path))
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy to compare; may be repeated.")
@click.option("--policy-file", type=click.Path(path_type=Path), metavar="FILE", help="Policies of your own, as JSON.")
@click.option("--sweep", "sweeps", multiple=True, metavar="KEY=V1,V2", help="One row for each value; may be repeated.")
@click.option("--model", metavar="NAME", help="Take window and prices of this model instead of the recorded one.")
@window_option
@click.option("--json", "json_out", metavar="OUT", help="Write everything as JSON to OUT, or to - (standard output).")
@click.option("--html", "html_out", type=click.Path(path_type=Path), metavar="OUT", help="Write the report page.")
@click.option("--explain", type=int, metavar="N", help="Say why a policy did what it did at request N.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of the settings.")
def replay_command(  # noqa: PLR0913, PLR0917 - click hands options over one by one
    paths: tuple[Path, ...],
    policies: tuple[str, ...],
    policy_file: Path | None,
    sweeps: tuple[str, ...],
    model: str | None,
    window: int | None,
    json_out: str | None,
    html_out: Path | None,
    explain: int | None,
    cwd: Path | None,
) -> None:
    """Replay recorded sessions under every policy: cost, cache use, cuts, requests over the window.

    Without a name: the newest 20 recordings that Claude Code, Codex, pi, Gemini CLI and opencode keep on this
    machine. Nothing leaves the machine. Policies: none, none:never-cut, compaction, compaction:FRACTION, classic,
    source, balanced, fewest-cuts, thrifty. Rules of other tools, with +breakpoint or without: mask-last-n:NEWEST,
    clear-tool-uses, langchain-clear, opencode-prune, summarize-at:FRACTION.

    With --explain N: what control saw, did and did not do at request N of one session, under one policy.
    """
    chosen = chosen_rows(policies, policy_file, sweeps)
    json_file = None if json_out in (None, "-") else Path(json_out)
    _check_outputs(json_file, html_out, is_result if explain is None else is_explanation)
    settings = read_settings(cwd or current_folder())
    for problem in settings.problems:
        say(problem, err=True)
    options = Options(
        policies=chosen,
        model=model,
        window=window,
        settings=settings,
        equal_cuts=html_out is not None or json_out is not None,
    )
    if explain is not None:
        if html_out is not None:
            raise LeafscarError("--explain prints text, or data with --json; leave --html out")
        row = row_to_explain(chosen, policies, needs_name=policy_file is not None, is_swept=bool(sweeps))
        _explain(paths, options, explain, row, json_out)
        return
    progress = Progress(sys.stderr, clock=time.monotonic, width=shutil.get_terminal_size().columns)
    try:
        result = replay_files(find_sessions(paths or own_recordings()), options, __version__, tell=progress.tell)
    finally:
        progress.end()
    if json_out == "-":
        click.echo(_json(result))
    else:
        columns = min(shutil.get_terminal_size().columns, _TERMINAL_LIMIT) if sys.stdout.isatty() else 100
        click.echo(render_text(result, width=columns, color=sys.stdout.isatty()), nl=False)
    if json_file is not None:
        write_output(json_file, _json(result), is_result)
    if html_out is not None:
        write_output(html_out, render_html(result, command=shlex.join(["leafscar", *sys.argv[1:]])), is_page)
        say(f"report: {html_out}", err=json_out == "-")
    if not result.sessions:
        raise click.exceptions.Exit(1)


def _explain(
    paths: tuple[Path, ...], options: Options, number: int, policy: str | Policy, json_out: str | None
) -> None:
    found = find_sessions(paths)
    if len(found) != 1:
        raise LeafscarError(f"--explain looks at one session, not {len(found)}; name one file")
    told = explain_request(load(found[0]), options, number, policy)
    if json_out is None:
        for line in explain_lines(told):
            say(line)
        return
    text = json.dumps(msgspec.to_builtins(told), indent=2, allow_nan=False)
    if json_out == "-":
        click.echo(text)
    else:
        write_output(Path(json_out), text, is_explanation)


def _json(result: ReplayResult) -> str:
    return json.dumps(msgspec.to_builtins(result), indent=2, allow_nan=False)


def _check_outputs(json_file: Path | None, html_file: Path | None, is_ours: Kind) -> None:
    """Refuse before anything is read what could not be written afterwards."""
    if json_file is not None:
        check_output(json_file, is_ours)
    if html_file == Path("-"):
        raise LeafscarError("--html -: a page is written to a file; name one, like report.html")
    if html_file is not None:
        check_output(html_file, is_page)
    if json_file is not None and html_file is not None:
        check_apart(json_file, html_file)
