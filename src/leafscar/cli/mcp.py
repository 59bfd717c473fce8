"""``leafscar mcp``: recall, search and context for the agent that lost them (docs/mcp.md)."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
from pathlib import Path

import click

from leafscar import __version__
from leafscar.cli.show import say
from leafscar.errors import LeafscarError, SessionError
from leafscar.mcp import CLIENTS, Scope, install, plan

__all__ = ["mcp_command"]


@click.command("mcp")
@click.option("--install", "client", type=click.Choice(CLIENTS), help="Add the server to this client's settings.")
@click.option("--print", "only_print", is_flag=True, help="With --install: print what would be added, write nothing.")
@click.option(
    "--session", "sessions", multiple=True, type=click.Path(path_type=Path), metavar="FILE", help="Serve this one."
)
@click.option(
    "--folder", "folders", multiple=True, type=click.Path(path_type=Path), metavar="DIR", help="Serve those in DIR."
)
def mcp_command(client: str | None, *, only_print: bool, sessions: tuple[Path, ...], folders: tuple[Path, ...]) -> None:
    """Serve recall, search and context over MCP, on standard input and output; read-only.

    Without --session and --folder: the transcripts that Claude Code, Codex and pi keep of the current project folder.
    With them exactly those. Nothing leaves the machine but what the client asks for.
    """
    if only_print and client is None:
        raise click.UsageError("--print belongs to --install.")
    for path in sessions:
        if not path.is_file():
            raise SessionError(path, "no file", hint="name a session file")
    for path in folders:
        if not path.is_dir():
            raise SessionError(path, "no folder", hint="name a folder of sessions")
    if client is not None:
        _install(client, _command(sessions, folders), only_print=only_print)
        return
    _serve(
        Scope(
            project=Path(os.environ.get("CLAUDE_PROJECT_DIR") or Path.cwd()),
            environ=os.environ,
            home=Path.home(),
            sessions=sessions,
            folders=folders,
        )
    )


def _command(sessions: tuple[Path, ...], folders: tuple[Path, ...]) -> list[str]:
    """What a client starts; ``-P`` keeps Python from importing what lies in the project folder."""
    named = [word for path in sessions for word in ("--session", str(path.absolute()))]
    named += [word for path in folders for word in ("--folder", str(path.absolute()))]
    return [sys.executable, "-P", "-m", "leafscar", "mcp", *named]


def _install(client: str, command: list[str], *, only_print: bool) -> None:
    change = plan(client, command, project=Path.cwd(), home=Path.home(), environ=os.environ)
    if only_print:
        say(f"# {change.path}", err=True)
        click.echo(change.added.rstrip("\n"))
    elif change.after == change.before:
        say(f"{change.path}: the server is there already")
    else:
        install(change)
        say(f"{change.path}: added leafscar, which runs {shlex.join(command)}")
        say("start the client again in this project; it may ask once whether to trust the server")
    if importlib.util.find_spec("mcp") is None:
        say(f"the server needs the MCP SDK: {sys.executable} -m pip install 'leafscar[mcp]'", err=True)


def _serve(scope: Scope) -> None:
    try:
        from leafscar.mcp.server import serve  # noqa: PLC0415 - needs the extra, and is heavy
    except ImportError as fault:
        words = "the MCP SDK is missing, or older than 2.3"
        raise LeafscarError(f"{words}; run: {sys.executable} -m pip install 'leafscar[mcp]'") from fault
    if _is_terminal():
        say("leafscar mcp waits for an MCP client on standard input; see leafscar mcp --install", err=True)
    serve(scope, __version__)


def _is_terminal() -> bool:
    return sys.stdin.isatty()
