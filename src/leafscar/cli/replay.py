"""``leafscar replay``: what each policy would have done to recorded sessions."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import click
import msgspec

from leafscar import __version__
from leafscar.cli.control import shed_settings
from leafscar.config import explicit_reserve_tokens, read_settings
from leafscar.errors import LeafscarError
from leafscar.replay import DEFAULT_POLICIES, Options, ReplayResult, find_sessions, replay_files
from leafscar.replay.rows import policy_of
from leafscar.report import render_html, render_text

__all__ = ["replay_command"]

_TERMINAL_LIMIT = 120


@click.command("replay")
@click.argument("paths", nargs=-1, required=True, metavar="FILE-OR-FOLDER...", type=click.Path(path_type=Path))
@click.option("--policy", "policies", multiple=True, metavar="NAME", help="A policy to compare; may be repeated.")
@click.option("--model", metavar="NAME", help="Take window and prices of this model instead of the recorded one.")
@click.option("--window", type=click.IntRange(min=1), metavar="N", help="The context window in tokens.")
@click.option("--json", "json_out", metavar="OUT", help="Write everything as JSON to OUT, or to - (standard output).")
@click.option("--html", "html_out", type=click.Path(path_type=Path), metavar="OUT", help="Write the report page.")
@click.option("--cwd", type=click.Path(exists=True, file_okay=False, path_type=Path), help="Folder of the settings.")
def replay_command(
    paths: tuple[Path, ...],
    policies: tuple[str, ...],
    model: str | None,
    window: int | None,
    json_out: str | None,
    html_out: Path | None,
    cwd: Path | None,
) -> None:
    """Replay recorded sessions under every policy: cost, cache use, cuts, requests over the window.

    Nothing leaves the machine. Policies: none, none:never-cut, compaction, compaction:FRACTION, classic, source,
    balanced, fewest-cuts, thrifty.
    """
    for name in policies:
        policy_of(name)
    settings = read_settings(cwd or Path.cwd())
    for problem in settings.problems:
        click.echo(problem, err=True)
    options = Options(
        policies=tuple(dict.fromkeys(policies)) or DEFAULT_POLICIES,
        model=model,
        window=window,
        shed=shed_settings(settings),
        reserve_tokens=explicit_reserve_tokens(settings),
        window_cap=settings.leafscar.window_cap,
    )
    result = replay_files(find_sessions(paths), options, __version__)
    if json_out == "-":
        click.echo(_json(result))
    else:
        columns = min(shutil.get_terminal_size().columns, _TERMINAL_LIMIT) if sys.stdout.isatty() else 100
        click.echo(render_text(result, width=columns, color=sys.stdout.isatty()), nl=False)
    if json_out not in (None, "-"):
        _write(Path(json_out), _json(result))
    if html_out is not None:
        _write(html_out, render_html(result))
        click.echo(f"report: {html_out}", err=json_out == "-")
    if not result.sessions:
        raise click.exceptions.Exit(1)


def _json(result: ReplayResult) -> str:
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode()


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as fault:
        raise LeafscarError(f"{path}: {fault.strerror}; name a file that can be written") from fault
