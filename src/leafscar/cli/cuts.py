"""``leafscar cuts``: what recorded compactions lost (docs/cuts.md)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click

from leafscar._plain import escaped
from leafscar.cli.cuts_view import SessionCuts, cuts_data, cuts_lines
from leafscar.cli.recordings import own_recordings
from leafscar.cli.show import say
from leafscar.errors import SessionError
from leafscar.hindsight import losses
from leafscar.pruning import TABLES
from leafscar.pruning.tools import ALL
from leafscar.replay import find_sessions
from leafscar.session import Session, load

__all__ = ["cuts_command"]


@click.command("cuts")
@click.argument("paths", nargs=-1, metavar="[FILE-OR-FOLDER]...", type=click.Path(path_type=Path))
@click.option("--all", "everything", is_flag=True, help="List everything that was lost, not the weightiest of it.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def cuts_command(paths: tuple[Path, ...], *, everything: bool, as_json: bool) -> None:
    """Show what the compactions in recorded sessions took out of the context, and what of it was needed again.

    Rules of the user, files, outputs and the state of the task, each with the command that gives it back. Without a
    name: the newest 20 recordings that Claude Code, Codex, pi, Gemini CLI and opencode keep on this machine. Nothing
    leaves the machine, nothing is written.
    """
    sessions, skipped = _read(find_sessions(paths or own_recordings()))
    if as_json:
        click.echo(json.dumps(cuts_data(sessions, skipped), indent=2, ensure_ascii=True))
    else:
        for line in cuts_lines(sessions, skipped, everything=everything):
            say(escaped(line))
    if not sessions:
        raise click.exceptions.Exit(1)


def _read(paths: Iterable[Path]) -> tuple[list[SessionCuts], list[str]]:
    """Look at each file; what cannot be read is named, with the reason."""
    sessions: list[SessionCuts] = []
    skipped: list[str] = []
    for path in paths:
        try:
            sessions.append(_cuts_of(path, load(path)))
        except SessionError as fault:
            skipped.append(str(fault))
    return sessions, skipped


def _cuts_of(path: Path, session: Session) -> SessionCuts:
    tools = TABLES.get(session.format.replace("_", "-"), ALL)
    cuts = losses(session.branch(), tools=tools, cwd=session.cwd, reference_for=session.reference_for)
    return SessionCuts(
        path=str(path), format=session.format, cwd=session.cwd, cuts=cuts, unknown=tuple(session.unknown)
    )
